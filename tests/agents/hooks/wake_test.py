#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the waiter of `tidings hook`, which wakes an idle agent."""
import fcntl
import glob
import json
import os
import re
import signal
import stat
import struct
import subprocess
import sys
import termios

from calls import bytes_read, call, context, log, put_command, stuck_opener, transcript, waits
from kit import DEADLINE_S, TIDINGS, end, gone, main, until


def rewake(place, env=None, event="Stop", words=(), **fields):
    text = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": place.work, "transcript_path": transcript(place, "claude"), **fields})
    environment = {**place.env, "CLAUDE_CODE_ENTRYPOINT": "cli", **(env or {})}
    process = place.start("hook", "--owner", str(os.getpid()), *words, "--wait", "claude", stdin=subprocess.PIPE, env=environment)
    process.stdin.write(text.encode())
    process.stdin.close()
    return process


def test_rewake(place):
    """the waiter of an idle session is silent until something urgent comes, then ends with status 2 and a reason; a session has one waiter, and none without a terminal"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    assert call(place, "claude", "Stop") == {}
    assert rewake(place, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}).wait(DEADLINE_S) == 0
    waiter = rewake(place)
    place.ok("push", "-s", "s", "not urgent")
    place.ok("push", "-s", "s", "-l", "critical", "-k", "disk.full", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2
    nudge = waiter.stderr.read().decode()
    said, _, marker = nudge.rpartition(" [tidings ")
    assert said == "(tidings) Critical notification (disk.full); see the notifications in this message." and re.fullmatch(r"[0-9a-z]+-[0-9a-z]{8}\]\n", marker), nudge
    assert waiter.stdout.read() == b""
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


def waiting(place, owner=None):
    """Returns the places of the agent's waiters."""
    folder = os.path.join(os.path.dirname(place.logs), "waiting")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.startswith(f"{owner or os.getpid()}-")]


def unread(file):
    return struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, b"\0" * 4))[0]


def opened(link):
    """Returns the file of another process's descriptor; that process may close it meanwhile."""
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


def test_place_of_the_waiter(place):
    """only the user can reach the FIFO by which a waiter gets its commands: nobody else can make it first or write to it, and the waiter opens no socket"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter), "it waits")
    [fifo] = waiting(place)
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (fifo, os.path.dirname(fifo))] == [0o600, 0o700]
    sockets = [link for link in map(opened, glob.glob(f"/proc/{waiter.pid}/fd/*")) if link.startswith("socket:")]
    assert not sockets, sockets  # other processes could know their names
    with open(fifo, "wb", buffering=0) as words:
        words.write(b"e")
    assert waiter.wait(DEADLINE_S) == 0 and not waiting(place)
    assert log(place) == []


def test_place_is_left(place):
    """a waiter that is killed leaves its FIFO to the next one; the FIFO of an agent that has ended is removed by the next waiter of any agent"""
    agent = place.start(command=["sleep", "600"])
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    for _ in range(2):
        waiter = rewake(place)
        until(lambda: waits(place, waiter), "it waits")
        end(waiter, signal.SIGKILL)
    [fifo] = waiting(place)
    folder = os.path.dirname(fifo)
    for name in (f"{agent.pid}-0123", "9999999-0123"):  # the second is larger than any pid
        os.mkfifo(os.path.join(folder, name))
    waiter = rewake(place)
    until(lambda: not waiting(place, 9999999), "what an agent has left is removed")
    assert waiting(place) == [fifo] and waiting(place, agent.pid)
    assert rewake(place).wait(DEADLINE_S) == 0 and waiter.poll() is None
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2 and not waiting(place)
    end(agent, signal.SIGKILL)
    assert log(place) == []


def test_place_cannot_be_made(place):
    """if the FIFO cannot be made, nobody waits, the log says why, and the agent continues"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    with open(os.path.join(os.path.dirname(place.logs), "waiting"), "w", encoding="utf-8"):
        pass
    assert rewake(place).wait(DEADLINE_S) == 0
    assert call(place, "claude", "Stop") == {}
    [line] = log(place)
    assert "cannot wait: " in line and "/tidings/waiting/" in line and line.endswith(": Not a directory"), line


