#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests tool calls of a session whose transcript is in another format, is missing, grows, is late, or was cut, for every agent that has one. TIDINGS_CALLS is the number of
calls of each agent (50; 1000 in `./dev test deep`), a fifth of them of each kind. The agent drops some answers, which its model does not get."""
import datetime
import json
import os
import random
import re
import sys

from calls import log, transcript
from callers_test import counted
from kit import main
from proof_test import EVENTS, line, said

CALLS = int(os.environ.get("TIDINGS_CALLS", "50"))
KINDS = ("foreign", "missing", "growing", "late", "truncated")
MARKED = re.compile(r"\[tidings ")
NEWS = re.compile(r"News number (\d+)\.")


def now(later_ms=2):
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(milliseconds=later_ms)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def result(host, call):
    """Returns the record that the agent writes when a tool has run."""
    return {"claude": {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": call, "content": "x"}]}},
            "codex": {"type": "response_item", "payload": {"type": "function_call_output", "call_id": call, "output": "x"}},
            "gemini": {"id": call, "type": "user", "content": [{"functionResponse": {"id": call, "response": {"output": "x"}}}]},
            "qwen": {"uuid": call, "type": "tool_result", "message": {"parts": [{"functionResponse": {"id": call, "response": {"output": "x"}}}]}},
            "copilot": {"type": "tool.execution_complete", "data": {"toolCallId": call, "result": {"content": "x"}}}}[host]


ANSWERS = {"claude": {"type": "assistant"}, "codex": {"type": "response_item", "payload": {"type": "message", "role": "assistant"}}, "gemini": {"id": "g", "type": "gemini", "content": "Well."},
           "qwen": {"uuid": "q", "type": "assistant"}, "copilot": {"type": "assistant.message"}}


class Session:
    """A session of an agent, with the texts that its model got, and its transcript."""

    def __init__(self, place, host, kind, chance):
        self.place, self.host, self.kind, self.chance = place, host, kind, chance
        self.path, self.got, self.lines, self.unwritten = transcript(place, host), [], [], []
        if host == "copilot":  # it names its transcript only at the end of a turn
            place.env["COPILOT_HOME"] = place.dir

    def call(self, event, dropped=False, **fields):
        named = {} if self.host == "copilot" and event != "Stop" else {"transcript_path": self.path}
        call = {"session_id": "s", "hook_event_name": event, "cwd": self.place.work, "timestamp": now(0), **named, **fields}
        done = self.place.ok("hook", "--budget", "60s", "--owner", str(os.getpid()), self.host, stdin=json.dumps(call))
        assert not done.err, done
        text = said(done.json)
        if "tool_use_id" in fields:
            self.record(result(self.host, fields["tool_use_id"]))
        if text and not dropped:
            self.got += NEWS.findall(text)
            self.record(line(self.host, event, text))
        self.record(ANSWERS[self.host])

    def record(self, entry):
        text = json.dumps({**entry, "timestamp": now()}, separators=(",", ":"))
        if self.kind == "foreign":
            text = json.dumps({"type": "another.record", "data": {"result": MARKED.sub("[other ", text)}})
        self.unwritten.append(text)

    def write(self, to_the_end=False):
        """Writes the transcript as it is at this moment."""
        if self.kind == "missing":
            return
        late = self.kind == "late" and not to_the_end
        count = self.chance.randrange(len(self.unwritten) + 1) if late else len(self.unwritten)
        self.lines += self.unwritten[:count]
        del self.unwritten[:count]
        text = "".join(entry + "\n" for entry in self.lines)
        if self.kind == "truncated" and self.lines and not to_the_end:
            text = text[:-self.chance.randrange(1, len(self.lines[-1]) + 2)]  # the rest of the last line comes later
            if len(self.lines) > 30:
                self.lines = self.lines[-1:]  # the earlier lines are gone
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def tool(self, call, dropped=False):
        self.call(EVENTS[self.host][1], dropped, tool_name="Bash", tool_use_id=call, tool_call_id=call, tool_input={}, tool_response="x")

    def turn_ends(self, to_the_end=False):
        """Ends the turn and begins the next one."""
        self.call(EVENTS[self.host][2])
        self.write(to_the_end)
        self.call(EVENTS[self.host][0], prompt="x")
        self.write(to_the_end)


def play(place, host, kind):
    chance = random.Random(f"{host} {kind}")
    session, count = Session(place, host, kind, chance), 0
    session.call("SessionStart", source="startup")
    session.call(EVENTS[host][0], prompt="x")
    for number in range(CALLS // len(KINDS)):
        session.write()
        if chance.random() < 0.5:
            count += 1
            place.ok("push", "-s", "s", f"News number {count}.")
        if number % 7 == 6:
            session.turn_ends()
        # If the transcript cannot show it, tidings cannot know that an answer was dropped.
        session.tool(f"c{number}", kind in ("growing", "late") and chance.random() < 0.1)
    for number in range(2):
        session.write(to_the_end=True)
        session.turn_ends(to_the_end=True)
        session.tool(f"last{number}")
    session.write(to_the_end=True)
    session.tool("end")
    return session, count


def check(host, kind, place):
    session, count = play(place, host, kind)
    assert count > CALLS // 50 and sorted(map(int, session.got)) == list(range(1, count + 1)), (host, kind, count, session.got)
    shown = NEWS.findall("\n".join(counted(place)))
    assert set(shown) <= set(session.got) and len(set(shown)) == len(shown), (host, kind, shown, session.got)
    assert place.messages() == [] and log(place) == [], (host, kind, place.messages(), log(place))


def of_every_agent(place, kind):
    for host in EVENTS:
        with type(place)() as own:
            check(host, kind, own)


def test_foreign(place):
    """with a transcript in another format nothing is shown twice, and nothing counts as delivered that the model did not get"""
    of_every_agent(place, "foreign")


def test_missing(place):
    """the same without a transcript"""
    of_every_agent(place, "missing")


def test_growing(place):
    """with a transcript that is complete at each call, and an agent that drops answers, each notification reaches the model once"""
    of_every_agent(place, "growing")


def test_late(place):
    """the same with a transcript that is written later, in order"""
    of_every_agent(place, "late")


def test_truncated(place):
    """with a transcript whose last line is incomplete, and whose beginning disappears repeatedly, nothing is shown twice"""
    of_every_agent(place, "truncated")


if __name__ == "__main__":
    sys.exit(main(globals()))
