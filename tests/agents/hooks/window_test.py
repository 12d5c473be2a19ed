#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings hook` of an agent whose hooks a daemon calls: a session belongs to the window that shows it, and nobody wakes a session whose window was closed."""
import json
import os
import pty
import signal
import socket
import subprocess
import sys

from calls import context, log, put_command, transcript
from kit import TIDINGS, end, main, until
from wake_test import waiting

DAEMON = """import json, os, socket, subprocess, sys, threading
files = {}
def start(command, folder):
    env = {name: os.environ[name] for name in ("HOME", "PATH")}
    server = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number, method in enumerate(("initialize", "notifications/initialized", "tools/list")):
        asks = not method.startswith("notifications")
        server.stdin.write(json.dumps({"method": method, "params": {"protocolVersion": "2025-06-18"}, **({"id": number} if asks else {})}).encode() + b"\\n")
        server.stdin.flush()
        answer = asks and json.loads(server.stdout.readline())["result"]
    assert answer == {"tools": []} and server.stdout.read() == b"" and server.wait() == 0
def write():
    for line in sys.stdin:
        if line[0] == "+": files[line[1:-1]] = open(line[1:-1], "a")
        if line[0] == "-": files.pop(line[1:-1])
        if line[0] == "*": start(*json.loads(line[1:]))
        if line[0] == "&": server = subprocess.Popen([line[1:-1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        print(line[0], flush=True)
threading.Thread(target=write, daemon=True).start()
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[3].removeprefix("unix://"))
server.listen()
print("listens", flush=True)
windows = []
while True:
    windows.append(server.accept()[0])
    windows[-1].sendall(b"hello")
"""
WINDOW = """import os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(sys.argv[1])
server.recv(5)
print("shows", flush=True)
while os.read(0, 100):
    print("typed", flush=True)
"""


class Codex:
    """A daemon and the windows that are connected to it."""

    wake = ("--wake",)

    def __init__(self, place):
        self.place, self.socket = place, os.path.join(place.dir, "control.sock")
        self.daemon = place.start(command=[sys.executable, "-c", DAEMON, "app-server", "--listen", f"unix://{self.socket}"], stdin=subprocess.PIPE)
        assert self.daemon.stdout.readline() == b"listens\n"

    def window(self, folder=None, terminal=subprocess.PIPE):
        window = self.place.start(command=[sys.executable, "-c", WINDOW, self.socket], cwd=folder or self.place.work, stdin=terminal)
        assert window.stdout.readline() == b"shows\n"
        return window

    def rollout(self, signs, session="s", folder=None):
        """Lets the daemon open (+) or close (-) the file in which it keeps the session, or start its MCP server, in the session's folder, and wait for its end (*)."""
        server = json.dumps([[TIDINGS, "mcp", "--no-tools"], folder or self.place.work])
        self.daemon.stdin.write("".join(f"{sign}{server if sign == '*' else transcript(self.place, 'codex', session)}\n" for sign in signs).encode())
        self.daemon.stdin.flush()
        for sign in signs:
            assert self.daemon.stdout.readline() == f"{sign}\n".encode()

    def hook(self, event, session="s", **fields):
        text = json.dumps({"session_id": session, "hook_event_name": event, "cwd": self.place.work, "transcript_path": transcript(self.place, "codex", session), **fields})
        return self.place.ok("hook", "--budget", "60s", "--owner", str(self.daemon.pid), *self.wake, "codex", stdin=text).json

    def turn(self, session="s", **fields):
        self.hook("SessionStart", session, source="startup", **fields)
        self.hook("UserPromptSubmit", session, prompt="x")
        assert self.hook("Stop", session) == {}

    def owner(self, session="s"):
        """Returns the session's process, or None if it has ended."""
        attachment = self.place.ok("status", "-s", session, "--json").json["attachment"]
        return attachment["pid"] if attachment["alive"] else None

    def waits(self, window):
        """Returns how many processes wait for sessions of that window."""
        return len([name for name in waiting(self.place, window.pid) if not name.endswith(".window")])


def test_closed(place):
    """when its window was closed, nobody waits for the session, though the daemon lives; the turn that still runs goes on, and the next window gets the session"""
    codex = Codex(place)
    window = codex.window()
    codex.turn()
    assert codex.owner() == window.pid and codex.waits(window) == 1
    codex.hook("UserPromptSubmit", prompt="y")
    end(window, signal.SIGKILL)
    until(lambda: not codex.waits(window), "nobody waits")
    assert codex.owner() is None and codex.daemon.poll() is None
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert codex.hook("Stop")["decision"] == "block" and codex.hook("Stop") == {}
    assert not waiting(place, window.pid) and not codex.waits(codex.daemon)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is fuller")
    other = codex.window()
    assert "the disk is fuller" in context(codex.hook("UserPromptSubmit", prompt="z"), "UserPromptSubmit")
    assert codex.hook("Stop") == {} and codex.owner() == other.pid and codex.waits(other) == 1
    assert log(place) == []


