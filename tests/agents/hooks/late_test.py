#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that what an agent reports in a hook while the store is busy is reported once the store is free, and once."""
import signal
import sys

from calls import call, context
from kit import end, main, until
from wires_test import LATER, stamp

BRIEF = ("--budget", "300ms")
FOUND = {"llmContent": [{"text": "Result:\nFound it."}]}


def state(place):
    return place.ok("status", "-s", "s", "--json").json["state"]


def while_busy(place, host, event, **fields):
    """Calls a hook while another process writes; it must answer nothing."""
    holder = place.hold()
    answer = call(place, host, event, words=BRIEF, **fields)
    end(holder, signal.SIGKILL)
    return answer


def test_idles(place):
    """if an agent says that it idles, the turn that a person has stopped ends"""
    for host in ("claude", "qwen"):
        call(place, host, "UserPromptSubmit", prompt="x")
        assert state(place) == "busy"
        assert while_busy(place, host, "Notification", notification_type="idle_prompt", timestamp=stamp(LATER)) == {}
        until(lambda: state(place) == "idle", f"{host}: the turn is over")


def test_tool_stopped(place):
    """a tool that a person has stopped ends the turn"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert while_busy(place, "claude", "PostToolUseFailure", tool_name="Bash", error="x", is_interrupt=True, timestamp="") == {}
    until(lambda: state(place) == "idle", "the turn is over")


def test_subagent(place):
    """a subagent's end is reported once"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert while_busy(place, "claude", "SubagentStop", agent_id="a1", agent_type="Explore", last_assistant_message="Found it.") == {}
    until(lambda: [message[:30] for message in place.messages()] == ["[Subagent 'Explore a1' finished"[:30]], "the end is reported")


def test_subagent_of_a_tool(place):
    """the same if a tool's result is a subagent's end; then the next results are the session's own"""
    for name in ("one", "two"):
        call(place, "gemini", "BeforeAgent", prompt="x")
        call(place, "gemini", "BeforeTool", tool_name="invoke_agent", tool_input={"agent_name": name})
        assert state(place) == "waiting"
        assert while_busy(place, "gemini", "AfterTool", tool_name="invoke_agent", tool_input={"agent_name": name}, tool_response=FOUND) == {}
        until(lambda: state(place) == "busy", "the turn goes on")
        assert f"[Subagent '{name}' finished]" in context(call(place, "gemini", "AfterTool", tool_name="ls"), "AfterTool")


def test_configuration(place):
    """a change of the configuration is reported"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert while_busy(place, "claude", "ConfigChange", source="user_settings", file_path="/srv/x") == {}
    until(lambda: any("`/srv/x` (user_settings)" in message for message in place.messages()), "it is reported")


if __name__ == "__main__":
    sys.exit(main(globals()))
