#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that notifications which a person takes back together with their prompt are shown again: with hook calls beside transcripts in the agents' formats (tests/agents/hosts
has the agents themselves)."""
import json
import os
import sys

from kit import main
from proof_test import MARKER, Agent, deliveries, told

SESSION, SECOND, THIRD = ("01a204f8-30d8-7813-9fa3-87d627a0a6e0", "01a204f8-35a6-7681-9784-c13c367ae72d", "01a204f8-37ef-7cf0-a432-7071bb7886c6")

LARGE = 400 << 10  # bytes; more than the hook reads at first
TOO_LONG = 9 << 20  # more than the hook reads at most


class Writer(Agent):
    """An agent whose transcript is written record by record."""

    def __init__(self, place, host):
        super().__init__(place, host)
        self.count = 0
        if host == "codex":
            self.path = self.file(f"{SESSION}")
            os.makedirs(os.path.dirname(self.path))
        self.call("SessionStart", source="startup")
        open(self.path, "w", encoding="utf-8").close()

    def file(self, end, day="22"):
        return os.path.join(self.place.dir, "sessions", "2026", "11", day, f"rollout-2026-11-{day}T20-35-04-{end}.jsonl")

    def record(self, **fields):
        self.append(json.dumps(fields, separators=(",", ":")) + "\n")

    def works(self, size):
        """Writes tool results of so many bytes."""
        for _ in range(size // 1000):
            self.record(type="x", text="x" * 980)

    def prompts(self, words, parent="", tool=False, size=0):
        """Makes a prompt of the person, and its answer after so many bytes. Returns the answer of the prompt's hook, or of the hook of a tool's
        result."""
        self.count += 1
        said = self.prompt()
        if self.host == "claude":
            self.record(parentUuid=parent or f"p{self.count - 1}", type="user", message={"role": "user", "content": words}, uuid=f"u{self.count}", origin={"kind": "human"})
            if said:
                self.record(parentUuid=f"u{self.count}", attachment={"type": "hook_additional_context", "content": [said]}, type="attachment", uuid=f"a{self.count}")
            self.record(parentUuid=f"a{self.count}", type="assistant", uuid=f"p{self.count}")
        elif self.host == "qwen":
            self.record(uuid=f"u{self.count}", parentUuid=parent or f"p{self.count - 1}", type="user", message={"parts": [{"text": words}, {"text": f"<c>\n{said}\n</c>"}]})
            self.record(uuid=f"p{self.count}", parentUuid=f"u{self.count}", type="assistant")
        elif self.host == "gemini":
            self.record(**self.message(words, said))
            self.record(id=f"g{self.count}", timestamp="t", type="gemini", content="Well.")
        else:
            self.record(ordinal=self.count, type="response_item", payload={"content": [{"type": "input_text", "text": words}]})
            if said:
                self.record(ordinal=self.count, type="response_item", payload={"content": [{"type": "input_text", "text": said}]})
        self.works(size)
        if tool:
            said += self.tool()
        assert self.stop() == ""
        return MARKER.sub("", said)

    def message(self, words, said, number=0):
        return {"id": f"u{number or self.count}", "timestamp": "t", "type": "user", "content": [{"text": words}, {"text": f"<hook_context>{said}</hook_context>"}]}

    def goes_on_in(self, end, base, day="22"):
        size = os.path.getsize(self.path) if isinstance(base, str) else base[1]
        self.path = self.file(end, day)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        name = base if isinstance(base, str) else base[0]
        self.record(ordinal=1, type="session_meta", payload={"history_base": {"thread_id": name, "end_ordinal_exclusive": 1, "end_byte_offset": size}})


def push(place, words):
    place.ok("push", "-s", "s", words)


def outcomes(place):
    return [outcome for outcome, _ in deliveries(place)]


def begin(place, host, size=0):
    """Makes two prompts with a notification and `size` bytes each. Returns the agent and the offset in its transcript at which the second prompt begins."""
    agent = Writer(place, host)
    push(place, "First thing.")
    assert "First thing." in agent.prompts("one", size=size)
    from_second = os.path.getsize(agent.path)
    push(place, "Second thing.")
    said = agent.prompts("two", size=size)
    assert "Second thing." in said and "First thing." not in said and outcomes(place) == ["committed", "committed"], (said, deliveries(place))
    return agent, from_second


def shown_again(place, agent, said):
    assert "Second thing." in said and "First thing." not in said, said
    assert outcomes(place) == ["committed", "rewound", "committed"], deliveries(place)
    assert agent.prompts("four") == "" and outcomes(place) == ["committed", "rewound", "committed"], "once"


def test_codex(place):
    """Codex continues in another file, which says how much of the earlier one stays; then once more, on another day"""
    agent, size = begin(place, "codex")
    agent.goes_on_in(f"{SESSION}_{SECOND}", (SESSION, size))
    shown_again(place, agent, agent.prompts("three"))
    size = os.path.getsize(agent.path)
    push(place, "Fifth thing.")
    assert "Fifth thing." in agent.prompts("five")
    agent.goes_on_in(f"{SESSION}_{THIRD}", (SECOND, size), "23")
    said = agent.prompts("six")
    assert "Fifth thing." in said and "First thing." not in said and "Second thing." not in said, said
    agent.goes_on_in(f"{SESSION}_{SECOND.replace('7681', '7999')}", (SESSION, 0), "24")  # back to the first state
    said = agent.prompts("seven")
    assert all(f"{word} thing." in said for word in ("First", "Second", "Fifth")), said
    assert agent.prompts("eight") == ""


def test_codex_resumed(place):
    """a file that continues from a whole file, or from a missing one, takes nothing back"""
    agent, _ = begin(place, "codex")
    agent.goes_on_in(f"{SESSION}_{SECOND}", SESSION)
    assert agent.prompts("three") == "" and outcomes(place) == ["committed"] * 2
    with type(place)() as own:
        agent, _ = begin(own, "codex")
        agent.goes_on_in(f"{THIRD}_{SECOND}", ("none", 0))
        assert agent.prompts("three") == "" and outcomes(own) == ["committed"] * 2


def test_codex_too_long(place):
    """a file that is too long to be read hides the files before it, so their notifications are not taken back; nor are they if that file is missing"""
    agent, _ = begin(place, "codex")
    agent.goes_on_in(f"{SESSION}_{SECOND}", SESSION)
    push(place, "Third thing.")
    assert "Third thing." in agent.prompts("three", size=TOO_LONG)
    second = agent.path
    agent.goes_on_in(f"{SESSION}_{THIRD}", SECOND)
    assert agent.prompts("four") == "" and outcomes(place) == ["committed"] * 3
    os.remove(second)
    assert agent.prompts("five") == "" and outcomes(place) == ["committed"] * 3


def test_claude(place):
    """Claude Code calls the hook of the next prompt before it writes that prompt beside the one that was taken back: the notification comes again with the prompt after it"""
    agent, _ = begin(place, "claude")
    assert agent.prompts("three", parent="p1", tool=True) == "" and outcomes(place) == ["committed", "rewound"]
    shown_again(place, agent, agent.prompts("five"))


def test_claude_queue(place):
    """in Claude Code the notification can also come with the queued message that is the next turn"""
    agent, _ = begin(place, "claude")
    place.ok("submit", "-s", "s", "Queued thing.")
    agent.prompt()
    agent.record(parentUuid="p1", type="user", message={"role": "user", "content": "three"}, uuid="u3", origin={"kind": "human"})
    said = agent.stop()
    assert "Queued thing." in said and "Second thing." in said and "First thing." not in said, said


def test_claude_goes_on(place):
    """records with the same parent that are no prompts take nothing back, nor does a quoted prompt"""
    agent, _ = begin(place, "claude")
    for parent in ("u2", "u2", "p1"):
        agent.record(parentUuid=parent, type="user", message={"content": [{"type": "tool_result"}]}, uuid="r")
    agent.record(parentUuid="p2", type="user", message={"content": json.dumps({"parentUuid": "p1", "origin": {"kind": "human"}}, separators=(",", ":"))}, uuid="r")
    assert agent.prompts("three", tool=True) == "" and outcomes(place) == ["committed"] * 2


def test_gemini(place):
    """Gemini CLI writes the messages that are left into its transcript"""
    agent, _ = begin(place, "gemini")
    agent.record(**{"$rewindTo": "u2"})
    with open(agent.path, encoding="utf-8") as file:
        remaining = [json.loads(line) for line in file][:2]
    agent.record(**{"$set": {"messages": remaining}})
    shown_again(place, agent, agent.prompts("three"))


def test_gemini_stopped(place):
    """if a person stops a turn, Gemini CLI writes only the messages before it, so the notifications of that turn come again"""
    agent, _ = begin(place, "gemini")
    with open(agent.path, encoding="utf-8") as file:
        remaining = [json.loads(line) for line in file]
    push(place, "Third thing.")
    agent.count += 1
    agent.record(**agent.message("three", agent.prompt()))
    said = told(place, agent, "Fourth thing.")
    agent.record(id="t3", timestamp="t", type="user", content=[{"functionResponse": {"id": "call", "response": {"output": f"x\n\n<hook_context>{said}</hook_context>"}}}])
    assert agent.tool() == "" and outcomes(place) == ["committed"] * 4, deliveries(place)
    agent.record(id="i3", timestamp="t", type="info", content="Request cancelled.")
    agent.record(**{"$set": {"messages": remaining}})
    agent.call("AfterAgent")
    said = agent.prompts("four")
    assert "Third thing." in said and "Fourth thing." in said and "First thing." not in said and "Second thing." not in said, said


def test_gemini_saved(place):
    """at /chat resume Gemini CLI writes each message again under a new id, and then all of them"""
    agent, _ = begin(place, "gemini")
    with open(agent.path, encoding="utf-8") as file:
        remaining = [{**json.loads(line), "id": f"new{number}"} for number, line in enumerate(file)][:2]
    for record in remaining:
        agent.record(**record)
        agent.record(**{"$set": {"lastUpdated": "t"}})
    agent.record(**{"$set": {"messages": remaining}})
    shown_again(place, agent, agent.prompts("three"))


def test_gemini_compacted(place):
    """notifications that a compaction has summarized stay delivered, whether it keeps the newest message or none; those of a prompt that is taken back after it come again"""
    for keeps in (True, False):
        with type(place)() as own:
            agent, _ = begin(own, "gemini")
            with open(agent.path, encoding="utf-8") as file:
                newest = [json.loads(line) for line in file][-1:] if keeps else []
            summary = [{"id": "s1", "type": "user", "content": [{"text": "<state_snapshot>"}]}, {"id": "s2", "type": "gemini", "content": [{"text": "Got it."}]}, *newest]
            agent.record(**{"$set": {"messages": summary}})
            assert "thing." not in agent.prompts("three") and outcomes(own) == ["committed"] * 2, deliveries(own)
            push(own, "Fourth thing.")
            assert "Fourth thing." in agent.prompts("four")
            agent.record(**{"$rewindTo": "u4"})
            agent.record(**{"$set": {"messages": [*summary, agent.message("three", "", 3), {"id": "g3", "type": "gemini", "content": "Well."}]}})
            said = agent.prompts("five")
            assert "Fourth thing." in said and "First thing." not in said and "Second thing." not in said, said


def test_qwen(place):
    """Qwen Code writes a record whose parent is the last one that stays"""
    agent, _ = begin(place, "qwen")
    agent.record(uuid="r", parentUuid="p1", type="system", subtype="rewind", systemPayload={"truncatedCount": 2})
    shown_again(place, agent, agent.prompts("three", parent="r"))


def take_back(agent, size):
    """Takes the second prompt back and prompts again, in the way of each agent. Returns the answer with that prompt or with the next one."""
    if agent.host == "claude":
        assert agent.prompts("three", parent="p1", size=LARGE) == ""
    elif agent.host == "qwen":
        agent.record(uuid="r", parentUuid="p1", type="system", subtype="rewind", systemPayload={"truncatedCount": 2})
    elif agent.host == "gemini":
        agent.record(**{"$set": {"messages": [agent.message("one", "", 1), {"id": "g1", "type": "gemini", "content": "Well. " * (LARGE // 6)}]}})
    else:
        agent.goes_on_in(f"{SESSION}_{SECOND}", (SESSION, size))
    return agent.prompts("three", parent="r" if agent.host == "qwen" else "", size=LARGE)


def test_large(place):
    """a rewind is found in a large transcript if the turn after it is larger than what the hook reads at first; without a rewind none is found"""
    for host in ("claude", "codex", "gemini", "qwen"):
        with type(place)() as own:
            agent, size = begin(own, host, LARGE)
            assert agent.prompts("none", size=LARGE) == "" and outcomes(own) == ["committed"] * 2, deliveries(own)
            shown_again(own, agent, take_back(agent, size))


def test_back_again(place):
    """a notification that is in the transcript again is not shown once more"""
    agent, _ = begin(place, "gemini")
    with open(agent.path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    agent.record(**{"$rewindTo": "u2"})
    agent.record(**{"$set": {"messages": records[:2]}})
    said = agent.prompts("three")
    assert "Second thing." in said
    agent.record(**{"$set": {"messages": records}})
    assert agent.prompts("four") == "" and not place.pending()


def test_busy_turn(place):
    """a turn whose end tidings did not see, as with a failed request, does not keep the notifications that were taken back"""
    agent, _ = begin(place, "qwen")
    agent.prompt()
    agent.record(uuid="r", parentUuid="p1", type="system", subtype="rewind", systemPayload={"truncatedCount": 2})
    said = agent.prompts("three", parent="r")
    assert "Second thing." in said, said


def test_codex_cut(place):
    """a file whose first line is incomplete, or has no number, takes nothing back"""
    for end in ("", "\n", "x}\n", "0"):
        with type(place)() as own:
            agent, _ = begin(own, "codex")
            agent.path = agent.file(f"{SESSION}_{SECOND}")
            agent.append('{"payload":{"history_base":{"thread_id":"' + SESSION + '","end_byte_offset":' + end)
            assert agent.prompt() == "" and outcomes(own) == ["committed"] * 2, end


def test_unreadable(place):
    """a transcript that is missing, or that lacks the record before the rewind, takes nothing back"""
    agent, _ = begin(place, "qwen")
    agent.record(uuid="r", parentUuid="gone", type="system", subtype="rewind", systemPayload={})
    assert agent.prompts("three") == "" and outcomes(place) == ["committed"] * 2
    os.unlink(agent.path)
    assert agent.prompt() == "" and outcomes(place) == ["committed"] * 2


if __name__ == "__main__":
    sys.exit(main(globals()))
