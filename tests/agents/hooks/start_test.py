#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings hook` when a session starts: the text for the model, and sessions whose start was not reported."""
import json
import os
import re
import signal
import subprocess
import sys

from calls import as_others, stuck_opener, transcript
from kit import end, main, sleeps_for_ever, until

HOSTS = {"codex": True, "claude": True, "qwen": False, "copilot": False}  # whether a resumed session still has the text of its start


def call(place, host, event, session="s", owner=None, words=(), **fields):
    named = {"timestamp": "2026-01-01T00:00:00Z"} if host == "copilot" else {"transcript_path": transcript(place, host, session)}  # it names its transcript only at the end
                                                                                                                                   # of a turn
    text = json.dumps({"session_id": session, "hook_event_name": event, "cwd": place.work, **named, **fields})
    return as_others(host, event, place.ok("hook", "--budget", "60s", "--owner", str(owner or os.getpid()), *words, host, stdin=text).json)


def said(answer, event="SessionStart"):
    assert set(answer) - {"systemMessage"} == {"hookSpecificOutput"} and set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}, answer
    assert answer["hookSpecificOutput"]["hookEventName"] == event, answer
    return answer["hookSpecificOutput"]["additionalContext"]


def test_instructions(place):
    """each start of a session, after compaction too, explains the blocks in the configured format and with the session's own nonce; a subagent's start does not"""
    plain = 'Lists that begin with "While you worked (not from the user)" report'
    for host in HOSTS:
        for source in ("startup", "compact", "resume"):
            assert said(call(place, host, "SessionStart", host, source=source)).startswith(plain)
        assert call(place, host, "SessionStart", host, source="startup", agent_id="a1") == {}, "a subagent's"
    place.env["TIDINGS_CONFIG"] = os.path.join(place.dir, "fenced.json")
    with open(place.env["TIDINGS_CONFIG"], "w", encoding="utf-8") as file:
        file.write('{"delivery": {"preset": "xml", "fence": "nonce"}}')
    told = {session: said(call(place, "claude", "SessionStart", session)) for session in ("one", "two")}
    nonces = {re.search("the nonce ([0-9a-f]{16}) in its opening tag", text)[1] for text in told.values()}
    assert len(nonces) == 2 and all("<notification> tags" in text for text in told.values()), told
    assert said(call(place, "claude", "SessionStart", "one", source="compact")) == told["one"]
    place.ok("push", "-s", "one", "x")
    nonce = re.search("the nonce ([0-9a-f]{16})", told["one"])[1]
    assert nonce in said(call(place, "claude", "UserPromptSubmit", "one", prompt="x"), "UserPromptSubmit")
    assert not os.path.exists(os.path.join(place.logs, "hook.log"))


