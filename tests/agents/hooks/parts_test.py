#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests messages that are larger than the part of an answer that an agent shows its model: they are sent in numbered parts, and the model has each word
once, in order. The test cuts the text for the model in the same way as the agents."""
import json
import os
import re
import sys

from calls import HOSTS, call, log
from kit import DEADLINE_S, main
from stop_test import ROOMS
from wake_test import rewake

WORD = re.compile(r"\bword-\d+\b")


def shown(host, text, stop):
    """Cuts a text like the agents: Claude Code and Codex cut all answers, GitHub Copilot CLI those to tool results."""
    if host == "claude" and len(text.encode("utf-16-le")) // 2 > 10000:
        return f"<persisted-output>Output too large. Preview:\n{text[:2000]}\n</persisted-output>"
    if host == "codex" and len(text.encode()) > 10000:
        return f"{text[:5000]}…truncated output…{text[-5000:]}"
    if host == "copilot" and not stop and len(text) > 10240:
        return text[:10240]
    if host in ("gemini", "qwen") and not stop and len(text.replace("<", "&lt;")) > {"gemini": 32000, "qwen": 25000}[host]:
        return text[-8000:]
    return text


def said(answer):
    return (answer.get("hookSpecificOutput") or {}).get("additionalContext") or answer.get("reason") or ""


def message(count, between=" ", first=0):
    return between.join(f"word-{number}" for number in range(first, first + count))


def tool(place, host, session):
    return shown(host, said(call(place, host, HOSTS[host][1], session, tool_name="ls", tool_use_id="c", tool_input={}, tool_response="x")), False)


def ends(place, host, session):
    """Returns what the model reads at the ends of turns until it may stop."""
    texts = []
    while text := said(call(place, host, HOSTS[host][2], session)):
        texts.append(shown(host, text, True))
        assert len(texts) < 40, "it goes on for ever"
    return texts


def has_all(texts, count, host):
    words = WORD.findall("\n".join(texts))
    assert words == [f"word-{number}" for number in range(count)], (host, len(words), words[:3], words[-3:])


def test_submitted(place):
    """a message of 14,000 bytes comes in two parts in Claude Code and Codex, and whole in the others; one that fits has no number"""
    for host in HOSTS:
        call(place, host, HOSTS[host][0], host, prompt="hello")
        place.ok("submit", "-s", host, "--id", f"m-{host}", message(1500))
        place.ok("submit", "-s", host, "--id", f"n-{host}", "and then word-1500")
        texts = ends(place, host, host)
        has_all(texts, 1501, host)
        parts = [re.findall(r"^\(part (\d) of (\d) of one message(; the rest follows)?\)$", text, re.MULTILINE) for text in texts]
        assert parts == ([[("1", "2", "; the rest follows")], [("2", "2", "")], []] if host in ("claude", "codex") else [[], []]), (host, parts)
        assert place.ok("status", "-s", host, "--json").json["queued"] == []
    assert log(place) == []


def test_size_of_a_message(place):
    """a message of the size that the page states comes whole; one of 300 bytes more comes in parts, except in Gemini CLI"""
    for host, size in {"claude": 9300, "codex": 8900, "qwen": 29900, "copilot": 29900, "gemini": 200000}.items():
        call(place, host, HOSTS[host][0], host, prompt="hello")
        for number, more in enumerate((0, 300)):
            place.ok("submit", "-s", host, "--id", f"{host} {number}", "-", stdin="word " * ((size + more) // 5))
            texts = ends(place, host, host)
            assert [text.count("of one message") for text in texts] == ([1, 1] if more and host != "gemini" else [0]), (host, more, [len(text) for text in texts])


def test_steered(place):
    """a steered message of 30,000 bytes comes in parts with several tool results; the ends of turns bring the parts that are left"""
    for host in HOSTS:
        call(place, host, HOSTS[host][0], host, prompt="hello")
        place.ok("submit", "-s", host, "--steer", message(3000, "\n"))
        texts = [tool(place, host, host), tool(place, host, host)]
        assert all("of one message" in text for text in texts), (host, texts)
        parts = [re.search(r"^\(part.*^word-\d+$", text, re.MULTILINE | re.DOTALL)[0] for text in texts]
        assert all(ROOMS[host] / 2 - 500 < len(part.encode()) <= ROOMS[host] / 2 for part in parts), (host, [len(part) for part in parts])
        has_all(texts + ends(place, host, host), 3000, host)
    assert log(place) == []


def test_coalesced(place):
    """if several messages are one turn, as many of them go with each answer as fit"""
    path = os.path.join(place.work, "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"turns": {"discipline": "coalescing"}}, file)
    place.env["TIDINGS_CONFIG"] = path
    call(place, "claude", "UserPromptSubmit", prompt="hello")
    for number in range(4):
        place.ok("submit", "-s", "s", message(450 if number else 1500, first=1500 + 450 * (number - 1) if number else 0))
    texts = ends(place, "claude", "s")
    assert sorted(WORD.findall("\n".join(texts)), key=lambda word: int(word[5:])) == [f"word-{number}" for number in range(2850)], len(texts)
    assert len(texts) <= 4, len(texts)


def test_woken(place):
    """a message wakes an idle Claude Code with its first part; the second part is the reason to go on"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert call(place, "claude", "Stop") == {}
    waiter = rewake(place)
    place.ok("submit", "-s", "s", message(1500))
    assert waiter.wait(DEADLINE_S) == 2
    texts = [shown("claude", said(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode())), False)]
    has_all(texts + ends(place, "claude", "s"), 1500, "claude")
    assert log(place) == []


def test_without_blanks(place):
    """a text without blanks is cut between two characters; a long id and many characters of several bytes do no harm"""
    text = "€" * 9000
    call(place, "claude", "UserPromptSubmit", prompt="hello")
    place.ok("submit", "-s", "s", "--id", "m" * 255, text)
    texts = ends(place, "claude", "s")
    assert "".join(re.findall("€+", "".join(texts))) == text and len(texts) == 3, [len(one) for one in texts]
    assert "\ufffd" not in "".join(texts)


def test_begun_anew(place):
    """parts that an earlier call has submitted before it ended are not submitted again"""
    call(place, "codex", "UserPromptSubmit", prompt="hello")
    place.ok("submit", "-s", "s", "--id", "m1", message(1500))
    first = shown("codex", said(call(place, "codex", "Stop")), True)
    [queued] = [entry for entry in place.ok("queue", "-s", "s", "--json").json["messages"] if entry["state"] == "queued"]
    with type(place)() as own:
        call(own, "codex", "UserPromptSubmit", prompt="hello")
        own.ok("submit", "-s", "s", "--id", "m1", message(1500))
        own.ok("submit", "-s", "s", "--id", queued["id"], queued["content"])
        texts = ends(own, "codex", "s")
        assert texts[0].split("\n\n[tidings")[0] == first.split("\n\n[tidings")[0]
        has_all(texts, 1500, "codex")


if __name__ == "__main__":
    sys.exit(main(globals()))
