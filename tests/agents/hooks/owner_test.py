#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests a `tidings hook` whose parent ends too early: it finds no agent, works without one, and leaves no process that waits."""
import contextlib
import json
import os
import signal
import subprocess
import sys

from calls import call, context, log, transcript
from kit import DEADLINE_S, TIDINGS, end, main, until
from wake_test import waiting

AGENT = """import subprocess, sys, threading
hook = subprocess.Popen(sys.argv[1:])
print("started", flush=True)
threading.Event().wait()
"""
HELD = ["sh", "-c", 'read line; "$@"; exit', "sh"]  # starts the hook when a line comes
LEFT = ["sh", "-c", 'exec 3<&0; (read line <&3; exec "$@" <&3 3<&-) &', "sh"]  # ends at once; its child starts the hook when a line comes


def starts(place, command):
    """Starts processes in a session of their own, so that the process which gets the orphans does not belong to it, but an agent's terminal does."""
    environment = {**place.env, "CLAUDE_CODE_ENTRYPOINT": "cli"}
    return place.start(command=command, stdin=subprocess.PIPE, env=environment, start_new_session=True)


def said(process, text):
    """Returns the hook's output when it has ended; a hook that does not end is killed."""
    try:
        out, err = process.communicate(text, timeout=DEADLINE_S)
        assert err == b"", err
        return out
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def hook(*words):
    return [TIDINGS, "hook", "--budget", "60s", *words]


def body(place, event, **fields):
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": place.work, "transcript_path": transcript(place, "claude"), **fields}).encode()


def orphaned(place, words, text):
    """Returns the output of a hook whose parent has ended before it starts."""
    parent = starts(place, [*LEFT, *hook(*words)])
    assert parent.wait(DEADLINE_S) == 0
    return said(parent, b"\n" + text)


def says_so(place):
    """Checks that the log has one line, which says that no agent was found, and that doctor repeats it."""
    [line] = log(place)
    assert "no agent found: none of the processes above this one is " in line, line
    said = place.run("doctor").text
    assert line in said, said


def test_agent_ends_while_its_hook_reads(place):
    """if an agent ends before its hook has read the input, the hook still takes it as the agent, and does not wait for the process that gets the orphan"""
    agent = starts(place, [sys.executable, "-c", AGENT, *hook("--wait", "claude")])
    assert agent.stdout.readline() == b"started\n"
    agent.stdin.write(b" " * (4 << 20))  # far more than a pipe holds, so the write returns only when the hook reads, and then it has found its agent
    agent.stdin.flush()
    end(agent, signal.SIGKILL)
    assert said(agent, body(place, "Stop")) == b"" and log(place) == []


def test_agent_ends_before_its_hook_starts(place):
    """a hook whose agent ended before the hook started waits neither for its shell, which waits for the hook, nor for the process that gets both"""
    agent = starts(place, [sys.executable, "-c", AGENT, *HELD, *hook("--wait", "claude")])
    assert agent.stdout.readline() == b"started\n"
    end(agent, signal.SIGKILL)
    assert said(agent, b"\n" + body(place, "Stop")) == b""
    says_so(place)


def test_orphan_does_not_wait(place):
    """a hook that is an orphan when it starts does not wait, and leaves no process that does"""
    assert orphaned(place, ["--wait", "claude"], body(place, "Stop")) == b""
    assert orphaned(place, ["--wake", "codex"], body(place, "Stop", transcript_path="")) == b"{}\n"
    assert waiting(place, "") == [] and len(log(place)) == 2 and all("no agent found" in line for line in log(place)), log(place)


def test_orphan_works(place):
    """an orphan delivers like any hook, and afterwards the session has no living host"""
    place.ok("push", "-s", "s", "the disk is full")
    text = orphaned(place, ["claude"], body(place, "UserPromptSubmit", prompt="x"))
    assert "the disk is full" in context(json.loads(text), "UserPromptSubmit")
    until(lambda: not place.ok("status", "-s", "s", "--json").json["attachment"]["alive"], "its host has ended")
    says_so(place)


def test_orphan_takes_nothing_over(place):
    """an orphan that begins a session does not take it from the agent that owns it"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert orphaned(place, ["claude"], body(place, "SessionStart", source="resume")) == b"{}\n"
    status = place.ok("status", "-s", "s", "--json").json
    assert status["attachment"]["pid"] == os.getpid() and status["state"] == "busy", status
    none, line = log(place)
    assert "no agent found" in none and "owned by a running host" in line, line


if __name__ == "__main__":
    sys.exit(main(globals()))
