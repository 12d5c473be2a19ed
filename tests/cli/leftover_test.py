#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what becomes of the processes that the command of `tidings run` leaves running."""
import os
import signal
import sys

from kit import main, until
from run_test import S, read


def test_left_behind(place):
    """processes that the command leaves do not keep run from ending"""
    place.ok("run", *S, "--", "sh", "-c", "sleep 1000 & echo $! >pid; echo out")
    with open(os.path.join(place.work, "pid"), encoding="utf-8") as file:
        os.kill(int(file.read()), signal.SIGKILL)  # it still runs


def test_left_behind_prints(place):
    """processes that the command leaves may print on: the log gets it, up to its limit, and releases its lock; run does not wait until they are silent"""
    gate = os.path.join(place.dir, "gate")
    os.mkfifo(gate)
    script = f"(cat {gate}; echo late; echo later >&2; cat {gate}; seq 1000; touch mark) & echo out"
    for number, words in enumerate(((), ("--quiet",), ("--detach",))):
        said = place.ok("run", *S, "--log-limit", "1K", *words, "--", "sh", "-c", script)
        assert (said.out == b"out\n") == (not words), said
        [handle] = {item["handle"] for item in until(lambda: len(place.pending()) > number and place.pending(), "the report")[number:]}
        assert place.ok("log", *S, "--follow", handle).text == "out\n"
        path = os.path.join(place.logs, f"{handle}.log")
        open(gate, "w", encoding="utf-8").close()
        until(lambda: {b"late", b"later"} <= set(read(path).split()), "both streams")  # pylint: disable=cell-var-from-loop
        open(gate, "w", encoding="utf-8").close()
        until(lambda: os.path.exists(os.path.join(place.work, "mark")), "the rest of the command")
        log = until(lambda: b"the log ends here" in read(path) and read(path), "the limit")  # pylint: disable=cell-var-from-loop
        assert log.startswith(b"out\n") and len(log) < 1200, log
        os.remove(os.path.join(place.work, "mark"))
    place.ok("run", *S, "--log-limit", "1K", "--quiet", "--", "sh", "-c", "yes & echo $! >pid")
    with open(os.path.join(place.work, "pid"), encoding="utf-8") as file:
        os.kill(int(file.read()), signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(globals()))