def test_another_one_lives(place):
    """when a window is closed, the process that waits for its session ends, but not the one that waits for the session of another window"""
    codex = Codex(place)
    one = codex.window()
    codex.turn("one")
    other = codex.window()
    codex.turn("other")
    assert (codex.owner("one"), codex.owner("other")) == (one.pid, other.pid)
    end(one, signal.SIGKILL)
    until(lambda: not codex.waits(one), "nobody waits")
    assert codex.hook("UserPromptSubmit", "one", prompt="by no person") == {} and codex.hook("Stop", "one") == {}
    assert not codex.waits(codex.daemon) and codex.owner("other") == other.pid and codex.waits(other) == 1
    assert log(place) == []


def test_new_session(place):
    """a window that begins another session does not show the earlier one any more; a prompt there shows the earlier one again"""
    codex = Codex(place)
    ours, terminal = pty.openpty()
    window = codex.window(terminal=terminal)
    codex.turn("one")
    place.ok("push", "-s", "one", "not urgent")
    codex.hook("SessionStart", "other", source="startup")
    assert place.messages("one") == [] and place.messages("other") == ["not urgent"], "what waits passes on"
    assert "not urgent" in context(codex.hook("UserPromptSubmit", "other", prompt="x"), "UserPromptSubmit")
    assert codex.hook("Stop", "other") == {}
    until(lambda: codex.waits(window) == 1, "one process has ended")
    assert codex.hook("PostToolUse", "one", tool_name="ls", tool_use_id="c1", tool_input={}) == {} and codex.hook("Stop", "one") == {}
    assert codex.waits(window) == 1  # for the other one
    assert codex.owner("other") == window.pid
    os.write(ours, b"a person types\n")
    assert window.stdout.readline() == b"typed\n"
    codex.hook("UserPromptSubmit", "one", prompt="x")
    assert codex.hook("Stop", "one") == {} and codex.owner("one") == window.pid
    until(lambda: codex.waits(window) == 1, "one process has ended")
    assert log(place) == []


def test_chosen(place):
    """if there are several windows, the one in the session's folder gets the session; a window in which a person types later does not get it"""
    codex = Codex(place)
    window = codex.window()
    ours, terminal = pty.openpty()
    elsewhere = codex.window(folder=place.dir, terminal=terminal)
    os.write(ours, b"a person types\n")
    assert elsewhere.stdout.readline() == b"typed\n"
    codex.turn()
    assert codex.owner() == window.pid
    os.utime(f"/proc/{elsewhere.pid}/fd/0")
    codex.hook("UserPromptSubmit", prompt="y")
    assert codex.owner() == window.pid and log(place) == []


def test_session_ends(place):
    """a session that has ended leaves no record of its window"""
    codex = Codex(place)
    window = codex.window()
    codex.turn()
    assert [name for name in waiting(place, codex.daemon.pid) if name.endswith(".window")]
    codex.hook("SessionEnd")
    assert not waiting(place, codex.daemon.pid)
    until(lambda: not codex.waits(window), "nobody waits")
    assert log(place) == []


def test_ends_in_a_turn(place):
    """a window is closed while a turn runs, and its session ends before the turn does: nobody waits for the session under the daemon"""
    codex = Codex(place)
    window = codex.window()
    codex.turn()
    codex.hook("UserPromptSubmit", prompt="y")
    end(window, signal.SIGKILL)
    until(lambda: not codex.waits(window), "nobody waits")
    codex.hook("SessionEnd")
    assert codex.hook("Stop") == {} and not codex.waits(codex.daemon)
    assert log(place) == []


def queued(place, session="s"):
    """Puts a `codex` into PATH; returns a function that waits until `codex queue` has been called, and returns the message."""
    called = os.path.join(place.dir, "queued")
    put_command(place, "codex", f'printf "%s\\n" "$@" > {called}.tmp && mv {called}.tmp {called}')

    def message():
        until(lambda: os.path.exists(called), "codex queue was called")
        words = open(called, encoding="utf-8").read().splitlines()
        assert words[:4] == ["queue", "--thread", session, "--message"], words
        os.remove(called)
        return words[4]
    return message


