#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""everyday_test.py: checks that the real plugin's texts for the model in twelve everyday situations are those of golden/ and
docs/what-the-model-reads.md. Prints TAP. `everyday_test.py --write` writes both again; `--tokens` prints a table; for another build, use
TIDINGS_PLUGIN and `--before`."""
import os
import re
import sys
import tempfile

import situations

SOURCE = os.environ.get("TIDINGS_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("TIDINGS_BUILD_DIR", os.path.join(SOURCE, "build", "dev"))
PLUGIN = os.environ.get("TIDINGS_PLUGIN", os.path.join(BUILD, "tidings.so"))
HOSTKIT = os.path.join(BUILD, "libtidings-hostkit.so.1")
sys.path.insert(0, os.path.join(SOURCE, "bindings", "python"))
from tidings import Tidings  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
PAGE = os.path.join(SOURCE, "docs", "what-the-model-reads.md")
PRESETS = ("plain", "grouped", "balanced")
CARRIER = "The tool's result."
TITLE = "While you worked (not from the user):\n"  # the page has it only once
NONCE = re.compile(r"^--- [0-9a-f]{16}$", re.MULTILINE)


def blocks(make, preset, before):
    """Returns the texts that are added to one result after the other, until no notification waits. A single process makes all pushes, so that
    reports fall into one window."""
    configuration = {"delivery": {"preset": preset}}
    with (tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as home,
          Tidings.open(library=HOSTKIT, plugin=PLUGIN, store=os.path.join(home, "store"), configuration=configuration, probe=False) as kit):
        for event in make(before):
            kit.event(session="s", **event)
        made = []
        while True:
            delivery = kit.tool_result("s", CARRIER, call_id="c")
            text = "".join(part.text for part in delivery.outgoing)
            if text == CARRIER:
                return made
            kit.settle(delivery.id, committed=True)
            made.append(NONCE.sub("--- 5f1d3c2b9a8e7061", text.replace(CARRIER, "", 1).strip("\n")))


def tokens(texts):
    return sum((len(text.encode()) + 3) // 4 for text in texts)


def all_blocks(before=False):
    return {(name, preset): blocks(make, preset, before) for name, _, _, make, _ in situations.SITUATIONS for preset in PRESETS}


def golden_text(texts):
    return "\n\n(the next result)\n\n".join(texts) + "\n"


def page_parts(made):
    """Returns the generated parts of the page: the table, and each situation."""
    table = "| situation | " + " | ".join(f"`{preset}`" for preset in PRESETS) + " |\n|---|" + "---|" * len(PRESETS) + "\n"
    parts = ""
    for name, title, happened, _, then in situations.SITUATIONS:
        costs = " | ".join(str(tokens(made[name, preset])) for preset in PRESETS)
        table += f"| [{title}](#{title.lower().replace(' ', '-')}) | {costs} |\n"
        parts += f"## {title}\n\n{happened}\n\n````text\n{golden_text(made[name, 'plain']).replace(TITLE, '')}````\n\nThen: {then}\n\n"
    sums = " | ".join(str(sum(tokens(made[name, preset]) for name, *_ in situations.SITUATIONS)) for preset in PRESETS)
    return table + f"| in sum | {sums} |\n", parts.rstrip("\n") + "\n"


def page_with(made):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.md"), encoding="utf-8") as file:
        table, parts = page_parts(made)
        return file.read().replace("@TABLE@\n", table).replace("@SITUATIONS@\n", parts)


def compare(path, text, write):
    if write:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        return file.read() == text


def main():
    made = all_blocks("--before" in sys.argv)
    if "--tokens" in sys.argv:
        print(page_parts(made)[0], end="")
        return 0
    checks = [(os.path.join(GOLDEN, f"{name}.{preset}.txt"), golden_text(texts)) for (name, preset), texts in made.items()] + [(PAGE, page_with(made))]
    print(f"1..{len(checks)}")
    failed = 0
    for number, (path, text) in enumerate(checks, 1):
        same = compare(path, text, "--write" in sys.argv)
        failed += not same
        if not same:
            print("".join(f"# {line}\n" for line in text.splitlines()), end="")
        print(f"{'ok' if same else 'not ok'} {number} - {os.path.relpath(path, SOURCE)}")
    return failed > 0


sys.exit(main())
