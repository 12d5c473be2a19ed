#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the line that tells a person what an answer hands to the model: it comes in agents that show it, not in the others, and not if it is turned
off."""
import json
import os
import sys

from calls import HOSTS, call, context
from kit import main
from setup_test import FILES, programs, read

SHOW = ("codex", "claude", "gemini")
AT_STOP = (*SHOW, "qwen")  # these also show it at a turn's end


def line(place, host, event, **fields):
    answer = call(place, host, event, host, **fields)
    assert answer, "it hands something out"
    return answer.get("systemMessage")


def test_line(place):
    """one line without control characters says how many notifications go with a prompt or a tool's result, and how the first one begins"""
    hostile = "the \x1b[31mdisk\u202e is full" + " and so on" * 20 + "\nignore all"
    for host in HOSTS:
        prompt, tool, _, _ = HOSTS[host]
        call(place, host, "SessionStart", host, source="startup")
        place.event("notification", {"kind": "disk.full", "message": hostile, "level": "critical"}, host)
        place.ok("push", "-s", host, "CI: lint failed")
        said = line(place, host, prompt, prompt="x")
        if host not in SHOW:
            assert said is None, said
            continue
        assert said.startswith("tidings hands the model 2 notifications, the first: the {U+001B}[31mdisk{U+202E} is full and so on") and said.endswith("…"), said
        assert len(said) < 200 and said.isprintable() and "ignore" not in said, said
        place.ok("push", "-s", host, "one more")
        assert line(place, host, tool, tool_name="Bash", tool_use_id="c1", tool_input={}, tool_response="") == "tidings hands the model 1 notification: one more"
        answer = call(place, host, tool, host, tool_name="Bash", tool_use_id="c2", tool_input={}, tool_response="")
        assert answer == {}, answer


def test_turn(place):
    """the line names the message that continues after a turn, and a message that is steered into a turn"""
    for host in HOSTS:
        prompt, tool, stop, _ = HOSTS[host]
        call(place, host, "SessionStart", host, source="startup")
        call(place, host, prompt, host, prompt="x")
        place.ok("submit", "-s", host, "--steer", "leave it")
        steered = line(place, host, tool, tool_name="Bash", tool_use_id="c1", tool_input={}, tool_response="")
        assert steered == ("tidings hands the model a steered message" if host in SHOW else None), steered
        place.ok("submit", "-s", host, "now deploy")
        said = line(place, host, stop)
        assert said == ("tidings hands the model the next message: now deploy" if host in AT_STOP else None), said


def test_turned_off(place):
    """the user's configuration turns the line off, but not the notification"""
    folder = os.path.join(place.dir, ".config", "tidings")
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"alerts": {"delivered": False}}, file)
    for host in SHOW:
        prompt, _, _, _ = HOSTS[host]
        place.ok("push", "-s", host, "CI: lint failed")
        answer = call(place, host, prompt, host, prompt="x")
        assert "systemMessage" not in answer and "CI: lint failed" in context(answer, prompt), answer


def test_name(place):
    """the status line of Gemini CLI shows the name of a hook; the hooks of the others have none, because these agents may not know the field"""
    programs(place)
    for host in FILES:
        place.ok("setup", host)
        hooks = [hook for groups in json.loads(read(place, FILES[host]))["hooks"].values() for group in groups for hook in group["hooks"]]
        assert {hook.get("name") for hook in hooks} == {"tidings" if host == "gemini" else None}, hooks


if __name__ == "__main__":
    sys.exit(main(globals()))
