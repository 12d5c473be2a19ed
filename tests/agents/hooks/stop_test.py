#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings hook` at the end of a turn and inside a subagent: the reason to continue, and the cases in which nothing is delivered."""
import json
import os
import sys

from calls import HOSTS, call, context, log, model_has_answered, reason
from kit import main

ROOMS = {"codex": 9000, "claude": 9500, "gemini": 7900, "qwen": 6000, "copilot": 9500}


def test_continuation(place):
    """at a stop the agent goes on with the queued message and with urgent notifications; then it stops"""
    for host, (prompt, _, stop, _) in HOSTS.items():
        call(place, host, prompt, host, prompt="hello")
        place.ok("submit", "-s", host, "--id", "m1", "do this too")
        assert reason(call(place, host, stop, host), host) == "do this too"
        place.ok("push", "-s", host, "-l", "critical", "-k", "disk.full", "the disk is full")
        text = reason(call(place, host, stop, host, stop_hook_active=True), host)
        assert "the disk is full" in text and "Critical notification (disk.full)" in text, text
        place.ok("push", "-s", host, "not urgent")
        assert call(place, host, stop, host, stop_hook_active=True) == {}
        assert place.messages(host) == ["not urgent"]
    assert log(place) == []


def test_stopped_by_a_person(place):
    """Gemini CLI calls the same hook when a person stops a turn, and ignores the answer: nothing is delivered, and the queue continues after the next turn"""
    cancelled = {"id": "3", "timestamp": "t", "type": "info", "content": "Request cancelled."}
    snapshot = {"$set": {"messages": [{"id": "2", "timestamp": "t", "type": "gemini", "content": "Well."}]}}
    prompted = {"id": "3", "timestamp": "t", "type": "user", "content": [{"text": '"type":"gemini"'}]}
    call(place, "gemini", "BeforeAgent", prompt="hello")
    place.ok("submit", "-s", "s", "--id", "m1", "do this too")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    for after in ([cancelled], [cancelled, {"$set": {"lastUpdated": "t"}}], [snapshot], [prompted], None):
        path = model_has_answered(place, *after) if after else "/no/such/file"
        text = json.dumps({"session_id": "s", "hook_event_name": "AfterAgent", "transcript_path": path, "stop_hook_active": False})
        assert place.ok("hook", "--budget", "60s", "--owner", str(os.getpid()), "gemini", stdin=text).json == {}, after
        status = place.ok("status", "-s", "s", "--json").json
        assert status["state"] == "idle" and [message["state"] for message in status["queued"]] == ["queued"], (after, status)
        assert place.messages() == ["the disk is full"] and status["leased"] == [], after
    assert "the disk is full" in context(call(place, "gemini", "BeforeAgent", prompt="go on"), "BeforeAgent")
    assert reason(call(place, "gemini", "AfterAgent"), "gemini") == "do this too"


