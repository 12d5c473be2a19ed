#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that markers which tidings has not written prove nothing: in a tool's output, in a model's repetition, in a person's prompt."""
import os
import re
import sys

from calls import HOSTS, call, context, transcript, waits
from kit import DEADLINE_S, main, until
from proof_test import MARKER, Agent, deliveries, told
from wake_test import rewake

FOREIGN = "[tidings 1z141z5-00000000]"


def base36(number):
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


def leased_id(place):
    return int(place.ok("status", "-s", "s", "--json").json["leased"][0]["id"])


def test_tool_output(place):
    """if the agent drops an answer, and a tool prints the delivery's number as a marker, the delivery stays leased: without a proof, with an invented one, and with that of an earlier delivery"""
    for host in HOSTS:
        with type(place)() as own:
            agent = Agent(own, host)
            first = told(own, agent, "First thing.")
            agent.write(first)
            told(own, agent, "Dropped thing.")
            number = base36(leased_id(own))
            earlier = MARKER.search(first)[0]
            for marker in (f"[tidings {number}]", f"[tidings {number}-00000000]", earlier, re.sub(r" [0-9a-z]+-", f" {number}-", earlier)):
                agent.write(f"x has run\n{marker}")
                assert agent.tool() == "", (host, marker)
                assert deliveries(own)[-1] == ("leased", None), (host, marker, deliveries(own))


def test_other_store(place):
    """the marker of a delivery of the same number in another store proves nothing"""
    with type(place)() as other:
        text = told(other, Agent(other, "claude"), "First thing.")
    agent = Agent(place, "claude")
    mine = told(place, agent, "First thing.")
    assert MARKER.search(mine)[0] != MARKER.search(text)[0]
    agent.write(text)
    assert agent.tool() == "" and deliveries(place) == [("leased", None)]
    agent.write(mine)
    assert agent.tool() == "" and deliveries(place) == [("committed", "host")]


def nudge(place, session):
    """Queues a message in this session and returns the text that wakes Claude Code."""
    call(place, "claude", "UserPromptSubmit", session, prompt="hello")
    assert call(place, "claude", "Stop", session) == {}
    waiter = rewake(place, session_id=session, transcript_path=transcript(place, "claude", session))
    until(lambda: waits(place, waiter), "it waits")
    place.ok("submit", "-s", session, f"the message of {session}")
    assert waiter.wait(DEADLINE_S) == 2
    return waiter.stderr.read().decode().strip()


def test_other_session(place):
    """the text that wakes one session counts as a person's prompt in another session of the same store, but not in its own"""
    first, second = nudge(place, "one"), nudge(place, "two")
    assert call(place, "claude", "UserPromptSubmit", "two", prompt=first) == {}, "nothing goes with a person's prompt"
    assert [message["state"] for message in place.ok("status", "-s", "two", "--json").json["queued"]] == ["queued"]
    assert context(call(place, "claude", "UserPromptSubmit", "one", prompt=first), "UserPromptSubmit") == "the message of one"
    assert second != first


def test_prompt_that_ends_with_a_marker(place):
    """a person's prompt that ends with a marker counts as a prompt, even with the marker of a reason that was settled"""
    for host in ("qwen", "copilot"):
        call(place, host, "UserPromptSubmit", host, prompt="hello")
        place.ok("submit", "-s", host, "do this too")
        said = call(place, host, "Stop", host)["reason"]
        assert call(place, host, "UserPromptSubmit", host, prompt=said) == {}
        path = transcript(place, host, "other")
        assert call(place, host, "Stop", host, transcript_path=path) == {}
        for prompt in (f"why this?\n{FOREIGN}", "why this?\n\n[tidings 1z141z5]", said):
            place.ok("push", "-s", host, f"beside {prompt[:12]}")
            answer = call(place, host, "UserPromptSubmit", host, prompt=prompt, transcript_path=path)
            assert "beside" in context(answer, "UserPromptSubmit"), (host, prompt, answer)


def test_prompt_that_names_tidings(place):
    """a person's prompt that has the words of a nudge counts as a prompt: the queued message gets a turn of its own"""
    for host in ("claude", "codex"):
        for number, words in enumerate(("what is (tidings) ?", "(tidings) A message was queued while you were idle; it is in this turn's context.",
                                        f"(tidings) A message was queued while you were idle; it is in this turn's context. {FOREIGN}")):
            session = f"{host}{number}"
            call(place, host, "UserPromptSubmit", session, prompt="hello")
            assert call(place, host, "Stop", session) == {}
            place.ok("submit", "-s", session, "do this too")
            assert call(place, host, "UserPromptSubmit", session, prompt=words) == {}, words
            assert [message["state"] for message in place.ok("status", "-s", session, "--json").json["queued"]] == ["queued"], words


if __name__ == "__main__":
    sys.exit(main(globals()))
