#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings hook` with calls beside the turns: subagents, a person who is asked or who stops a turn, the configuration, compaction, the use of the context."""
import json
import os
import signal
import sys
import time

from calls import HOSTS, bytes_read, call, changed, context, log, reason, transcript, waits
from kit import DEADLINE_S, end, main, until
from wake_test import rewake, unread, waiting

STOPPED = '{"parentUuid":"x","type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"uuid":"y","timestamp":"%s"}\n'

LATER = 3600  # seconds: a record with a stamp this far ahead is not older than the next turn, even on a slow machine


def state(place):
    return place.ok("status", "--json", env={"TIDINGS_SESSION": "s"}).json["state"]  # the session may be new


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + seconds)) + ".500Z"


def test_subagents(place):
    """a subagent's end is one notification for the parent, with type, id and last words; it starts no turn"""
    for host in ("codex", "claude", "qwen", "copilot"):
        prompt, tool, stop, _ = HOSTS[host]
        call(place, host, prompt, host, prompt="hello")
        assert call(place, host, "SubagentStop", host, agent_id="a1", agent_type="Explore", stop_hook_active=False, last_assistant_message="Found it. " + "x" * 9000) == {}
        text = context(call(place, host, tool, host, tool_name="ls", tool_use_id="c"), tool)
        assert "[Subagent 'Explore a1' finished]" in text and "Found it. x" in text and "x" * 490 in text and "x" * 491 not in text, text
        assert call(place, host, tool, host, tool_name="ls", tool_use_id="c2") == {}
        call(place, host, stop, host)
        call(place, host, "SubagentStop", host, agent_id="a2", last_assistant_message=None)
        status = place.ok("status", "-s", host, "--json").json
        assert status["state"] == "idle" and place.messages(host) == ["[Subagent 'a2' finished]"], status
    assert call(place, "claude", "SubagentStop", "claude", agent_id="a3", agent_type="", last_assistant_message="Run the tests?") == {}
    assert place.messages("claude") == ["[Subagent 'a2' finished]"], "Claude Code has asked the model itself"
    call(place, "gemini", "BeforeAgent", "gemini", prompt="hello")
    call(place, "gemini", "BeforeTool", "gemini", tool_name="invoke_agent", tool_input={"agent_name": "generalist"})
    response = {"llmContent": [{"text": "Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\nFound it."}]}
    text = context(call(place, "gemini", "AfterTool", "gemini", tool_name="invoke_agent", tool_input={"agent_name": "generalist"}, tool_response=response), "AfterTool")
    assert "[Subagent 'generalist' finished]" in text and "Found it." in text and "Termination" not in text, text
    assert log(place) == []


def test_asked(place):
    """while a person is asked for leave, the session waits until the tool's result; if no turn runs, the question changes nothing"""
    asks = {"codex": [("PermissionRequest", {"tool_name": "Bash"})], "qwen": [("PermissionRequest", {"tool_name": "edit"})],
            "claude": [("PermissionRequest", {"tool_name": "Bash"}), ("Notification", {"notification_type": "permission_prompt", "message": "Claude needs your permission"}),
                       ("Notification", {"notification_type": "elicitation_dialog", "message": "which one?"})],
            "gemini": [("Notification", {"notification_type": "ToolPermission", "message": "Tool Confirm Shell Command requires execution"})],
            "copilot": [("Notification", {"notification_type": "permission_prompt", "message": "Run command: ls", "title": "Permission needed"})]}
    for host, (prompt, tool, stop, _) in HOSTS.items():
        for event, said in asks[host]:
            fields = {"timestamp": stamp(LATER), **said}
            assert call(place, host, event, **fields) == {} and state(place) == "idle", (host, event)
            call(place, host, prompt, prompt="hello")
            assert call(place, host, event, **fields) == {} and state(place) == "waiting", (host, event)
            assert place.ok("status", "-s", "s", "--json").json["message"] in fields.values()
            call(place, host, event, **fields)
            call(place, host, tool, tool_name="ls", tool_use_id="c")
            assert state(place) == "busy"
            call(place, host, event, agent_id="a1", **fields)
            assert state(place) == "busy", "a subagent's"
            call(place, host, stop)
            assert state(place) == "idle"
    assert log(place) == []


