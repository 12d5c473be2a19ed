#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tidings hook` beside an idle agent: the waiter that wakes it."""
import json
import os
import signal
import subprocess
import sys

from calls import call, context, log, waits
from kit import DEADLINE_S, Skip, end, gone, main, until


def rewake(place, env=None, event="Stop", **fields):
    text = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": place.work, **fields})
    environment = {**place.env, "CLAUDE_CODE_ENTRYPOINT": "cli", **(env or {})}
    process = place.start("hook", "--owner", str(os.getpid()), "--wait", "claude", stdin=subprocess.PIPE, env=environment)
    process.stdin.write(text.encode())
    process.stdin.close()
    return process


def test_rewake(place):
    """the waiter of an idle session: silent until something urgent comes, then status 2 and a reason; one for a session; none without a terminal"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert call(place, "claude", "Stop") == {}
    assert rewake(place, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}).wait(DEADLINE_S) == 0
    waiter = rewake(place)
    place.ok("push", "-s", "s", "not urgent")
    place.ok("push", "-s", "s", "-l", "critical", "-k", "disk.full", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2
    nudge = waiter.stderr.read().decode()
    assert nudge == "(tidings) Critical notification (disk.full); see the notifications in this message.\n" and waiter.stdout.read() == b"", nudge
    text = context(call(place, "claude", "UserPromptSubmit", prompt=f"<task-notification>{nudge}</task-notification>"), "UserPromptSubmit")
    assert "the disk is full" in text and "not urgent" in text, text
    assert call(place, "claude", "Stop") == {}
    first = rewake(place)
    until(lambda: waits(place, first), "the first waits")
    assert rewake(place).wait(DEADLINE_S) == 0 and first.poll() is None
    place.ok("submit", "-s", "s", "--id", "m1", "a message")
    assert first.wait(DEADLINE_S) == 2
    nudge = first.stderr.read().decode()
    assert "a message" not in nudge
    assert context(call(place, "claude", "UserPromptSubmit", prompt=nudge), "UserPromptSubmit") == "a message"
    assert log(place) == []


def test_words_of_strangers(place):
    """what another user says to the waiter changes nothing; this user, and root, end it"""
    if os.geteuid() != 0:
        raise Skip("only root may become another user")
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    marked = f"@tidings-wait-{os.getuid()}-{os.getpid()}-"

    def name():
        with open("/proc/net/unix", encoding="utf-8") as sockets:
            return next((line.split()[-1] for line in sockets if marked in line), None)
    until(name, "its name is known to all")
    say = "import os, socket, sys; os.setresuid(int(sys.argv[2]), int(sys.argv[2]), int(sys.argv[2]))\n" \
          "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'e', b'\\0' + sys.argv[1].encode())"
    for _ in range(3):
        subprocess.run([sys.executable, "-c", say, name()[1:], "65534"], check=True)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2 and b"Critical" in waiter.stderr.read()
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(name, "its name is known again")
    subprocess.run([sys.executable, "-c", say, name()[1:], "0"], check=True)
    assert waiter.wait(DEADLINE_S) == 0
    assert log(place) == []


def test_rewake_for_the_rest(place):
    """Claude Code is woken for what the end of a turn has kept back, also when its waiter looked before that end"""
    place.env["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "2"
    call(place, "claude", "UserPromptSubmit", prompt="x")
    waiter = rewake(place)
    for number in range(3):
        place.ok("submit", "-s", "s", f"message {number}")
    assert context(call(place, "claude", "Stop"), "Stop") == "message 0"
    assert call(place, "claude", "Stop", stop_hook_active=True) == {}
    waiter.kill()
    waiter.wait()
    waiter = rewake(place)
    assert waiter.wait(DEADLINE_S) == 2
    assert context(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode()), "UserPromptSubmit") == "message 1"
    assert log(place) == []


def test_rewake_long_after_a_prompt(place):
    """the waiter that a prompt has started, and that has looked while the turn ran, wakes Claude Code for what the end of that turn has kept back"""
    place.env["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "1"
    call(place, "claude", "UserPromptSubmit", prompt="x")
    waiter = rewake(place, event="UserPromptSubmit", prompt="x")
    until(lambda: waits(place, waiter), "it waits")
    for number in range(2):
        place.ok("submit", "-s", "s", f"message {number}")
    assert context(call(place, "claude", "Stop"), "Stop") == "message 0"
    assert call(place, "claude", "PostToolUse", tool_name="ls", tool_use_id="c1", tool_input={}) == {}
    assert rewake(place).wait(DEADLINE_S) == 0 and waiter.poll() is None
    assert call(place, "claude", "Stop", stop_hook_active=True) == {}
    assert waiter.wait(DEADLINE_S) == 2
    assert context(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode()), "UserPromptSubmit") == "message 1"
    assert log(place) == []


def test_late_nudge(place):
    """a nudge that arrives when a person has typed first repeats nothing and loses nothing"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    place.ok("submit", "-s", "s", "--id", "m1", "a message")
    assert waiter.wait(DEADLINE_S) == 2
    nudge = waiter.stderr.read().decode()
    assert call(place, "claude", "UserPromptSubmit", prompt="typed first") == {}
    assert context(call(place, "claude", "Stop"), "Stop") == "a message"
    assert call(place, "claude", "UserPromptSubmit", prompt=nudge) == {}
    assert call(place, "claude", "Stop") == {}
    assert place.ok("status", "-s", "s", "--json").json["queued"] == []