def test_reasons_in_a_row(place):
    """Claude Code, Qwen Code and GitHub Copilot CLI override a reason that is the 8th in a row, or as many as they are set to: tidings keeps it queued until the next prompt"""
    for host, env in (("claude", {}), ("qwen", {}), ("copilot", {}), ("claude", {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3"}), ("gemini", {})):
        most = 9 if host == "gemini" else int(env.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "8")) - 1
        with type(place)() as own:
            own.env.update(env)
            prompt, _, stop, _ = HOSTS[host]
            call(own, host, prompt, prompt="hello")
            for number in range(10):
                own.ok("submit", "-s", "s", f"message {number}")
            for number in range(most):
                assert reason(call(own, host, stop, stop_hook_active=number > 0), host) == f"message {number}"
            if host != "gemini":
                assert call(own, host, stop, stop_hook_active=True) == {}, host
                status = own.ok("status", "-s", "s", "--json").json
                assert status["state"] == "idle" and len(status["queued"]) == 10 - most, status
                assert call(own, host, prompt, prompt="and now?") == {}
            assert reason(call(own, host, stop, stop_hook_active=False), host) == f"message {most}"


def test_subagents_without_a_name(place):
    """Gemini CLI does not say whose tool result it reports: while invoke_agent runs, tool results count as its subagent's and get none of the parent's notifications"""
    def tool(name, event="AfterTool"):
        return call(place, "gemini", event, tool_name=name, tool_input={}, tool_response="x")
    call(place, "gemini", "BeforeAgent", prompt="hello")
    for agents in (1, 2):
        for _ in range(agents):
            assert tool("invoke_agent", "BeforeTool") == {}
        place.ok("push", "-s", "s", f"for the parent {agents}")
        place.ok("submit", "-s", "s", "--steer", f"steered {agents}")
        assert tool("read_file") == {} and place.messages() == [f"for the parent {agents}"]
        assert place.ok("status", "-s", "s", "--json").json["state"] == "waiting"
        text = context(tool("invoke_agent"), "AfterTool")
        assert f"for the parent {agents}" in text and f"steered {agents}" in text, text
        if agents == 2:
            place.ok("push", "-s", "s", "a second one still works")
            assert tool("read_file") == {}
            assert "a second one still works" in context(tool("invoke_agent"), "AfterTool")
    place.ok("push", "-s", "s", "afterwards")
    assert "afterwards" in context(tool("read_file"), "AfterTool")
    tool("invoke_agent", "BeforeTool")
    call(place, "gemini", "BeforeAgent", prompt="after it was stopped")
    place.ok("push", "-s", "s", "once more")
    assert "once more" in context(tool("read_file"), "AfterTool")
    assert log(place) == []


def test_subagent_without_room(place):
    """if the store refuses the report of a subagent's end, the log has a line, and Gemini CLI's turn continues with its deliveries"""
    path = os.path.join(place.work, "config.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"limits": {"pending_per_session": 1}}, file)

    def tool(name, event="AfterTool"):
        return call(place, "gemini", event, words=("--config", path), tool_name=name, tool_input={}, tool_response="x")
    call(place, "gemini", "BeforeAgent", prompt="hello")
    place.ok("push", "-s", "s", "for the parent")
    for _ in range(2):
        tool("invoke_agent", "BeforeTool")
    text = context(tool("invoke_agent"), "AfterTool")
    assert "for the parent" in text and "finished]" not in text, text
    assert len(log(place)) == 1 and "pending_per_session" in log(place)[0], log(place)
    tool("invoke_agent")
    place.ok("push", "-s", "s", "afterwards")
    assert "afterwards" in context(tool("read_file"), "AfterTool")


def test_reason_as_a_prompt(place):
    """Qwen Code reports a reason to go on as a prompt, and writes down neither: nothing is delivered with either; a person's text is a prompt"""
    call(place, "qwen", "UserPromptSubmit", prompt="hello")
    place.ok("submit", "-s", "s", "do this too")
    place.ok("push", "-s", "s", "for the next result")
    said = call(place, "qwen", "Stop")["reason"]
    assert said.startswith("do this too\n\n[tidings ") and "for the next" not in said, said
    assert call(place, "qwen", "UserPromptSubmit", prompt=said) == {} and call(place, "qwen", "UserPromptSubmit", prompt=said + "\n") == {}
    assert place.messages() == ["for the next result"]
    assert "for the next result" in context(call(place, "qwen", "PostToolUse", tool_name="t", tool_use_id="c", tool_input={}, tool_response="x"), "PostToolUse")
    for prompt in ("[tidings 1z141z5]", "what is\n[tidings 1z141z5] for?", "x\n[tidings "):
        place.ok("push", "-s", "s", prompt)
        assert "- " in context(call(place, "qwen", "UserPromptSubmit", prompt=prompt), "UserPromptSubmit"), prompt


def test_reason_with_its_hook(place):
    """GitHub Copilot CLI calls the prompt's hook with a reason to go on, and writes the reason down: notifications go with the reason, and not with that call"""
    call(place, "copilot", "UserPromptSubmit", prompt="hello")
    place.ok("submit", "-s", "s", "do this too")
    place.ok("push", "-s", "s", "beside it")
    said = call(place, "copilot", "Stop")["reason"]
    assert "do this too" in said and "beside it" in said, said
    place.ok("push", "-s", "s", "a moment later")
    assert call(place, "copilot", "UserPromptSubmit", prompt=said) == {} and place.messages() == ["a moment later"]
    assert place.ok("status", "-s", "s", "--json").json["state"] == "busy"
    assert "a moment later" in context(call(place, "copilot", "PostToolUse", tool_name="t"), "PostToolUse")


def test_forgotten_messages(place):
    """when Gemini CLI is resumed, it forgets a message that begins with one of four texts: nothing goes with such a prompt, and a queued message gets another beginning"""
    for number, text in enumerate(("/etc/hosts is wrong", "?", "\u00a0\n /x", "\ufeff?x", "<hook_context>x", "<session_context>x")):
        place.ok("push", "-s", "s", f"beside {number}")
        assert call(place, "gemini", "BeforeAgent", prompt=text) == {}, text
        assert place.messages() == [f"beside {number}"] and place.ok("status", "-s", "s", "--json").json["state"] == "busy"
        place.ok("submit", "-s", "s", text)
        tool = context(call(place, "gemini", "AfterTool", tool_name="ls", tool_use_id="c", tool_input={}, tool_response="x"), "AfterTool")
        assert f"beside {number}" in tool, tool
        assert reason(call(place, "gemini", "AfterAgent"), "gemini") == f"Queued message:\n{text}"
        call(place, "gemini", "AfterAgent", stop_hook_active=True)
    for host, text in (("gemini", "usr/bin is wrong?"), ("qwen", "/etc/hosts is wrong")):
        place.ok("push", "-s", host, "beside it")
        assert "beside it" in context(call(place, host, HOSTS[host][0], host, prompt=text), HOSTS[host][0])
        place.ok("submit", "-s", host, text)
        assert reason(call(place, host, HOSTS[host][2], host), host) == text
    assert log(place) == []


def test_room(place):
    """150 notifications and a steered message come during one tool: each is in exactly one answer, no answer is larger than the agent's room, and the steered message is first"""
    for host in HOSTS:
        prompt, tool, _, _ = HOSTS[host]
        call(place, host, prompt, host, prompt="hello")
        news = "".join(json.dumps({"message": f"News {number:03}: " + "x" * 110}) + "\n" for number in range(150))
        place.ok("feed", "--recipe", "any", "--per-minute", "0", "-s", host, stdin=news)
        place.ok("submit", "-s", host, "--steer", "Stop: do not deploy.")
        texts = []
        while (answer := call(place, host, tool, host, tool_name="ls", tool_use_id="c", tool_input={}, tool_response="x")) != {}:
            texts.append(answer["hookSpecificOutput"]["additionalContext"])
        assert max(len(text.encode()) for text in texts) <= ROOMS[host] and len(texts) > 1, (host, [len(text) for text in texts])
        assert "Stop: do not deploy." in texts[0], texts[0]
        everything = "\n".join(texts)
        for number in range(150):
            assert everything.count(f"News {number:03}") == 1, (host, number)
        assert everything.count("Stop: do not deploy.") == 1
    assert log(place) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