def watchers(session):
    """Returns the processes that alert a person about a session."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"--alert" in words and session.encode() in words:
            found.append(int(pid))
    return found


def test_alerts(place):
    """if the configuration has alerts, one process beside the session alerts a person, and ends with the agent; without alerts there is none"""
    name = os.path.basename(place.dir)
    place.env.update(TIDINGS_CONFIG=os.path.join(place.dir, "config.json"), PATH=f"{place.dir}:{place.env['PATH']}")
    with open(os.path.join(place.dir, "notify-send"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho \"$@\" >>'{place.dir}/told'\n")
    os.chmod(os.path.join(place.dir, "notify-send"), 0o755)
    agent = place.start(command=["sleep", "1000"])
    for host, alerts, count in (("claude", {"waiting": True}, 1), ("codex", {"idle": False}, 0), ("gemini", {}, 0)):
        with open(place.env["TIDINGS_CONFIG"], "w", encoding="utf-8") as file:
            json.dump({"alerts": alerts}, file)
        call(place, host, "SessionStart", name + host, agent.pid, source="startup")
        until(lambda of=name + host, wanted=count: len(watchers(of)) == wanted, f"{count} processes beside {host}")
    until(lambda: sleeps_for_ever(watchers(name + "claude")[0]), "it has begun to look")  # what was before, it does not alert
    call(place, "claude", "SessionStart", name + "claude", agent.pid, source="compact")
    call(place, "claude", "UserPromptSubmit", name + "claude", agent.pid, prompt="x")
    call(place, "claude", "PermissionRequest", name + "claude", agent.pid, tool_name="Bash", tool_input={})
    until(lambda: os.path.exists(f"{place.dir}/told") and os.path.getsize(f"{place.dir}/told"), "an alert")
    with open(f"{place.dir}/told", encoding="utf-8") as file:
        text = file.read()
    assert text == f"--app-name=tidings --urgency=critical -- The agent waits for you Claude Code in {place.work}\n", text
    agent.kill()
    agent.wait()
    until(lambda: not watchers(name + "claude"), "their end")


def test_environment(place):
    """the commands of Claude Code find the program and the session; without CLAUDE_ENV_FILE or for another agent or event, nothing is written"""
    path = os.path.join(place.dir, "env.sh")
    place.env["CLAUDE_ENV_FILE"] = path
    call(place, "qwen", "SessionStart", "s0", source="startup")
    call(place, "claude", "UserPromptSubmit", "s0", prompt="x")
    assert not os.path.exists(path)
    call(place, "claude", "SessionStart", "s1", source="startup")
    ran = subprocess.run(["sh", "-c", f". '{path}'; \"$TIDINGS\" --version >/dev/null && echo $TIDINGS_SESSION"], env=place.env, capture_output=True, text=True, check=True)
    assert ran.stdout == "s1\n", (ran, open(path, encoding="utf-8").read())
    holder = place.hold()
    call(place, "claude", "SessionStart", "s2", words=("--budget", "500ms"), source="startup")
    end(holder, signal.SIGKILL)
    assert "TIDINGS_SESSION='s2'" in open(path, encoding="utf-8").read(), "also when the store was busy"
    del place.env["CLAUDE_ENV_FILE"]


def test_unopened(place):
    """if the store cannot be opened at a session's start, the first prompt has the paragraph, and no later one"""
    call(place, "claude", "SessionStart", "other", source="startup")
    with stuck_opener(place):
        assert call(place, "claude", "SessionStart", words=("--budget", "500ms"), source="startup") == {}
    until(lambda: place.run("status", "-s", "s").code == 0, "the start is reported again")
    assert "Consider them when" in said(call(place, "claude", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")
    assert call(place, "claude", "UserPromptSubmit", prompt="x") == {}


def test_late_start(place):
    """a session that began before the setup has its folder and its host from its next call on"""
    for number, (event, fields) in enumerate((("UserPromptSubmit", {"prompt": "x"}), ("PostToolUse", {"tool_name": "t", "tool_use_id": "c"}), ("Stop", {}))):
        assert call(place, "claude", event, f"s{number}", **fields) == {}
        attachment = place.ok("status", "-s", f"s{number}", "--json").json["attachment"]
        assert attachment["cwd"] == place.work and attachment["host"] == "Claude Code", attachment
    call(place, "claude", "UserPromptSubmit", "s0", prompt="x", cwd=place.dir)
    assert place.ok("status", "-s", "s0", "--json").json["attachment"]["cwd"] == place.work, "it stays where it was first"
    assert place.ok("status", "-s", "s0", "--json").json["state"] == "busy"
    assert place.ok("push", "--print-session").text.strip() == "s0"
    assert not os.path.exists(os.path.join(place.logs, "hook.log"))


def test_resumed(place):
    """another process that resumes a session gets the text of the start again only if the agent's transcript does not keep it"""
    for host, keeps in HOSTS.items():
        first, second = (place.start(command=["sleep", "600"]) for _ in range(2))
        assert said(call(place, host, "SessionStart", host, first.pid, source="resume")), "the first that is known of the session"
        answer = call(place, host, "SessionStart", host, second.pid, source="resume")
        assert answer == {} if keeps else said(answer), (host, answer)
        assert said(call(place, host, "SessionStart", host, second.pid, source="compact"))


def test_with_a_prompt(place):
    """Gemini CLI may forget the text of the start: it comes with a prompt instead, and again when the transcript is rewritten without it"""
    path = transcript(place, "gemini")
    prompt = lambda: call(place, "gemini", "BeforeAgent", prompt="x", transcript_path=path)
    assert call(place, "gemini", "SessionStart", source="startup") == {}
    told = said(prompt(), "BeforeAgent")
    assert told.endswith("Consider them when deciding your next action."), told
    place.ok("push", "-s", "s", "news")
    both = said(prompt(), "BeforeAgent")
    assert both.startswith(f"{told}\n\nWhile you worked") and re.search(r"- \[cli\] news\n\n\[tidings [0-9a-z]+-[0-9a-z]{8}\]$", both), both
    user = json.dumps({"type": "user", "content": [{"text": "x"}, {"text": f"<hook_context>{both}</hook_context>"}]}, separators=(",", ":"))
    for record, there in ((user, True), ('{"$set":{"messages":[]}}', False), (f'{{"$set":{{"messages":[{user}]}}}}', True)):
        with open(path, "a", encoding="utf-8") as file:
            file.write(record + "\n")
        assert prompt() == {} if there else said(prompt(), "BeforeAgent") == told, record
    assert not os.path.exists(os.path.join(place.logs, "hook.log"))


def test_compacted_away(place):
    """GitHub Copilot CLI does not start its session again after compaction: the next prompt has the paragraph, unless a start had it since"""
    place.env["COPILOT_HOME"] = os.path.join(place.dir, "copilot")
    folder = os.path.join(place.env["COPILOT_HOME"], "session-state", "s")
    os.makedirs(folder)
    told = said(call(place, "copilot", "SessionStart", source="new"))
    prompt = lambda: call(place, "copilot", "UserPromptSubmit", prompt="x")
    compacted = {"type": "session.compaction_complete", "data": {"success": True}}
    quoted = {"type": "tool.execution_complete", "data": {"result": {"content": json.dumps(compacted, separators=(",", ":"))}}}
    again = {"type": "hook.end", "data": {"output": {"additionalContext": told}}}
    for record, there in ((again, True), (quoted, True), (compacted, False), (again, True), (compacted, False)):
        with open(os.path.join(folder, "events.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
        assert prompt() == {} if there else said(prompt(), "UserPromptSubmit") == told, record
    assert not os.path.exists(os.path.join(place.logs, "hook.log"))


if __name__ == "__main__":
    sys.exit(main(globals()))
