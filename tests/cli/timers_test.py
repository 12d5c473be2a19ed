#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests notifications and messages for later (`--in`, `--at`, `tidings remind`), and waiting processes when the clock is set or the machine has
slept."""
import datetime
import json
import os
import sys
import time

from kit import DEADLINE_S, Skip, main, until

MINE = ["--owner", str(os.getpid())]


def stamp(text):
    """Converts a time from a query to seconds."""
    return datetime.datetime.strptime(text.split(".")[0].rstrip("Z"), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=datetime.timezone.utc).timestamp()


def due(place, *words, **more):
    place.ok("push", "-s", "t", *words, "x", **more)
    item = place.ok("pending", "-s", "t", "--json").json["items"][-1]
    return stamp(item["due_at"]) if "due_at" in item else None


def test_times(place):
    """--in and --at take durations, times of day, dates, zones and seconds; a time in the past is due at once; other texts are refused"""
    now = time.time()
    assert now + 1190 <= due(place, "--in", "20m") <= time.time() + 1210
    assert due(place, "--at", "2099-11-27T15:40:00Z") == datetime.datetime(2099, 11, 27, 15, 40, tzinfo=datetime.timezone.utc).timestamp()
    assert due(place, "--at", "2099-11-27 15:40+01:30") == datetime.datetime(2099, 11, 27, 14, 10, tzinfo=datetime.timezone.utc).timestamp()
    assert due(place, "--at", "2099-11-27 15:40", env={"TZ": "Europe/Berlin"}) == datetime.datetime(2099, 11, 27, 14, 40, tzinfo=datetime.timezone.utc).timestamp()
    assert due(place, "--at", "@4102444800") == 4102444800
    of_day = due(place, "--at", "00:00", env={"TZ": "UTC"})
    assert 0 < of_day - now <= 86460 and of_day % 86400 == 0, of_day
    assert due(place, "--at", "2001-01-01") is None and due(place, "--in", "0") is None
    for wrong in ("noon", "25:00", "2026-13-01", "2027-02-29", "2099-11-31T10:00:00Z", "2026-11-27 15", "12:00Z", "@", "@-5", "2026-11-27T15:40:00X", "", "9" * 80):
        place.refused("push", "-s", "t", "--at", wrong, "x", code=2, says=f"--at: '{wrong}' is no time")
    place.refused("push", "-s", "t", "--in", "soon", "x", code=2, says="--in: 'soon' is not a duration")
    place.refused("push", "-s", "t", "--in", "5m", "--at", "12:00", "x", code=2, says="exclude each other")
    place.refused("submit", "-s", "t", "--steer", "--in", "5m", "x", code=2, says="excludes --in and --at")
    place.refused("submit", "-s", "t", "--in", "5m", "--cancel", "m1", code=2, says="are for a new message")
    place.refused("remind", "-s", "t", "x", code=2, says="when?")


def test_not_before(place):
    """a notification for later is pending, but no carrier shows it; explain says what it waits for"""
    place.opened()
    said = place.ok("remind", "-s", "s", "--in", "2h", "Look at the CI.").text
    assert said.startswith("reminds at "), said
    assert place.messages("s") == ["Look at the CI."]
    assert "Look at the CI." not in place.ok("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin="carrier").text
    item = place.pending("s")[0]
    text = place.ok("explain", "-s", "s", item["id"]).text
    assert "It is for " in text and "It waits for that time." in text, text
    place.ok("remind", "-s", "s", "--at", "@1000000000", "This is over.")
    assert "This is over." in place.ok("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin="carrier").text


def test_key(place):
    """a reminder replaces one with the same key that is not due yet, also in a mailbox; a silent push withdraws it"""
    place.opened()
    for session in ("s", "box:later"):
        words = ("--to", session) if ":" in session else ("-s", session)
        for hours in ("2h", "1h"):
            place.ok("remind", *words, "--in", hours, "--key", "k", f"in {hours}")
        place.ok("remind", *words, "--in", "2h", "--key", "other", "another")
    place.ok("box", "join", "later", "-s", "s")
    assert "in 1h" not in place.ok("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin="carrier").text
    assert sorted(place.messages("s")) == ["another", "in 1h"], place.messages("s")
    place.ok("push", "-s", "s", "-k", "timer.over", "--key", "k", "--activate", "silent", "The pull request is merged.")
    place.refused("push", "-s", "s", "--activate", "silent", "x", says="data.key: missing")
    assert place.ok("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin="carrier").text == "carrier"
    assert place.messages("s") == ["another"]


def test_mailbox(place):
    """notifications and messages for later wait in a mailbox, too, and keep their time when a session collects them"""
    place.ok("remind", "--to", "box:ci", "--at", "2099-01-01", "Happy new year.")
    place.ok("submit", "--to", "box:ci", "--id", "m1", "--at", "2099-01-02", "Clean up.")
    assert "2099-01-01" in json.dumps(place.ok("box", "show", "ci", "--json").json)
    place.opened()
    place.ok("box", "join", "ci", "-s", "s")
    assert [item["due_at"][:10] for item in place.pending("s")] == ["2099-01-01"]
    queue = place.ok("queue", "-s", "s", "--json").json["messages"]
    assert [(row["id"], row["due_at"][:10]) for row in queue] == [("m1", "2099-01-02")]
    assert "no turn starts with it before" in place.ok("explain", "-s", "s", "--message", "m1").text.lower()
    assert place.refused("wait", "-s", "s", *MINE, "--timeout", "0").out == b""


def test_due_wakes(place):
    """a process that waits for the session is woken when a message is due, by the kernel's clock"""
    place.opened()
    process = place.start("wait", "-s", "s", *MINE)
    place.ok("submit", "-s", "s", "--id", "m1", "--in", "1500ms", "The rate limit is over: go on.")
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0 and out.decode().startswith("start_turn m1\n"), (out, err)