def test_notice_without_a_name(place):
    """the notices of GitHub Copilot CLI name neither the event nor the session in the way of its other calls"""
    call(place, "copilot", "UserPromptSubmit", prompt="hello")
    notice = {"sessionId": "s", "timestamp": 1795356824657, "cwd": place.work, "message": "Run command: ls", "title": "Permission needed"}
    for kind, then in (("agent_idle", "busy"), ("permission_prompt", "waiting")):
        assert call(place, "copilot", None, raw=json.dumps(notice | {"notification_type": kind})) == {} and state(place) == then, kind
    assert log(place) == []


def test_subagents_that_are_sessions(place):
    """edits of a subagent of GitHub Copilot CLI count as its parent's, and notifications wait for the parent"""
    call(place, "copilot", "UserPromptSubmit", prompt="hello")
    place.ok("push", "-s", "s", "for the parent")
    inner = {"agent_id": "a1", "agent_type": "general-purpose", "parent_agent_id": "s"}
    assert call(place, "copilot", "UserPromptSubmit", "a1", prompt="inner", **inner) == {}
    assert call(place, "copilot", "PostToolUse", "a1", tool_name="Write", tool_input={"path": "own.txt", "file_text": "x"}, **inner) == {}
    assert call(place, "copilot", "Stop", "a1", **inner) == {}
    changed(place, "own.txt")
    text = context(call(place, "copilot", "PostToolUse", tool_name="Bash"), "PostToolUse")
    assert "for the parent" in text and "own.txt" not in text, text
    assert [session["session"] for session in place.ok("sessions", "--json").json["sessions"]] == ["s"]
    assert log(place) == []


def test_asked_within_a_subagent(place):
    """Gemini CLI asks for leave in a subagent: notifications are still held back for the parent"""
    call(place, "gemini", "BeforeAgent", prompt="hello")
    call(place, "gemini", "BeforeTool", tool_name="invoke_agent")
    call(place, "gemini", "Notification", notification_type="ToolPermission", message="x", timestamp=stamp(LATER))
    place.ok("push", "-s", "s", "for the parent")
    assert call(place, "gemini", "AfterTool", tool_name="read_file") == {}
    assert "for the parent" in context(call(place, "gemini", "AfterTool", tool_name="invoke_agent"), "AfterTool")


def test_stopped(place):
    """a turn that a person stops is over, and nothing is delivered; queued messages are in the turns after the next prompt"""
    now = {"timestamp": stamp(LATER)}
    for host, event, fields in (("codex", "Interrupt", now), ("claude", "Notification", {"notification_type": "idle_prompt", **now}), ("claude", "SessionEnd", {"reason": "clear", **now}),
                                ("qwen", "Notification", {"notification_type": "idle_prompt", **now}), ("gemini", "SessionEnd", {"reason": "exit", **now})):
        prompt, _, stop, _ = HOSTS[host]
        with type(place)() as own:
            assert call(own, host, event, **fields) == {}
            call(own, host, prompt, prompt="hello")
            own.ok("submit", "-s", "s", "do this too")
            own.ok("push", "-s", "s", "-l", "critical", "the disk is full")
            assert call(own, host, event, **fields) == {}, (host, event)
            status = own.ok("status", "-s", "s", "--json").json
            assert status["state"] == "idle" and [message["state"] for message in status["queued"]] == ["queued"], (host, event, status)
            assert own.messages() == ["the disk is full"] and status["leased"] == []
            assert "the disk is full" in context(call(own, host, prompt, prompt="go on"), prompt)
            assert call(own, host, stop) != {} and log(own) == [], (host, log(own))


def test_stopped_by_request(place):
    """the hook after a tool ends a turn for `tidings stop` if the agent can end it so; for other agents `tidings stop` refuses, and the turn continues"""
    for host in HOSTS:
        prompt, tool, stop, _ = HOSTS[host]
        with type(place)() as own:
            call(own, host, prompt, prompt="hello")
            own.ok("push", "-s", "s", "the disk is full")
            if host in ("claude", "gemini"):
                own.ok("stop", "-s", "s")
                assert call(own, host, tool, tool_name="x") == {"continue": False, "stopReason": "Stopped by tidings stop."}, host
                status = own.ok("status", "-s", "s", "--json").json
                assert status["state"] == "idle" and not status["stopping"] and own.messages() == ["the disk is full"], (host, status)
                assert "the disk is full" in context(call(own, host, prompt, prompt="go on"), prompt)
            else:
                own.refused("stop", "-s", "s", says="has no way to end its turn for tidings; a person can, with Escape")
                assert "the disk is full" in json.dumps(call(own, host, tool, tool_name="x")), host
            assert log(own) == [], (host, log(own))


