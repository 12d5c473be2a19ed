#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""subscribe_kills.py [COUNT]: kills `tidings subscribe` COUNT times at random moments, and sometimes the server, while events happen and the
server drops, repeats, reorders, truncates and delays them. Each event must be one notification: none lost, none twice. Prints TAP.
"""
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import end, main, until  # pylint: disable=wrong-import-position

from events_kit import MINUTE, Events, numbers, saved  # pylint: disable=wrong-import-position

COUNT = int(sys.argv.pop()) if len(sys.argv) > 1 and sys.argv[-1].isdigit() else 4
SHORT = ("--heartbeat", "500ms")
LONGEST_S = 0.6
FAULTS = {"heartbeat_s": 0.1, "next_poll_ms": 0, "page": 3, "hold_s": 0.1, "drop": 0.05, "repeat": 0.3, "reorder": 0.3, "truncate": 0.03, "error": 0.03,
          "stall": 0.003, "stall_s": 3}


def survive(place, what, *options, **more):
    place.opened()
    events = Events(place, FAULTS, **more)
    process = events.subscribe(*MINUTE, *options, stderr=subprocess.DEVNULL)
    until(lambda: saved(place), "the first cursor")
    kills = servers = 0
    while kills < COUNT:
        for _ in range(random.randrange(1, 5)):
            events.set_count(events.count + random.randrange(1, 6))
            time.sleep(random.uniform(0, LONGEST_S / 4))
        if random.random() < 0.2 and events.process:
            end(events.process, signal.SIGKILL)
            events.listen()
            servers += 1
        process.kill()
        process.wait()
        kills += 1
        process = events.subscribe(*SHORT, *options, stderr=subprocess.DEVNULL)
        time.sleep(random.choice((0, random.uniform(0, LONGEST_S), 1.5)))
    events.set_faults(**{name: value for name, value in FAULTS.items() if value >= 1 or name.endswith("_s")})
    end(process)  # a new process, because this one may be in a long pause on a busy machine
    process = events.subscribe(*MINUTE, *options, stderr=subprocess.DEVNULL)
    until(lambda: len(set(numbers(place))) == events.count, f"all {events.count} events", 0.2)
    end(process)
    seen = numbers(place)
    lost = [n for n in range(events.count) if n not in seen]
    twice = len(seen) - len(set(seen))
    print(f"# sum: {what}: {kills} kills, {servers} of the server, {events.count} events, lost {len(lost)}, twice {twice}", flush=True)
    assert not lost and not twice, (lost[:10], twice)


def test_push(place):
    """a stream over HTTP: no event is lost, and none comes twice"""
    survive(place, "push over HTTP", "--mode", "push")


def test_poll(place):
    """polls over HTTP: the same"""
    survive(place, "poll over HTTP", "--mode", "poll")


def test_push_program(place):
    """a stream of a program: the same"""
    survive(place, "push over stdio", "--mode", "push", stdio=True)


def test_poll_program(place):
    """polls of a program: the same"""
    survive(place, "poll over stdio", "--mode", "poll", stdio=True)


if __name__ == "__main__":
    sys.exit(main(globals(), at_once=4))
