#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests a `tidings hook` that gets SIGTERM, or that uses too much CPU time."""
import json
import os
import signal
import subprocess
import sys

from calls import ALL_FIELDS, bytes_read, call, context, full_pipe, log, stuck_opener, transcript
from kit import DEADLINE_S, main, until
from wake_test import sleeps_without_limit


def begin(place, *words, **more):
    return place.start("hook", "--owner", str(os.getpid()), *words, "claude", stdin=subprocess.PIPE, **more)


def prompt(place):
    return json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": place.work, "transcript_path": transcript(place, "claude", "s"), **ALL_FIELDS,
                       "prompt": "x"}).encode()


def test_terminated(place):
    """a hook that gets SIGTERM while nothing is leased ends at once; the next call delivers what it would have delivered"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    place.ok("push", "-s", "s", "the disk is full")
    with stuck_opener(place):
        hook = begin(place, "--budget", "60s")
        hook.stdin.write(prompt(place))
        hook.stdin.close()
        until(lambda: bytes_read(hook) > os.path.getsize(os.environ["TIDINGS_PLUGIN"]), "it has read the plugin, and opens the store")
        hook.terminate()
        assert hook.wait(DEADLINE_S) == -signal.SIGTERM
    assert "the disk is full" in context(call(place, "claude", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")


def test_terminated_with_notifications(place):
    """a hook that gets SIGTERM while nobody reads its answer ends, and its notifications are pending again"""
    call(place, "claude", "UserPromptSubmit", prompt="x")
    place.ok("push", "-s", "s", "the disk is full")
    out, full = full_pipe()
    hook = begin(place, "--budget", "60s", stdout=full)
    os.close(full)
    hook.stdin.write(prompt(place))
    hook.stdin.close()
    until(lambda: place.ok("status", "-s", "s", "--json").json["leased"] and sleeps_without_limit(hook.pid), "it has taken it, and waits for a reader")
    hook.terminate()
    assert hook.wait(DEADLINE_S) == 0
    with open(out, "rb") as answer:
        assert not answer.read().strip()
    [line] = log(place)
    assert "cannot write to stdout: Interrupted" in line and place.messages() == ["the disk is full"], line
    assert "the disk is full" in context(call(place, "claude", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")


def test_cpu_limit(place):
    """a hook that has used all its CPU time answers {}, ends with status 0, and says so in the log"""
    hook = begin(place)
    until(lambda: "SigCgt" in open(f"/proc/{hook.pid}/status", encoding="utf-8").read()
          and int(next(line.split()[1] for line in open(f"/proc/{hook.pid}/status", encoding="utf-8") if line.startswith("SigCgt")), 16) >> (signal.SIGXCPU - 1) & 1, "it has a limit")
    with open(f"/proc/{hook.pid}/limits", encoding="utf-8") as limits:
        assert next(line for line in limits if line.startswith("Max cpu time")).split()[3] == "6"
    hook.send_signal(signal.SIGXCPU)
    assert hook.wait(DEADLINE_S) == 0 and hook.stdout.read() == b"{}\n"
    [line] = log(place)
    assert "has used 6 s of CPU" in line, line


if __name__ == "__main__":
    sys.exit(main(globals()))