def test_queue(place):
    """Codex is woken by its own command, whose failure is logged and keeps the message queued; the waiter ends with the agent, and is there only on demand"""
    tool = os.path.join(place.dir, "codex")
    with open(tool, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {place.dir}/queued.tmp && mv {place.dir}/queued.tmp {place.dir}/queued\ntest ! -e {place.dir}/fail\n')
    os.chmod(tool, 0o755)
    place.env["PATH"] = f"{place.dir}:{place.env['PATH']}"
    agent = place.start(command=["sleep", "600"])

    def hook(event, **fields):
        text = json.dumps({"session_id": "s", "hook_event_name": event, **fields})
        return place.ok("hook", "--budget", "60s", "--owner", str(agent.pid), *words, "codex", stdin=text).json

    def is_there():
        with open("/proc/net/unix", encoding="utf-8") as file:
            return f"@tidings-wait-{os.getuid()}-{agent.pid}-" in file.read()
    words = []
    hook("UserPromptSubmit", prompt="x")
    assert hook("Stop") == {} and not is_there()
    words = ["--wake"]
    hook("UserPromptSubmit", prompt="x")
    assert "hookSpecificOutput" in hook("SessionStart") and not is_there()
    assert hook("Stop") == {} and is_there()
    place.ok("push", "-s", "s", "-l", "critical", "-k", "disk.full", "the disk is full")
    queued = os.path.join(place.dir, "queued")
    until(lambda: os.path.exists(queued), "codex queue was called")
    called = open(queued, encoding="utf-8").read().splitlines()
    assert called[:4] == ["queue", "--thread", "s", "--message"], called
    assert "the disk is full" in context(hook("UserPromptSubmit", prompt=called[4]), "UserPromptSubmit")
    assert hook("Stop") == {}
    open(os.path.join(place.dir, "fail"), "w", encoding="utf-8").close()
    place.ok("submit", "-s", "s", "--id", "m1", "a message")
    until(lambda: any("codex queue failed" in line for line in log(place)), "the failure is logged")
    until(lambda: place.ok("status", "-s", "s", "--json").json["state"] == "idle", "the offer was declined")
    assert [message["id"] for message in place.ok("status", "-s", "s", "--json").json["queued"]] == ["m1"]
    end(agent, signal.SIGKILL)
    until(lambda: not any(name.startswith("wake.") and not gone(name.split(".")[1]) for name in os.listdir(place.store)),
          "the waiter has ended")
    assert not is_there()


if __name__ == "__main__":
    sys.exit(main(globals()))
