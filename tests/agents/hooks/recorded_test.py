#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeats the hook calls that the real agents made in tests/agents/hosts, so that machines without an agent test its dialect too. recorded/HOST.jsonl has the calls of the pinned version,
recorded/HOST-VERSION.jsonl those of another one, one call a line. record_calls.py there records them. Each recording is three runs of one session: two tools; a tool that fails; an edit of own.txt and a tool."""
import json
import os
import re
import sys

from calls import changed
from kit import main

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
MOST_LINES = 300  # for each agent with hooks
EDITORS = {"Write", "write_file", "apply_patch"}


def files_of(host):
    """Returns the names of the recordings; the tested version's comes first."""
    return sorted(name for name in os.listdir(os.path.join(HERE, "recorded")) if name.startswith((f"{host}.", f"{host}-")))


def recorded(place, host, name):
    with open(os.path.join(HERE, "recorded", name), encoding="utf-8") as file:
        for line in file:
            yield line.replace("{work}", place.work).replace("{place}", place.dir).replace("{session}", f"session-of-{host}")


def said(answer):
    """Returns the text for the model: context, or the reason to go on."""
    text = (answer.get("hookSpecificOutput") or answer).get("additionalContext") or answer.get("reason") or ""
    return re.sub(r"\n\n\[tidings [0-9a-z-]+\]$", "", text)


class Run:
    """Makes the calls one after the other. Before each call it pushes a different notification, so that the test sees which answer has it and how
    often."""

    def __init__(self, place, host):
        self.place, self.host, self.session = place, host, f"session-of-{host}"
        self.told, self.carriers, self.count = [], [], 0

    def call(self, text):
        return self.place.ok("hook", "--budget", "60s", "--owner", str(os.getpid()), self.host, stdin=text).json

    def news(self):
        self.count += 1
        self.place.ok("push", "-s", self.session, f"News number {self.count}.")

    def carrier(self, name, text, fields):
        self.news()
        answer = said(self.call(text))
        assert f"News number {self.count}." in answer, (self.host, fields, answer)
        self.told.append(answer)
        self.carriers.append(name)
        if fields.get("tool_name") in EDITORS:
            for path in ("own.txt", "other.txt"):
                changed(self.place, path, self.session)

    def stop(self, text):
        path = json.loads(text)["transcript_path"]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:  # the transcript after the model's answer
            file.write('{"id":"1","timestamp":"t","type":"gemini","content":"Well."}\n')
        self.count += 1
        self.place.ok("submit", "-s", self.session, f"Message number {self.count}.")
        self.told.append(said(self.call(text)))
        assert self.told[-1] == f"Message number {self.count}.", (self.host, self.told[-1])
        assert self.call(text) == {}
        assert self.place.ok("status", "-s", self.session, "--json").json["state"] == "idle"

    def all(self, name):
        for text in recorded(self.place, self.host, name):
            fields = json.loads(text)
            name = fields["hook_event_name"]
            if name == "SessionStart":
                assert said(self.call(text)).count("While you worked") == (self.host != "gemini"), (self.host, fields)
            elif name == "SessionEnd" or (self.host == "qwen" and fields.get("prompt") == ""):
                assert self.call(text) == {}, (self.host, fields)
            elif name in ("Stop", "AfterAgent"):
                self.stop(text)
            else:
                self.carrier(name, text, fields)


def replay(place, host, tool, failure):
    for name in files_of(host):
        with type(place)() as own:
            replay_one(own, host, name, tool, failure)


def replay_one(place, host, file, tool, failure):
    run = Run(place, host)
    run.all(file)
    assert sum(name in (tool, failure) for name in run.carriers) == 5 and failure in run.carriers, run.carriers
    everything = "\n".join(run.told)
    for number in range(1, run.count + 1):
        assert everything.count(f" number {number}.") == 1, (number, everything)
    assert everything.count("`other.txt` was modified externally.") == 1 and "own.txt" not in everything, everything
    assert not os.path.exists(os.path.join(place.logs, "hook.log")), "a call has failed"


def test_codex(place):
    """Codex: notifications come once, with prompts, results and failures; its own edit causes none; at a stop it goes on with the queued message"""
    replay(place, "codex", "PostToolUse", "PostToolUse")


def test_claude(place):
    """Claude Code: the same"""
    replay(place, "claude", "PostToolUse", "PostToolUseFailure")


def test_gemini(place):
    """Gemini CLI: the same"""
    replay(place, "gemini", "AfterTool", "AfterTool")


def test_qwen(place):
    """Qwen Code: the same, but nothing comes with the empty prompts after its results"""
    replay(place, "qwen", "PostToolUse", "PostToolUseFailure")


def test_copilot(place):
    """GitHub Copilot CLI: the same, but a command that fails does not count as a failed tool"""
    replay(place, "copilot", "PostToolUse", "PostToolUse")


def test_every_agent(place):
    """there are recorded calls of each agent that calls hooks, and of each program that calls the hooks of another one"""
    names = re.split(r", | or ", place.run("hook", "nothost").said.split("is not one of ")[1].strip())
    files = sorted(name for name in os.listdir(os.path.join(HERE, "recorded")) if not re.search(r"-[0-9.]+\.jsonl$", name))
    assert files == sorted(f"{name}.jsonl" for name in [*names, "cursor", "vscode"]), (names, files)


def lines_of(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def test_cost(place):
    """an agent with hooks costs at most 300 lines: its row, its recorded calls, its page, and its class in the tests with the real agents"""
    classes = lines_of("tests", "agents", "hosts", "hook_hosts.py")
    for name in re.split(r", | or ", place.run("hook", "nothost").said.split("is not one of ")[1].strip()):
        own = re.search(rf"^class {name.title()}\(.*?(?=^\S)", classes, re.MULTILINE | re.DOTALL)[0]
        parts = [lines_of("agents", "hosts", f"{name}.c"), lines_of("tests", "agents", "hooks", "recorded", f"{name}.jsonl"), lines_of("docs", "hosts", f"{name}.md"), own]
        count = [part.count("\n") for part in parts]
        print(f"# {name}: {sum(count)} lines: row, calls, page, class: {count}")
        assert sum(count) <= MOST_LINES, (name, count)


if __name__ == "__main__":
    sys.exit(main(globals()))
