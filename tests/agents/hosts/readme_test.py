#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readme_test.py: plays a newcomer who reads only the README: it types the commands of the section "In your agent" into terminals, exactly as they stand there.
A scripted model answers opencode. Only downloads and builds are replaced: opencode is the pinned one, and ./dev install installs this build. Prints TAP."""
import os
import pathlib
import re
import sys

import opencode_test
from model.server import ModelServer
from node_hosts import FULL, Place, Tap, until
from node_scenarios import TITLE, exactly_once, never
from terminal import Terminal

PROMPT = "newcomer> "
FETCHING = {"npm install -g opencode-ai", "./dev install"}


def walk():
    """Returns the commands of the README's section: a list for each block."""
    text = pathlib.Path(os.environ["TIDINGS_SOURCE_DIR"], "README.md").read_text()
    section = re.search(r"^## In your agent\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    return [block.strip().splitlines() for block in re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)]


class Newcomer:
    def __init__(self, place, model):
        self.place, self.model = place, model
        opencode_test.configure(place, model)
        del place.env["XDG_STATE_HOME"]
        self.terminals = [Terminal(f"{place.root.name}-{number}", ["bash", "--norc"], place.project, place.env | {"PS1": PROMPT}) for number in (1, 2)]
        for terminal in self.terminals:
            terminal.shows(PROMPT.strip())

    def types(self, terminal, line):
        """Types a command, and waits for the shell's next prompt."""
        before = terminal.ask("capture-pane", "-p", "-S", "-").count(PROMPT.strip())
        terminal.type(line)
        until(lambda: terminal.ask("capture-pane", "-p", "-S", "-").count(PROMPT.strip()) > before, lambda: f"{line} has ended: {terminal.screen()}")

    def request(self, count):
        """Waits for `count` requests that offer tools, and returns the last of these."""
        def there():
            return [request for request in self.model.requests if request["tools"]]
        return until(lambda: len(there()) >= count and there()[count - 1], lambda: f"{count} requests: {self.terminals[0].screen()}")

    def close(self):
        for terminal in self.terminals:
            terminal.close()


def installed(newcomer):
    """install and `tidings setup opencode` work as they stand in the README, and show what they change"""
    first, _, _ = walk()
    assert FETCHING < set(first), first
    for line in first:
        if line not in FETCHING:
            newcomer.types(newcomer.terminals[0], line)
    newcomer.terminals[0].shows("opencode is set up.")
    newcomer.terminals[0].shows("+export default async")


def told(newcomer):
    """after `tidings run -- false` the agent's next request says that it failed"""
    _, start, news = walk()
    assert start == ["opencode"] and news[-1] == "tidings run -- false", (start, news)
    agent, shell = newcomer.terminals
    newcomer.model.replace([TITLE, {"prompt": "Good day.", "answers": [[{"text": "The same to you."}]]}, {"prompt": "What is new?", "answers": [[{"text": "A failure."}]]}])
    agent.type(*start)
    agent.shows("Ask anything")
    agent.type("Good day.")
    agent.shows("The same to you.")
    for line in news:
        newcomer.types(shell, line)
    agent.type("What is new?")
    agent.shows("A failure.")
    never(newcomer.request(1), "failed with exit code")
    exactly_once(newcomer.request(2), "failed with exit code 1 after")
    assert re.search(r"\*\*Error:\*\*\n- Command `false` \(handle `false-[0-9a-f]{6}`\) failed with exit code 1 after \d+\.\d s\. Log: \S+\n  It printed nothing\.\n", newcomer.request(2)["text"]), newcomer.request(2)["items"][-1]


def woken_in_its_terminal(newcomer):
    """a critical notification wakes opencode while it idles in its terminal, and so does a message"""
    agent, shell = newcomer.terminals
    newcomer.model.replace([TITLE, {"prompt": "Critical notification", "answers": [[{"text": "I make room."}]]},
                            {"prompt": "Clean up.", "answers": [[{"text": "It is clean."}]]}])
    newcomer.types(shell, "tidings push -l critical -k disk.full 'The disk is full.'")
    exactly_once(newcomer.request(3), "The disk is full.")
    agent.shows("I make room.")
    newcomer.types(shell, "tidings submit 'Clean up.'")
    exactly_once(newcomer.request(4), "Clean up.")
    agent.shows("It is clean.")


def main():
    tap = Tap()
    with Place("home/.local") as place, ModelServer([]) as model:
        newcomer = Newcomer(place, model)
        try:
            for scenario in (installed, told, woken_in_its_terminal) if FULL else (installed,):
                tap.run(scenario, newcomer)
        finally:
            newcomer.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