def test_waits_for_the_store(place):
    """a waiter that begins while another process opens the store waits until that process has finished"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    with stuck_opener(place):
        waiter = rewake(place, words=("--budget", "1ms"))
        most = 2 * os.path.getsize(os.environ["TIDINGS_PLUGIN"])  # each attempt reads the plugin
        until(lambda: waiter.poll() is not None or bytes_read(waiter) > most, "it has tried again")
        assert waiter.poll() is None, log(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2 and log(place) == []


def test_rewake_for_the_rest(place):
    """a waiter that begins after the end of a turn wakes Claude Code for a message that this end has kept back"""
    place.env["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "2"
    call(place, "claude", "UserPromptSubmit", prompt="x")
    waiter = rewake(place)
    for number in range(3):
        place.ok("submit", "-s", "s", f"message {number}")
    assert context(call(place, "claude", "Stop"), "Stop") == "message 0"
    end(waiter, signal.SIGKILL)  # otherwise it would wake the agent as well
    assert call(place, "claude", "Stop", stop_hook_active=True) == {}
    waiter = rewake(place)
    assert waiter.wait(DEADLINE_S) == 2
    assert context(call(place, "claude", "UserPromptSubmit", prompt=waiter.stderr.read().decode()), "UserPromptSubmit") == "message 1"
    assert log(place) == []


def test_rewake_long_after_a_prompt(place):
    """a waiter that a prompt has started, and that has read the store while the turn ran, wakes Claude Code for a message that the end of that turn has kept back"""
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
    """a nudge that arrives after a person has typed first repeats nothing and loses nothing"""
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
    """tidings wakes Codex by Codex's own command, whose failure is logged and keeps the message queued; the waiter exists only with --wake, and ends with the agent"""
    put_command(place, "codex", f'printf "%s\\n" "$@" >> {place.dir}/queued.tmp && mv {place.dir}/queued.tmp {place.dir}/queued\ntest ! -e {place.dir}/fail')
    agent = place.start(command=["sleep", "600"])

    def hook(event, **fields):
        text = json.dumps({"session_id": "s", "hook_event_name": event, **fields})
        return place.ok("hook", "--budget", "60s", "--owner", str(agent.pid), *words, "codex", stdin=text).json

    def is_there():
        return bool(waiting(place, agent.pid))
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
    until(lambda: not is_there(), "its place is gone")


def test_end_while_busy(place):
    """if the store is busy at the end of a turn, the end is reported once the store is free; then a queued message wakes the agent"""
    queued = os.path.join(place.dir, "queued")
    put_command(place, "codex", f'printf "%s\\n" "$@" > {queued}.tmp && mv {queued}.tmp {queued}')
    for host, words in (("codex", ("--wake",)), ("claude", ())):
        call(place, host, "UserPromptSubmit", host, words=words, prompt="x")
        place.ok("submit", "-s", host, "do this too")
        holder = place.hold()
        assert call(place, host, "Stop", host, words=("--budget", "500ms", *words)) == {}
        waiter = rewake(place, session_id=host, transcript_path=transcript(place, host, host)) if host == "claude" else None
        assert place.ok("status", "-s", host, "--json").json["state"] == "busy"
        end(holder, signal.SIGKILL)
        if waiter:
            assert waiter.wait(DEADLINE_S) == 2
            nudge = waiter.stderr.read().decode()
        else:
            until(lambda: os.path.exists(queued), "codex queue was called")
            nudge = open(queued, encoding="utf-8").read().splitlines()[4]
        assert context(call(place, host, "UserPromptSubmit", host, prompt=nudge), "UserPromptSubmit") == "do this too", host
    call(place, "gemini", "BeforeAgent", "g", prompt="x")
    place.ok("submit", "-s", "g", "do this too")
    holder = place.hold()
    assert call(place, "gemini", "AfterAgent", "g", words=("--budget", "500ms")) == {}
    end(holder, signal.SIGKILL)
    until(lambda: place.ok("status", "-s", "g", "--json").json["state"] == "idle", "the turn is over")


def codex_waits(place, *wrapper):
    """Makes an idle session of Codex, whose hooks a wrapper may call. Returns the agent, a function that calls a hook, and the id of the process that waits."""
    agent = place.start(command=["sleep", "600"])

    def hook(event, **fields):
        text = json.dumps({"session_id": "s", "hook_event_name": event, **fields})
        command = [*wrapper, TIDINGS, "hook", "--budget", "60s", "--owner", str(agent.pid), "--wake", "codex"]
        return json.loads(subprocess.run(command, input=text.encode(), env=place.env, check=True, stdout=subprocess.PIPE, timeout=DEADLINE_S).stdout)
    hook("UserPromptSubmit", prompt="x")
    assert hook("Stop") == {}
    return agent, hook, until(lambda: waiter_of(place), "it waits")


def waiter_of(place):
    return next((int(name.split(".")[1]) for name in os.listdir(place.store) if name.startswith("wake.")), None)


def test_agents_command_is_missing(place):
    """if the agent's command fails repeatedly, tidings tries it after growing pauses, and the log says so once; the process that tries ends with the agent"""
    tried = os.path.join(place.dir, "tried")
    put_command(place, "codex", f"echo >> {tried}\nexit 127")
    agent, _, waiter = codex_waits(place)
    for number in range(1, 4):
        until(lambda: place.ok("status", "-s", "s", "--json").json["state"] == "idle", "what was offered is declined")
        place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
        until(lambda: os.path.exists(tried) and os.path.getsize(tried) == number, "it is tried")
    [line] = log(place)
    assert "codex queue failed with status 127" in line and "growing pauses" in line, line
    end(agent, signal.SIGKILL)
    until(lambda: gone(waiter), "it has ended with the agent")
    assert not waiting(place, agent.pid)