def apart(place):
    """Returns the processes of tidings that have left their hooks: all that have this place's home."""
    home, found = f"HOME={place.dir}".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if home in file.read().split(b"\0") and os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "tidings":
                    found.append(int(pid))
        except OSError:
            continue
    return found


def closed(place):
    """Makes a session whose window was closed, and for which a critical notification waits."""
    codex = Codex(place)
    codex.rollout("+")
    window = codex.window()
    codex.turn()
    end(window, signal.SIGKILL)
    until(lambda: not apart(place), "nobody waits")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    return codex


def test_resumed(place):
    """another window shows the session again, so the daemon closes the session's file and opens it again: a critical notification wakes the session before a prompt; then it is like any other session"""
    message = queued(place)
    codex = closed(place)
    other = codex.window()
    assert codex.hook("SessionEnd") == {}
    codex.rollout("-+")
    nudge = message()
    assert codex.owner() == other.pid and codex.waits(other) == 1 and len(apart(place)) == 1
    codex.hook("SessionStart", source="resume")
    assert "the disk is full" in context(codex.hook("UserPromptSubmit", prompt=nudge), "UserPromptSubmit")
    assert codex.hook("Stop") == {} and place.pending() == [] and codex.waits(other) == 1
    end(other, signal.SIGKILL)
    until(lambda: not apart(place), "nobody waits")
    assert log(place) == []


def test_resumed_with_a_prompt(place):
    """a prompt that comes before tidings notices the new window delivers the critical notification, which then does not wake the session"""
    codex = closed(place)
    other = codex.window()
    assert codex.hook("SessionEnd") == {}
    [watcher] = apart(place)
    os.kill(watcher, signal.SIGSTOP)
    codex.rollout("-+")
    codex.hook("SessionStart", source="resume")
    assert "the disk is full" in context(codex.hook("UserPromptSubmit", prompt="x"), "UserPromptSubmit")
    os.kill(watcher, signal.SIGCONT)
    until(lambda: codex.waits(other), "it waits")
    assert codex.hook("Stop") == {} and len(apart(place)) == 1 and place.pending() == [] and log(place) == []


def test_not_resumed(place):
    """nobody waits for a session that the daemon only unloads, that it reads again without a window, that is set up with --no-wake, or whose daemon ends"""
    def ends(signs):
        assert codex.hook("SessionEnd") == {} and apart(place)
        codex.rollout(signs)
        until(lambda: not apart(place), "nobody waits")
    codex = closed(place)
    ends("-+")
    other = codex.window()
    ends("-")
    codex.rollout("+")
    codex.wake = ()
    assert codex.hook("SessionEnd") == {} and not apart(place)
    codex.wake = ("--wake",)
    assert codex.hook("SessionEnd") == {} and apart(place)
    end(codex.daemon)
    until(lambda: not apart(place), "nobody waits")
    assert not codex.waits(other) and codex.owner() is None and log(place) == []


def test_no_window_is_seen(place):
    """if no window is connected, the daemon is the session's process"""
    codex = Codex(place)
    codex.turn()
    assert codex.owner() == codex.daemon.pid and codex.waits(codex.daemon) == 1
    assert log(place) == []


def test_by_tcp(place):
    """tidings does not see a window that is connected over TCP: the session belongs to the daemon"""
    codex = object.__new__(Codex)
    server = DAEMON.replace("AF_UNIX", "AF_INET").replace('sys.argv[3].removeprefix("unix://")', '("127.0.0.1", 0)').replace('print("listens"', "print(server.getsockname()[1]")
    codex.place, codex.daemon = place, place.start(command=[sys.executable, "-c", server, "app-server", "--listen", "ws://127.0.0.1:0"])
    port = int(codex.daemon.stdout.readline())
    window = place.start(command=[sys.executable, "-c", WINDOW.replace("AF_UNIX", "AF_INET").replace("sys.argv[1]", f'("127.0.0.1", {port})')], stdin=subprocess.PIPE)
    assert window.stdout.readline() == b"shows\n"
    codex.turn()
    assert codex.owner() == codex.daemon.pid and codex.waits(codex.daemon) == 1 and log(place) == []


def test_other_connections(place):
    """a process that is connected to nothing or to another server is no window"""
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.join(place.dir, "other.sock"))
    server.listen()
    codex = Codex(place)
    place.start(command=[sys.executable, "-c", WINDOW.replace("sys.argv[1]", repr(server.getsockname())), "x"], stdin=subprocess.PIPE)
    server.accept()
    codex.turn()
    assert codex.owner() == codex.daemon.pid and log(place) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