def test_stopped_in_a_tool(place):
    """Gemini CLI and Qwen Code call the hook for the result of a tool that a person has stopped, and drop the answer: nothing is delivered, and the session is idle"""
    call(place, "qwen", "UserPromptSubmit", "q", prompt="hello")
    place.ok("push", "-s", "q", "the disk is full")
    assert call(place, "qwen", "PostToolUseFailure", "q", tool_name="edit", is_interrupt=True, error="x", timestamp=stamp(LATER)) == {} and place.messages("q") == ["the disk is full"]
    assert place.ok("status", "-s", "q", "--json").json["state"] == "idle"
    stopped = "Command was cancelled by user before it could complete. Below is the output before it was cancelled:\nx"
    for start, result in ((False, f"<untrusted_context>\n{stopped}\n</untrusted_context>"), (False, stopped), (True, stopped)):
        call(place, "gemini", "BeforeAgent", prompt="hello")
        if start:
            call(place, "gemini", "BeforeTool", tool_name="invoke_agent", tool_input={"agent_name": "generalist"})
        place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
        now = {"timestamp": stamp(LATER), "tool_response": {"llmContent": result}}
        assert call(place, "gemini", "AfterTool", tool_name="run_shell_command", **now) == {}
        assert state(place) == "idle" and place.messages() == ["the disk is full"]
        assert "the disk is full" in context(call(place, "gemini", "BeforeAgent", prompt="go on"), "BeforeAgent")
        call(place, "gemini", "AfterAgent")
    call(place, "gemini", "BeforeAgent", prompt="hello")
    place.ok("push", "-s", "s", "it reads of such a stop")
    assert "reads of" in context(call(place, "gemini", "AfterTool", tool_name="read_file", tool_response={"llmContent": stopped}), "AfterTool")
    assert state(place) == "busy" and log(place) == []


def test_late_notice(place):
    """Qwen Code does not wait for the hook of its notice: a notice from before the turn does not stop the turn"""
    call(place, "qwen", "UserPromptSubmit", prompt="hello")
    call(place, "qwen", "Notification", notification_type="idle_prompt", timestamp=stamp(-60))
    assert state(place) == "busy"
    call(place, "qwen", "Notification", notification_type="auth_success", timestamp=stamp(LATER))
    assert state(place) == "busy"


def test_stopped_as_the_transcript_says(place):
    """Claude Code calls no hook when a person stops a turn: the waiter reads the stop in the transcript, and wakes the agent; an older stop does not count"""
    path = transcript(place, "claude")
    quoted = json.dumps({"type": "user", "message": {"role": "user", "content": STOPPED % stamp(LATER)}, "timestamp": stamp(LATER)}) + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(STOPPED % stamp(-60) + quoted)
    call(place, "claude", "UserPromptSubmit", prompt="x", transcript_path=path)
    waiter = rewake(place, event="UserPromptSubmit", transcript_path=path)
    until(lambda: waits(place, waiter), "it waits")
    with open(path, "a", encoding="utf-8") as file:
        file.write(quoted)
    place.ok("submit", "-s", "s", "do this too")
    assert state(place) == "busy" and waiter.poll() is None
    with open(path, "a", encoding="utf-8") as file:
        file.write((STOPPED % stamp(1)).strip())
        file.flush()
        assert state(place) == "busy", "a line that is not whole"
        file.write("\n")
    assert waiter.wait(DEADLINE_S) == 2
    assert context(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode()), "UserPromptSubmit") == "do this too"
    assert log(place) == []


