#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tool calls of a Claude Code session whose transcript is in another format, is missing, grows, is late, or was cut. TIDINGS_CALLS is how many there are (1000; 100 with
a sanitizer). The agent drops some answers: its model does not get them."""
import datetime
import json
import os
import random
import re
import sys

from calls import log, transcript
from callers_test import counted, hook
from kit import main
from proof_test import line, said

CALLS = int(os.environ.get("TIDINGS_CALLS", "100" if os.environ.get("TIDINGS_SANITIZE") else "1000"))
MARKED = re.compile(r"\[tidings ")


def now():
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(milliseconds=2)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Session:
    """A session of Claude Code: what its model got, and the file that it writes."""

    def __init__(self, place, kind, chance):
        self.place, self.kind, self.chance = place, kind, chance
        self.path, self.got, self.lines, self.unwritten = transcript(place, "claude"), [], [], []

    def call(self, event, dropped=False, **fields):
        text = said(hook(self.place, json.dumps({"session_id": "s", "hook_event_name": event, "cwd": self.place.work, "transcript_path": self.path, **fields})))
        if event == "PostToolUse":
            self.record({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": fields["tool_use_id"]}]}})
        if text and not dropped:
            self.got += re.findall(r"News number (\d+)\.", text)
            self.record(line("claude", event, text))
        self.record({"type": "assistant"})

    def record(self, entry):
        text = json.dumps({**entry, "timestamp": now()}, separators=(",", ":"))
        if self.kind == "foreign":
            text = json.dumps({"type": "tool.execution_complete", "data": {"result": MARKED.sub("[other ", text)}})
        self.unwritten.append(text)

    def write(self, to_the_end=False):
        """What of the conversation is in the file by now."""
        if self.kind == "missing":
            return
        late = self.kind == "late" and not to_the_end
        count = self.chance.randrange(len(self.unwritten) + 1) if late else len(self.unwritten)
        self.lines += self.unwritten[:count]
        del self.unwritten[:count]
        text = "".join(entry + "\n" for entry in self.lines)
        if self.kind == "truncated" and self.lines and not to_the_end:
            text = text[:-self.chance.randrange(1, len(self.lines[-1]) + 2)]  # the rest of the last line comes later
            if len(self.lines) > 100:
                self.lines = self.lines[-1:]  # what was before it is gone
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)


def play(place, kind):
    chance = random.Random(11)
    session, count = Session(place, kind, chance), 0
    session.call("SessionStart", source="startup")
    session.call("UserPromptSubmit", prompt="x")
    for number in range(CALLS // 5):
        session.write()
        if chance.random() < 0.5:
            count += 1
            place.ok("push", "-s", "s", f"News number {count}.")
        if number % 17 == 16:
            session.call("Stop")
            session.write()
            session.call("UserPromptSubmit", prompt="x")
        # Where the transcript cannot say so, tidings cannot know that an answer was dropped.
        dropped = kind in ("growing", "late") and chance.random() < 0.1
        session.call("PostToolUse", dropped, tool_name="Bash", tool_use_id=f"c{number}", tool_input={}, tool_response="x")
    for number in range(2):
        session.write(to_the_end=True)
        session.call("PostToolUse", tool_name="Bash", tool_use_id=f"last{number}", tool_input={}, tool_response="x")
    session.write(to_the_end=True)
    session.call("PostToolUse", tool_name="Bash", tool_use_id="end", tool_input={}, tool_response="x")
    return session, count


def check(place, kind):
    session, count = play(place, kind)
    assert count > CALLS // 20 and sorted(map(int, session.got)) == list(range(1, count + 1)), (kind, count, session.got)
    shown = re.findall(r"News number (\d+)\.", "\n".join(counted(place)))
    assert set(shown) <= set(session.got) and len(set(shown)) == len(shown), (kind, shown, session.got)
    assert place.messages() == [] and log(place) == [], (place.messages(), log(place))


def test_foreign(place):
    """a transcript in another format: nothing is shown twice, and nothing counts that the model did not get"""
    check(place, "foreign")


def test_missing(place):
    """no transcript: the same"""
    check(place, "missing")


def test_growing(place):
    """a transcript that is complete at each call, and an agent that drops answers: each notification reaches the model once"""
    check(place, "growing")


def test_late(place):
    """a transcript that is written later, in order, and an agent that drops answers: the same"""
    check(place, "late")


def test_truncated(place):
    """a transcript whose last line is not whole, and whose beginning goes again and again: nothing is shown twice"""
    check(place, "truncated")


if __name__ == "__main__":
    sys.exit(main(globals()))
