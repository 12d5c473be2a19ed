#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that `submit`, an urgent `push`, `status` and `doctor` say so if nothing wakes an idle agent, and otherwise do not."""
import os
import signal
import subprocess
import sys

from calls import HOSTS, call
from kit import end, main, until
from owner_test import body, hook

TITLES = {"codex": "Codex CLI", "claude": "Claude Code", "gemini": "Gemini CLI", "qwen": "Qwen Code", "copilot": "GitHub Copilot CLI"}
CANNOT, NOTHING_WAITS = "{} cannot be woken while it idles", "nothing waits to wake this {} (it has no terminal, is set up with --no-wake, or had no prompt yet)"
NOTHING_WAITS_FOR_TASKS = "nothing waits to wake this Qwen Code (it has no terminal, is set up with --no-wake, runs no scheduled tasks, is beside `qwen serve`, or had no prompt yet)"


def idle(place, host, session):
    prompt, _, stop, _ = HOSTS[host]
    call(place, host, "SessionStart", session, source="startup")
    call(place, host, prompt, session, prompt="x")
    call(place, host, stop, session)


def said(place, *words):
    return place.ok(*words).said.strip().partition(": ")[2]


def expect(place, session, why):
    """Checks that each command says `why`, or nothing if `why` is empty; a push that is not urgent says nothing."""
    tail = ": this waits for the next prompt"
    assert said(place, "push", "-s", session, "it rains") == ""
    critical = said(place, "push", "-s", session, "-l", "critical", "it pours")
    assert critical == (why + tail if why else ""), critical
    assert place.ok("status", "-s", session, "--json").json["not_woken"] == (why or None)
    assert (f"asleep    {why}; the next prompt is the next turn" in place.ok("status", "-s", session).text) == bool(why)
    assert (f"session {session}: {why}: messages and urgent notifications wait for the next prompt" in place.run("doctor").text) == bool(why)
    assert said(place, "submit", "-s", session, "--id", "m", "now") == (why + ": this starts after the next turn that a person begins" if why else "")
    assert said(place, "submit", "-s", session, "--cancel", "m") == ""


def test_cannot_be_woken(place):
    """the commands say that an agent cannot be woken, or that nothing waits to wake it"""
    for host, title in TITLES.items():
        idle(place, host, host)
        why = NOTHING_WAITS_FOR_TASKS if host == "qwen" else NOTHING_WAITS.format(title) if host in ("codex", "claude") else CANNOT.format(title)
        expect(place, host, why)
        place.ok("submit", "-s", host, "later")
        now = place.ok("status", "-s", host, "--json").json
        assert (now["state"], now["not_woken"]) == ("starting", None if host == "claude" else why), (now, "also while a message is offered, unless the process that was offered it has ended by waking the agent")
        assert said(place, "submit", "-s", host, "more") == ("" if host == "claude" else why + ": this starts after the next turn that a person begins")


def test_busy(place):
    """during a turn the commands say nothing, because the queued message becomes the next turn"""
    call(place, "gemini", "BeforeAgent", prompt="x")
    expect(place, "s", "")


def test_unknown(place):
    """submit says nothing if the host is unknown or has ended, or if the session has no host"""
    place.opened("other")
    assert place.ok("submit", "-s", "other", "x").said == "" and place.ok("submit", "-s", "none", "x").said == ""
    agent = place.start(command=["sleep", "1000"])
    place.event("session.opened", {"cwd": place.work, "host": "Gemini CLI"}, "ended", agent.pid)
    end(agent, signal.SIGKILL)
    assert place.ok("submit", "-s", "ended", "x").said == ""


def test_somebody_waits(place):
    """while a process waits to wake the agent, status says nothing; after that process has ended, status says that nothing waits"""
    place.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    idle(place, "claude", "s")
    waiter = place.start(command=[*hook("--wait", "--owner", str(os.getpid()), "claude")], stdin=subprocess.PIPE)
    waiter.stdin.write(body(place, "Stop"))
    waiter.stdin.close()
    until(lambda: not place.ok("status", "-s", "s", "--json").json["not_woken"], "it waits")
    assert "asleep" not in place.ok("status", "-s", "s").text
    end(waiter)
    assert place.ok("status", "-s", "s", "--json").json["not_woken"] == NOTHING_WAITS.format("Claude Code")


if __name__ == "__main__":
    sys.exit(main(globals()))