def test_stopped_before_it_is_watched(place):
    """a stop that is in the transcript before the waiter reads it counts as well"""
    path = transcript(place, "claude")
    call(place, "claude", "UserPromptSubmit", prompt="x", transcript_path=path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(STOPPED % stamp(1))
    place.ok("submit", "-s", "s", "do this too")
    assert rewake(place, event="UserPromptSubmit", transcript_path=path).wait(DEADLINE_S) == 2
    assert log(place) == []


def now_stamp():
    """Returns the time in the format of a transcript; the next call comes later."""
    ms = time.time_ns() // 1_000_000
    until(lambda: time.time_ns() // 1_000_000 > ms, "a later millisecond")
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"


def has_looked(place, waiter):
    """Writes the end of a turn into the transcript after the waiter's first look."""
    until(lambda: waits(place, waiter), "it waits")
    [fifo] = waiting(place)
    with open(fifo, "r+b", buffering=0) as words:
        words.write(b"l")
        until(lambda: waiter.poll() is not None or not unread(words), "it has looked")


def test_stopped_before_the_prompt(place):
    """an unreported stop from before the newest prompt does not end that prompt's turn; a later one does"""
    path = transcript(place, "claude")
    call(place, "claude", "UserPromptSubmit", prompt="x", transcript_path=path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(STOPPED % now_stamp())
    call(place, "claude", "UserPromptSubmit", prompt="y", transcript_path=path)
    place.ok("submit", "-s", "s", "do this too")
    waiter = rewake(place, event="UserPromptSubmit", transcript_path=path)
    has_looked(place, waiter)
    assert waiter.poll() is None and state(place) == "busy"
    with open(path, "a", encoding="utf-8") as file:
        file.write(STOPPED % now_stamp())
    assert waiter.wait(DEADLINE_S) == 2
    assert log(place) == []


def test_late_notice_of_the_turn_before(place):
    """a notice of Qwen Code from before the newest prompt does not stop that prompt's turn, even if the end of the turn before was not reported"""
    call(place, "qwen", "UserPromptSubmit", prompt="x")
    late = now_stamp()
    call(place, "qwen", "UserPromptSubmit", prompt="y")
    for kind in ("idle_prompt", "permission_prompt", "elicitation_dialog"):
        call(place, "qwen", "Notification", notification_type=kind, timestamp=late, message="x")
        assert state(place) == "busy", kind
    call(place, "qwen", "PermissionRequest", tool_name="edit", timestamp=late)
    assert state(place) == "busy"
    call(place, "qwen", "Notification", notification_type="permission_prompt", timestamp=now_stamp(), message="x")
    assert state(place) == "waiting"
    call(place, "qwen", "Notification", notification_type="idle_prompt", timestamp=now_stamp())
    assert state(place) == "idle" and log(place) == []


def test_stopped_while_the_store_is_busy(place):
    """if another writer holds the store, the waiter reports a stop in the transcript when that writer is gone"""
    path = transcript(place, "claude")
    size = 64 << 10  # as much as the waiter reads
    with open(path, "w", encoding="utf-8") as file:
        file.write("x" * size + "\n")
    call(place, "claude", "UserPromptSubmit", prompt="x", transcript_path=path)
    waiter = rewake(place, event="UserPromptSubmit", transcript_path=path)
    until(lambda: waits(place, waiter), "it waits")
    place.ok("submit", "-s", "s", "do this too")
    holder, before = place.hold(), bytes_read(waiter)
    with open(path, "a", encoding="utf-8") as file:
        file.write(STOPPED % stamp(1))
    until(lambda: waiter.poll() is not None or bytes_read(waiter) > before + 3 * size, "it has tried again")
    assert waiter.poll() is None, log(place)
    end(holder, signal.SIGKILL)
    assert waiter.wait(DEADLINE_S) == 2
    assert context(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode()), "UserPromptSubmit") == "do this too"
    assert log(place) == []


def test_session_ends(place):
    """when a session ends, its waiter ends too, though its agent lives on with another session; a subagent's end does not end it"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter), "it waits")
    call(place, "claude", "SessionEnd", reason="clear", agent_id="a1")
    place.ok("push", "-s", "s", "-l", "critical", "a subagent has ended, not the session")
    assert waiter.wait(DEADLINE_S) == 2
    call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode())
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter), "the next one waits")
    assert call(place, "claude", "SessionEnd", reason="clear") == {}
    assert waiter.wait(DEADLINE_S) == 0
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert place.messages() == ["the disk is full"] and log(place) == []


def test_failed(place):
    """a turn that fails has a reason in the status, and queued messages wait"""
    for host in ("claude", "qwen"):
        call(place, host, "UserPromptSubmit", host, prompt="x")
        place.ok("submit", "-s", host, "do this too")
        assert call(place, host, "StopFailure", host, error="rate_limit", error_details="429 slow down") == {}
        status = place.ok("status", "-s", host, "--json").json
        assert (status["state"], status["message"], len(status["queued"])) == ("error", "rate_limit: 429 slow down", 1), status


def test_configuration(place):
    """Claude Code reports changes of its configuration; for other agents a prompt reports each change of a file since the session began, once"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "ConfigChange", source="user_settings", file_path="/srv/x/.claude/settings.json")
    text = context(call(place, "claude", "PostToolUse", tool_name="ls"), "PostToolUse")
    assert "Configuration reloaded: `/srv/x/.claude/settings.json` (user_settings)" in text, text
    for host, name, project in (("codex", ".codex/config.toml", ".codex/config.toml"), ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
                                ("qwen", ".qwen/settings.json", ".qwen/settings.json")):
        prompt, tool, _, _ = HOSTS[host]
        home, own = os.path.join(place.env["HOME"], name), os.path.join(place.work, project)
        for path in (home, own):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w", encoding="utf-8").close()
            os.utime(path, (time.time() - 60, time.time() - 60))
        call(place, host, "SessionStart", host, source="startup")
        assert call(place, host, prompt, host, prompt="x") == {}, "older than the session"
        for number, path in enumerate((home, own, home)):
            os.utime(path, (time.time() + 1 + number, time.time() + 1 + number))
            assert call(place, host, tool, host, tool_name="ls") == {}, "only at prompts"
            text = context(call(place, host, prompt, host, prompt="x"), prompt)
            assert f"Configuration reloaded: `{path}` has changed" in text and ("when it starts" in text) == (host != "qwen"), text
            assert call(place, host, prompt, host, prompt="x") == {}
    assert log(place) == []


def written(path, text):
    """Writes a file and returns its time; the kernel's clock for that may be some milliseconds late."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return os.stat(path).st_mtime - 0.001


def test_configuration_without_a_window(place):
    """if the store remembers no events, a prompt still reports each change once"""
    path, settings = os.path.join(place.work, "config.json"), os.path.join(place.work, ".codex/config.toml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"limits": {"dedup_window_ms": 0}}, file)
    os.mkdir(os.path.dirname(settings))
    words = ("--config", path)
    call(place, "codex", "SessionStart", words=words, source="startup")
    for number in range(2):
        until(lambda now=time.time(), number=number: written(settings, f"# {number}\n") > now, "a time that is later than the session's start")
        assert f"`{settings}` has changed" in context(call(place, "codex", "UserPromptSubmit", words=words, prompt="x"), "UserPromptSubmit")
        for _ in range(2):
            assert call(place, "codex", "UserPromptSubmit", words=words, prompt="x") == {}
            assert call(place, "codex", "Stop", words=words) == {}
    assert log(place) == []


def test_use(place):
    """the use of the context comes from the end of a turn in Qwen Code, and from the transcript in Codex; each threshold is reported once"""
    call(place, "qwen", "UserPromptSubmit", prompt="x")
    for used, says in ((100, []), (160000, ["80"]), (160001, ["80"]), (191000, ["80", "95"])):
        call(place, "qwen", "Stop", input_tokens=used, context_limit=200000, context_usage=used / 200000)
        assert [message.split("%")[0].rpartition(" ")[2] for message in place.messages()] == says, place.messages()
    path = transcript(place, "codex", "c")
    record = {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"total_tokens": 1}, "last_token_usage": {"input_tokens": 5, "total_tokens": 240000},
                                                                            "model_context_window": 258400}}}
    quoted = {"type": "response_item", "payload": json.dumps(record, separators=(",", ":")).replace("240000", "258400")}
    with open(path, "w", encoding="utf-8") as file:
        for one in (record, quoted):
            file.write(json.dumps(one, separators=(",", ":")) + "\n")
    call(place, "codex", "UserPromptSubmit", "c", prompt="x", transcript_path=path)
    place.ok("push", "-s", "c", "a notification")
    context(call(place, "codex", "PostToolUse", "c", tool_name="ls", transcript_path=path), "PostToolUse")
    text = context(call(place, "codex", "PostToolUse", "c", tool_name="ls", transcript_path=path), "PostToolUse")
    assert "Token budget: 92% used (240000 of 258400)." in text, text
    assert log(place) == []


def test_compacted(place):
    """after compaction the paragraph comes again; pending notifications and messages come with the next carriers, each once"""
    for host in ("codex", "claude", "qwen"):
        prompt, tool, stop, _ = HOSTS[host]
        call(place, host, "SessionStart", host, source="startup")
        call(place, host, prompt, host, prompt="x")
        place.ok("push", "-s", host, "the disk is full")
        place.ok("submit", "-s", host, "--id", f"m-{host}", "do this too")
        texts = [context(call(place, host, "SessionStart", host, source="compact"), "SessionStart")]
        assert texts[0].startswith("Lists that begin with"), texts
        assert place.messages(host) == ["the disk is full"] and place.ok("status", "-s", host, "--json").json["state"] == "busy"
        texts.append(context(call(place, host, tool, host, tool_name="ls", tool_use_id="c", tool_input={}, tool_response="x"), tool))
        texts.append(reason(call(place, host, stop, host), host))
        for words in ("the disk is full", "do this too"):
            assert "".join(texts).count(words) == 1, (words, texts)
        assert call(place, host, stop, host) == {}
    assert log(place) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