def test_child_signal_is_ignored(place):
    """the failure of the agent's command is noticed in an agent that ignores SIGCHLD"""
    put_command(place, "codex", "exit 3")
    agent, _, _ = codex_waits(place, "env", "--ignore-signal=CHLD")
    place.ok("submit", "-s", "s", "--id", "m1", "a message")
    until(lambda: any("codex queue failed with status 3" in line for line in log(place)), "the failure is logged")
    end(agent, signal.SIGKILL)


def sleeps_without_limit(pid):
    """Returns whether the process sleeps in ppoll without a time limit, or whether the kernel hides that."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="utf-8") as file:
            words = file.read().split()
    except (PermissionError, FileNotFoundError):
        return True
    return words[0] in ("271", "73") and words[3] == "0x0"


def times_woken(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches:"))


def test_idle_is_never_woken(place):
    """a process that waits beside an idle agent sleeps without a time limit, and neither a notification that is not urgent nor another session's wakes it"""
    def goes_on_sleeping(pid):
        until(lambda: sleeps_without_limit(pid), "it sleeps without a limit")
        before = until(lambda: times_woken(pid), "it has slept")
        for number in range(10):
            place.ok("push", "-s", "s", f"not urgent {number}")
            place.ok("push", "-s", "other", "-l", "critical", f"to another session {number}")
        assert times_woken(pid) == before and sleeps_without_limit(pid)
    other_agent = place.start(command=["sleep", "600"])
    place.opened("other", owner=other_agent.pid)
    with open(transcript(place, "claude"), "w", encoding="utf-8"):
        pass
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter), "it waits")
    goes_on_sleeping(waiter.pid)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2 and log(place) == []
    with type(place)() as own:
        place = own
        place.opened("other", owner=other_agent.pid)
        agent, _, other = codex_waits(own)
        goes_on_sleeping(other)
        end(agent, signal.SIGKILL)
        until(lambda: gone(other), "it has ended with the agent")
        assert log(own) == []


def test_store_goes(place):
    """a process that waits notices that its store is deleted, and ends"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter) and sleeps_without_limit(waiter.pid), "it waits")
    for name in ("data.mdb", "lock.mdb", "shared"):  # not the folder, because it contains the log
        os.remove(os.path.join(place.store, name))
    assert waiter.wait(DEADLINE_S) == 0 and not waiting(place)
    [line] = log(place)
    assert "waiting ends: " in line, line


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def test_terminated(place):
    """the process that waits for Codex ends at SIGTERM, and leaves nothing"""
    agent, _, waiter = codex_waits(place)
    os.kill(waiter, signal.SIGTERM)
    until(lambda: gone(waiter), "it has ended")
    assert not waiting(place, agent.pid) and log(place) == []


def test_inherits_nothing(place):
    """a process that waits keeps open nothing that its hook has inherited, such as the lock of a `flock` around the hook: the next hook takes the lock"""
    agent, hook, _ = codex_waits(place, "flock", "--nonblock", os.path.join(place.dir, "lock"))
    hook("UserPromptSubmit", prompt="y")
    end(agent, signal.SIGKILL)


def test_asked_to_end_and_to_stay(place):
    """a process that waits, and reads late that it should end, stays if another waiter has ended in its favour meanwhile"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    call(place, "claude", "Stop")
    waiter = rewake(place)
    until(lambda: waits(place, waiter) and sleeps_without_limit(waiter.pid), "it waits, and has no lock of the store that others need")
    waiter.send_signal(signal.SIGSTOP)
    until(lambda: is_stopped(waiter.pid), "it is stopped")
    call(place, "claude", "SessionEnd", reason="clear")
    assert rewake(place).wait(DEADLINE_S) == 0
    waiter.send_signal(signal.SIGCONT)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert waiter.wait(DEADLINE_S) == 2 and log(place) == []
    with type(place)() as own:
        agent, hook, other = codex_waits(own)
        until(lambda: sleeps_without_limit(other), "it has no lock of the store that others need")
        os.kill(other, signal.SIGSTOP)
        until(lambda: is_stopped(other), "it is stopped")
        hook("UserPromptSubmit", prompt="x")
        hook("Interrupt")
        hook("UserPromptSubmit", prompt="y")
        assert hook("Stop") == {}
        [fifo] = waiting(own, agent.pid)
        with open(fifo, "r+b", buffering=0) as words:
            os.kill(other, signal.SIGCONT)
            until(lambda: not unread(words), "it has heard both words")
            words.write(b"s")
            until(lambda: not unread(words) or gone(other), "it hears more")
        assert not gone(other) and waiting(own, agent.pid) == [fifo] and log(own) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
