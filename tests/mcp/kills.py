#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py [COUNT]: kills the agent, the wrapper and the wrapped server COUNT times each, at random moments, while notifications are pushed.

Nothing may be lost, and nothing may be shown twice: neither to one agent, nor to the next one if the first had continued after reading it. Prints
TAP, and the counts in lines that begin with "# sum: ".
"""
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import DEADLINE_S, TIDINGS, main, until  # pylint: disable=wrong-import-position

from host import PYTHON, SERVER, Host  # pylint: disable=wrong-import-position

COUNT = int(sys.argv.pop()) if len(sys.argv) > 1 and sys.argv[-1].isdigit() else 12
AGENT = [*PYTHON, os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent.py")]
LONGEST_S, LONGEST_PAUSE_S, PAUSE_S = 0.03, 0.1, 0.001


class Pusher(threading.Thread):
    """Pushes numbers to a folder until it is stopped, several at once. A single process makes all pushes, so that they take little CPU time."""

    def __init__(self, place):
        super().__init__()
        self.count, self.stopped = 0, threading.Event()
        words = ("feed", "--recipe", "any", "--per-minute", "0", "--to", f"folder:{place.work}")
        self.feed = place.start(*words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.start()

    def run(self):
        while not self.stopped.wait(random.uniform(0, LONGEST_PAUSE_S)):
            for _ in range(random.randrange(1, 4)):
                self.feed.stdin.write(b'{"message": "number %d."}\n' % self.count)
                self.count += 1
            self.feed.stdin.flush()

    def stop(self):
        """Waits until all numbers are stored, and returns their count."""
        self.stopped.set()
        self.join()
        self.feed.stdin.close()
        assert self.feed.wait(DEADLINE_S) == 0
        return self.count


def waiting(place):
    """Returns whether a notification waits or is leased in any session."""
    sessions = place.ok("sessions", "--json").json["sessions"]
    return any(s["pending"] for s in sessions) or any(
        place.ok("status", "-s", s["session"], "--json").json["leased"] for s in sessions)


def report(what, kills, pushed, seen):
    lost = [n for n in range(pushed) if not seen.get(n)]
    twice = [n for n in range(pushed) if seen.get(n, 0) > 1]
    print(f"# sum: {what}: {kills} kills, {pushed} notifications, lost {len(lost)}, twice {len(twice)}", flush=True)
    assert not lost and not twice, (lost[:10], twice[:10])


def numbers_of(line):
    return [int(n) for n in re.findall(rb"number (\d+)\.", line)]


def survive(place, what, victim, command=SERVER, tool="echo"):
    """Calls tools like an agent, while its wrapper, or a server, is killed repeatedly."""
    seen, kills = {}, 0
    pusher = Pusher(place)
    while kills < COUNT:
        host = Host(place, command)
        timer = threading.Timer(random.uniform(0, LONGEST_S), lambda host=host: kill(victim(host.process.pid)))
        if not take(seen, host.call(tool)):
            continue
        timer.start()
        try:
            while take(seen, pause(host.call(tool))):
                pass
        except BrokenPipeError:
            take(seen, host.process.stdout.read())
        timer.join()
        kills += 1
        host.process.wait()
    pushed = pusher.stop()
    host = Host(place, command)
    while len(seen) < pushed:
        take(seen, pause(host.call(tool)))
    until(lambda: take(seen, host.call(tool)) and not waiting(place), "the last commit")
    assert host.end() == 0
    report(what, kills, pushed, seen)


def pause(line):
    """Waits a moment if a result has no notifications, so that the victim works on results that have some."""
    if line and not numbers_of(line):
        time.sleep(PAUSE_S)
    return line


def take(seen, line):
    for n in numbers_of(line):
        seen[n] = seen.get(n, 0) + 1
    return line


def kill(pid):
    try:
        if pid:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def server_of(pid):
    """Returns the wrapper's child that is not a process of tidings."""
    for child in children(pid):
        with open(f"/proc/{child}/cmdline", "rb") as file:
            if b"echo_server" in file.read():
                return child
    return 0


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def test_wrapper(place):
    """the wrapper is killed: nothing is lost, and nothing is shown twice"""
    survive(place, "wrapper", lambda pid: pid)


def test_server(place):
    """the server is killed: the same"""
    survive(place, "server", server_of)


def test_own_server(place):
    """tidings itself is the server, and is killed: the same"""
    survive(place, "own server", lambda pid: pid, (), "news")


def test_agent(place):
    """the agent is killed: a notification is shown to the next agent only if the killed one had not continued after reading it"""
    transcripts, kills = [], 0
    pusher = Pusher(place)
    while kills <= COUNT:
        transcripts.append(os.path.join(place.dir, f"transcript-{kills}"))
        agent = subprocess.Popen([*AGENT, transcripts[-1], TIDINGS, "mcp", "--", *SERVER], cwd=place.work, env=place.env)
        place.started.append(agent)
        begun = kills == COUNT or random.random() < 0.8
        if begun:
            until(lambda: os.path.getsize(transcripts[-1]) if os.path.exists(transcripts[-1]) else agent.poll(), "the first notification")
        if kills == COUNT:
            break
        time.sleep(random.uniform(0, LONGEST_S))
        agent.kill()
        agent.wait()
        kills += 1
    pushed = pusher.stop()
    until(lambda: not waiting(place), "everything")
    agent.kill()
    agent.wait()
    seen = {}
    for number, path in enumerate(transcripts):
        if not os.path.exists(path):
            continue
        with open(path, encoding="ascii") as file:
            words = [line.split() for line in file]
        for n in {int(n) for _, n in words}:
            marks = [word for word, m in words if int(m) == n]
            assert marks.count("read") == 1, ("twice to one agent", n, marks)
            if "went" in marks or number == len(transcripts) - 1:
                seen.setdefault(n, []).append("went")
            elif "going" in marks:
                seen.setdefault(n, []).append("either")
    counted = {n: max(marks.count("went"), 1) for n, marks in seen.items()}
    report("agent", kills, pushed, counted)


if __name__ == "__main__":
    sys.exit(main(globals(), at_once=2))
