#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what happens to waiting and leased notifications when a session follows another one in the same window, is resumed, or ends."""
import json
import os
import signal
import sys

from calls import HOSTS, call, context, log, reason, transcript
from kit import DEADLINE_S, end, main, until
from proof_test import Agent, deliveries, told
from wake_test import rewake

ANEW = {"codex": "clear", "claude": "clear", "gemini": "clear", "qwen": "clear", "copilot": "new"}


def begun(place, host, session, source):
    """Makes a session in which a prompt was answered."""
    prompt, _, stop, _ = HOSTS[host]
    call(place, host, "SessionStart", session, source=source)
    call(place, host, prompt, session, prompt="hello")
    assert call(place, host, stop, session) == {}


def waits_in(place, session):
    status = place.ok("status", "-s", session, "--json").json
    return place.messages(session), [message["id"] for message in status["queued"]]


def test_cleared(place):
    """after /clear the pending notifications and queued messages are in the new session, once, and not in the old one"""
    for host, source in ANEW.items():
        prompt, _, stop, _ = HOSTS[host]
        old, new = f"{host}-old", f"{host}-new"
        begun(place, host, old, "startup" if source == "clear" else source)
        place.ok("push", "-s", old, "the disk is full")
        place.ok("submit", "-s", old, "--id", f"m-{host}", "do this too")
        call(place, host, "SessionEnd", old, reason="clear")
        call(place, host, "SessionStart", new, source=source)
        assert waits_in(place, old) == ([], []) and waits_in(place, new) == (["the disk is full"], [f"m-{host}"]), host
        assert "the disk is full" in context(call(place, host, prompt, new, prompt="and now?"), prompt)
        assert reason(call(place, host, stop, new), host).startswith("do this too")
        assert call(place, host, stop, new) == {} and waits_in(place, new) == ([], [])
    assert log(place) == []


def test_cleared_while_busy(place):
    """if the store is busy at the start after /clear, the answer has the paragraph all the same, and what waits moves to the new session once the store is free"""
    begun(place, "claude", "old", "startup")
    place.ok("push", "-s", "old", "the disk is full")
    call(place, "claude", "SessionEnd", "old", reason="clear")
    holder = place.hold()
    answer = call(place, "claude", "SessionStart", "new", words=("--budget", "500ms"), source="clear")
    assert "Consider them when" in context(answer, "SessionStart"), answer
    end(holder, signal.SIGKILL)
    until(lambda: place.messages("new") == ["the disk is full"] and not place.messages("old"), "it has moved")
    until(lambda: (place.ok("push", "-s", "old", "the disk is slow"), "the disk is slow" in place.messages("new"))[1], "the old session was left")


def test_cleared_again(place):
    """pending notifications move with each /clear to the session that is open then"""
    for number, session in enumerate(("one", "two", "three")):
        call(place, "claude", "SessionStart", session, source="clear" if number else "startup")
        if not number:
            place.ok("push", "-s", session, "the disk is full")
    assert waits_in(place, "one") == ([], []) == waits_in(place, "two") and place.messages("three") == ["the disk is full"]


def test_outlived_by_a_command(place):
    """the end of a command that runs since before /clear is reported to the session that follows, or to its own session if that is resumed"""
    go = os.path.join(place.dir, "go")
    call(place, "claude", "SessionStart", "one", source="startup")
    for name in ("first", "second"):
        place.ok("run", "-s", "one", "--detach", "--name", name, "--", "sh", "-c", f'while [ ! -e "{go}-{name}" ]; do sleep 0.05; done; exit 3')
    for session in ("two", "three"):
        call(place, "claude", "SessionStart", session, source="clear")
    open(f"{go}-first", "w", encoding="utf-8").close()
    until(lambda: any("first" in message and "exit code 3" in message for message in place.messages("three")), "the end is reported")
    assert not place.messages("one") and not place.messages("two")
    call(place, "claude", "SessionStart", "one", source="resume")
    open(f"{go}-second", "w", encoding="utf-8").close()
    until(lambda: any("second" in message for message in place.messages("one")), "the end is reported to the session that is resumed")
    assert len(place.messages("three")) == 1


