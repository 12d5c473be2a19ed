# SPDX-License-Identifier: MIT
"""transcripts.py: checks that the model was sent the blocks of JSON on a page of docs/hosts/ in this run. A block is a part of a request: an object must have the shown
members, a list the shown neighbours, and a text the part before "…". It knows no agent."""
import json
import os
import pathlib
import re

CHANGING = (r"\b(unit-tests-)[0-9a-f]{6}\b", r"\b(call_)\d+\b", r"\b(PGID: )\d+\b", r"(\[tidings )[0-9a-z-]+")  # parts that differ in each run


PAGES = {"Codex CLI": "codex", "Claude Code": "claude", "Gemini CLI": "gemini", "Qwen Code": "qwen", "GitHub Copilot CLI": "copilot", "opencode": "opencode", "pi": "pi", "Kilo": "kilo"}


def shown(host):
    """Returns the blocks of JSON on the host's page."""
    text = pathlib.Path(os.environ["TIDINGS_SOURCE_DIR"], "docs", "hosts", f"{PAGES[host]}.md").read_text(encoding="utf-8")
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def plain(text):
    for pattern in CHANGING:
        text = re.sub(pattern, r"\1N", text)
    return text


def fits(pattern, value):
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(name in value and fits(member, value[name]) for name, member in pattern.items())
    if isinstance(pattern, list):
        return isinstance(value, list) and any(all(map(fits, pattern, value[start:])) for start in range(len(value) - len(pattern) + 1))
    if isinstance(pattern, str) and isinstance(value, str):
        return re.fullmatch(".*?".join(map(re.escape, plain(pattern).split("…"))), plain(value), re.DOTALL) is not None
    return pattern == value


def inside(pattern, value):
    """Does the value, or a part of it, fit?"""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return fits(pattern, value) or any(inside(pattern, member) for member in below)


def check(host, requests):
    blocks = shown(host)
    assert blocks, f"docs/hosts/{PAGES[host]}.md shows no request"
    for block in blocks:
        last = json.dumps(requests[-1]["body"], ensure_ascii=False)[-3000:] if requests else "nothing"
        assert any(inside(block, request["body"]) for request in requests), f"no request has {json.dumps(block, ensure_ascii=False)[:600]}; the last one: {last}"
