#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings stop`: another process asks the session's host to end its turn."""
import json
import os
import sys

from kit import DEADLINE_S, main


def actions(place):
    """Returns the actions that the host gets."""
    return [action["type"] for action in place.event("wake", owner=os.getpid())["actions"]]


def test_stop(place):
    """stop asks the host that runs a turn to end it; then a message that was submitted starts the next turn"""
    place.opened()
    place.event("turn.started", owner=os.getpid())
    assert place.ok("stop", "-s", "s").said == f"tidings stop: test (pid {os.getpid()}) is asked to end the turn\n"
    place.ok("submit", "-s", "s", "--id", "m1", "Use the other branch.")
    assert place.ok("status", "-s", "s", "--json").json["stopping"] is True
    assert actions(place) == ["stop_turn"] and not actions(place)
    [action] = place.event("turn.aborted", owner=os.getpid())["actions"]
    assert action["type"] == "start_turn" and [message["id"] for message in action["messages"]] == ["m1"], action
    assert place.ok("status", "-s", "s", "--json").json["stopping"] is False


def test_stop_by_name(place):
    """stop ends only the turn that it has seen"""
    place.opened()
    place.ok("submit", "-s", "s", "--id", "m1", "x")
    assert "when it begins" in place.ok("stop", "-s", "s").said
    started = place.event("turn.started", {"messages": ["m1"]}, owner=os.getpid())
    assert [action["type"] for action in started["actions"]] == ["stop_turn"], started
    reply = place.ok("stop", "-s", "s", "--json").json
    assert reply["session"] == "s" and reply["status"]["messages"] == ["m1"] and not reply["actions"], reply
    place.event("turn.finished", owner=os.getpid())
    stop = json.dumps({"type": "turn.stop", "session": "s", "data": {"messages": ["m1"]}})
    place.event("turn.started", owner=os.getpid())
    place.ok("event", stdin=stop)
    assert not actions(place)


def test_stop_wakes(place):
    """stop wakes a script that waits, which prints the action"""
    place.opened()
    place.event("turn.started", owner=os.getpid())
    wait = place.start("wait", "-s", "s", "--owner", str(os.getpid()))
    place.ok("stop", "-s", "s")
    assert wait.communicate(timeout=DEADLINE_S)[0] == b"stop_turn\n" and wait.returncode == 0


def test_nothing_runs(place):
    """if no turn runs, stop says so; if the host has ended while its turn seems to run, that is an error"""
    place.refused("stop", "-s", "s", says="there is no store")
    place.opened()
    assert place.ok("stop", "-s", "s").said == "tidings stop: no turn runs in session 's'\n"
    host = place.start(command=["sleep", "1000"])
    place.opened("t", owner=host.pid)
    place.event("turn.started", session="t", owner=host.pid)
    host.kill()
    host.wait()
    place.refused("stop", "-s", "t", says="no running host has session 't': nothing of it runs")
    place.refused("stop", "-s", "ss", says="the store has no session 'ss'.")
    place.refused("stop", "now", code=2, says="unexpected argument 'now'")


if __name__ == "__main__":
    sys.exit(main(globals()))