class Alarm:
    """A waiter whose clock and alarm the test controls."""

    def __init__(self, place):
        if "TIDINGS_CLI_ALARM" not in os.environ:
            raise Skip("a library cannot be preloaded under this sanitizer")
        self.ahead, self.fifo = os.path.join(place.dir, "ahead"), os.path.join(place.dir, "alarm")
        os.mkfifo(self.fifo)
        self.step(0)
        self.env = {**place.env, "LD_PRELOAD": os.environ["TIDINGS_CLI_ALARM"], "FAKE_AHEAD": self.ahead, "FAKE_ALARM": self.fifo}

    def step(self, seconds):
        with open(self.ahead + ".new", "w", encoding="ascii") as file:
            file.write(str(seconds * 1000))
        os.rename(self.ahead + ".new", self.ahead)

    def settings(self):
        try:
            with open(self.fifo + ".log", encoding="ascii") as file:
                return [tuple(map(int, line.split())) for line in file]
        except FileNotFoundError:
            return []

    def fire(self):
        """Wakes the waiter like the kernel when the clock is set, or when the time has come while the machine slept."""
        fd = os.open(self.fifo, os.O_WRONLY)
        os.write(fd, b"!")
        os.close(fd)


def test_suspend_and_clock_steps(place):
    """a waiter sleeps by the wall clock: it checks again when the clock is set, and time in a suspended machine counts"""
    alarm = Alarm(place)
    place.opened()
    place.ok("submit", "-s", "s", "--id", "m1", "--in", "10h", "Ten hours later.")
    at = round(stamp(place.ok("queue", "-s", "s", "--json").json["messages"][0]["due_at"]))
    process = place.start("wait", "-s", "s", *MINE, env=alarm.env)
    until(lambda: [row for row in alarm.settings() if abs(row[0] - at) <= 1 and row[1:] == (1, 1)], "the alarm")
    for back in (-5 * 3600, 5 * 3600):  # it is not due yet, so the waiter checks and sleeps until the same time
        before = len(alarm.settings())
        alarm.step(back)
        alarm.fire()
        until(lambda: len(alarm.settings()) > before, "another look")
        assert process.poll() is None and abs(alarm.settings()[-1][0] - at) <= 1, alarm.settings()
    alarm.step(11 * 3600)
    alarm.fire()
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0 and out.decode().startswith("start_turn m1\n"), (out, err)


if __name__ == "__main__":
    sys.exit(main(globals()))