def test_sent_afterwards(place):
    """a notification or message for a session after its /clear reaches the session that follows; a session that is resumed gets its own"""
    for number, session in enumerate(("one", "two", "three")):
        call(place, "claude", "SessionStart", session, source="clear" if number else "startup")
    place.ok("push", "-s", "one", "the disk is full")
    place.ok("push", "--to", "session:two", "the disk is slow")
    place.ok("submit", "-s", "one", "--id", "m", "do this too")
    assert waits_in(place, "one") == ([], []) == waits_in(place, "two")
    assert waits_in(place, "three") == (["the disk is full", "the disk is slow"], ["m"])
    call(place, "claude", "SessionStart", "one", source="resume")
    place.ok("push", "-s", "one", "the disk is new")
    assert place.messages("one") == ["the disk is new"] and len(place.messages("three")) == 2
    assert log(place) == []
    place.event("session.opened", {}, "unnamed", owner=os.getpid())  # this host does not name itself
    place.ok("push", "-s", "unnamed", "stays here")
    assert place.messages("unnamed") == ["stays here"]


def test_beside_a_subagent(place):
    """what is sent to a session after its /clear does not go to a subagent's session of the same process, which has no folder"""
    call(place, "claude", "SessionStart", "one", source="startup")
    call(place, "claude", "SessionStart", "two", source="clear")
    pid = place.ok("status", "-s", "two", "--json").json["attachment"]["pid"]
    place.event("session.opened", {"host": "test"}, "task", owner=pid)
    place.event("turn.started", {}, "task", owner=pid)
    place.ok("push", "-s", "one", "the disk is full")
    assert place.messages("two") == ["the disk is full"] and not place.messages("task")


def test_other_windows(place):
    """notifications stay in a session of another folder, in one of another process's window, and in one that no session follows"""
    other = place.start(command=["sleep", "600"])
    folder = os.path.join(place.dir, "elsewhere")
    os.mkdir(folder)
    begun(place, "claude", "here", "startup")
    call(place, "claude", "SessionStart", "there", source="startup", cwd=folder)
    text = json.dumps({"session_id": "beside", "hook_event_name": "SessionStart", "cwd": place.work, "source": "startup", "transcript_path": transcript(place, "claude", "beside")})
    place.ok("hook", "--budget", "60s", "--owner", str(other.pid), "claude", stdin=text)
    call(place, "codex", "SessionStart", "at work", source="startup")
    call(place, "codex", "UserPromptSubmit", "at work", prompt="hello")
    for session in ("here", "there", "beside", "at work"):
        place.ok("push", "-s", session, f"news of {session}")
    for source in ("startup", "resume", "compact"):
        call(place, "claude", "SessionStart", f"by {source}", source=source)
    call(place, "codex", "SessionStart", "cleared", source="clear")
    assert place.messages("at work") == ["news of at work"], "another window of the same process is at work"
    call(place, "claude", "SessionStart", "cleared by claude", source="clear")
    for session in ("here", "there", "beside"):
        assert place.messages(session) == [f"news of {session}"], session
    end(other, signal.SIGKILL)


def test_resumed_is_woken(place):
    """a message that is queued when a session is resumed, or a critical notification when one follows another, wakes Claude Code before a prompt; for a new session no process waits"""
    for number, source in enumerate(("resume", "clear")):
        session = f"claude-{source}"
        place.ok("push", "-s", session, "-l", "critical", "the disk is full") if number else place.ok("submit", "-s", session, "do this")
        call(place, "claude", "SessionStart", session, source=source)
        waiter = rewake(place, event="SessionStart", source=source, session_id=session, transcript_path=transcript(place, "claude", session))
        assert waiter.wait(DEADLINE_S) == 2, source
        nudge = waiter.stderr.read().decode()
        said = context(call(place, "claude", "UserPromptSubmit", session, prompt=f"<task-notification>{nudge}</task-notification>"), "UserPromptSubmit")
        assert ("the disk is full" if number else "do this") in said, (source, said)
    assert rewake(place, event="SessionStart", source="startup").wait(DEADLINE_S) == 0
    assert log(place) == []


def test_ends_before_it_has_written(place):
    """a notification that an agent writes down only when it ends is committed after its end; one that it does not write down is pending again"""
    agent = place.start(command=["sleep", "600"])
    host = Agent(place, "copilot", agent.pid)
    host.start("new")
    host.prompt()
    host.append('{"type":"x"}\n')
    first, second = told(place, host, "First thing."), told(place, host, "Second thing.")
    assert host.call("Stop") == "" and host.call("SessionEnd", reason="complete") == ""
    assert deliveries(place) == [("leased", None)] * 2
    host.write(first)
    end(agent, signal.SIGKILL)
    until(lambda: deliveries(place) == [("committed", "resume"), ("rolled_back", "resume")], "the rest is settled")
    assert place.messages() == ["Second thing."] and second and log(place) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
