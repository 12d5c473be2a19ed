#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings queue`: waiting messages, and the changes that a person may make to them."""
import os
import sys

from kit import main


def waiting(place):
    return [(m["id"], m["state"], m["content"]) for m in place.ok("queue", "-s", "s", "--json").json["messages"]]


def busy(place, *messages):
    """Starts a turn of the host, and queues messages."""
    place.opened()
    place.event("turn.started", owner=os.getpid())
    for message in messages:
        place.ok("submit", "-s", "s", "--id", message, f"text of {message}")


def test_list(place):
    """queue lists the waiting messages with their text, with and without `list`"""
    place.refused("queue", "-s", "s")
    assert not os.path.exists(place.store), "asking makes no store"
    place.opened()
    assert place.ok("queue", "-s", "s").text == "No message waits.\n"
    busy(place, "m1")
    place.ok("submit", "-s", "s", "--id", "m2", "--trigger", "{}", "two\nlines\x1b[2J")
    text = place.ok("queue", "-s", "s").text
    assert text == "1  m1  queued\n    text of m1\n2  m2  queued, triggered\n    two\n    lines{U+001B}[2J\n", text
    assert place.ok("queue", "-s", "s", "list").text == text
    assert place.ok("queue", "-s", "s", "--json").json["count"] == 2


def test_change(place):
    """edit, move and cancel change the message that is named"""
    busy(place, "m1", "m2", "m3")
    assert place.ok("queue", "-s", "s", "edit", "m2", "zwei").out == b""
    place.ok("queue", "-s", "s", "edit", "m3", "-", stdin="drei\n")
    place.ok("queue", "-s", "s", "edit", "m3", "text of m3")
    place.ok("queue", "-s", "s", "move", "m3", "m1")
    place.ok("queue", "-s", "s", "move", "m1")
    assert waiting(place) == [("m3", "queued", "text of m3"), ("m2", "queued", "zwei"), ("m1", "queued", "text of m1")], waiting(place)
    assert place.ok("queue", "-s", "s", "cancel", "m2", "--json").json["status"]["state"] == "busy"
    assert [m[0] for m in waiting(place)] == ["m3", "m1"]


def test_redirect(place):
    """steer sends a message into the running turn, queue takes it out again"""
    busy(place, "m1", "m2")
    place.ok("queue", "-s", "s", "steer", "m2")
    assert [m[1] for m in waiting(place)] == ["queued", "steering"]
    place.ok("queue", "-s", "s", "queue", "m2")
    place.ok("queue", "-s", "s", "steer", "m1")
    text = place.ok("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()), stdin="x").text
    assert "text of m1" in text and "text of m2" not in text, text


def test_steer_idle(place):
    """a message that is steered while no turn runs waits for a turn of its own, and stderr says so"""
    busy(place, "m1", "m2")
    assert not place.ok("queue", "-s", "s", "steer", "m1").said
    place.event("turn.failed", owner=os.getpid())
    said = place.ok("queue", "-s", "s", "steer", "m2").said
    assert said == "tidings queue: no turn runs into which 'm2' could go; it waits for a turn of its own\n", said
    assert not place.ok("queue", "-s", "s", "queue", "m2").said and [m[1] for m in waiting(place)] == ["queued", "queued"]


def test_clear(place):
    """clear cancels all waiting messages, offered or not, and none that has started"""
    busy(place, "m1", "m2", "m3")
    place.ok("queue", "-s", "s", "steer", "m3")
    place.event("turn.finished", owner=os.getpid())  # m1 is offered
    assert place.ok("queue", "-s", "s", "clear").text == "3 cancelled.\n"
    assert waiting(place) == [] and place.ok("status", "-s", "s", "--json").json["state"] == "idle"
    assert place.ok("queue", "-s", "s", "clear", "--json").json == {"cancelled": 0, "gone": 0}
    place.ok("submit", "-s", "s", "--id", "m4", "x")
    place.event("turn.started", {"messages": ["m4"]}, owner=os.getpid())
    assert place.ok("queue", "-s", "s", "clear").text == "0 cancelled.\n"
    assert place.ok("explain", "-s", "s", "--message", "m4", "--json").json["state"] == "fired"


def test_wrong(place):
    """wrong actions are refused"""
    busy(place, "m1")
    for words, says in ((["jump"], "'jump' is not one of list, edit"), (["edit", "m1"], "an id and a text are missing"), (["cancel"], "the id of a message is missing"),
                        (["steer", "m1", "m2"], "unexpected argument 'm2'"), (["clear", "m1"], "unexpected argument 'm1'")):
        place.refused("queue", "-s", "s", *words, code=2, says=says)
    for action in ("cancel", "move", "steer", "queue"):
        place.refused("queue", "-s", "s", action, "m9", says=["TIDINGS_E_NOT_FOUND", "m9"])
    place.refused("queue", "-s", "s", "edit", "m1", "", says="data.content")
    place.refused("queue", "-s", "s", "cancel", b"\xff", says="not UTF-8")
    place.refused("queue", "-s", "s", "edit", "m1", "-", stdin="", says="stdin: it is empty")
    assert waiting(place) == [("m1", "queued", "text of m1")]


if __name__ == "__main__":
    sys.exit(main(globals()))
