# SPDX-License-Identifier: MIT
"""Shared by the tests of `tidings subscribe`: an events server beside the test, and its log."""
import json
import os
import subprocess

from kit import until

from host import PYTHON

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "events_server.py")
EVENT = "number.counted"
MINUTE = ("--heartbeat", "1m")  # long, because a busy machine must not look like a dead server


class Events:
    """The server: a process that listens, or a command that tidings starts."""

    def __init__(self, place, faults=None, count=0, stdio=False):
        self.place, self.stdio, self.process, self.port = place, stdio, None, 0
        self.files = {name: os.path.join(place.dir, f"events-{name}") for name in ("count", "faults", "log")}
        self.set_count(count)
        self.set_faults(**(faults or {}))
        self.words = [*PYTHON, PROGRAM, *[word for name, path in self.files.items() for word in (f"--{name}", path)]]
        if not stdio:
            self.listen()

    def listen(self):
        self.process = self.place.start(command=[*self.words, "--port", str(self.port)], stderr=subprocess.DEVNULL)
        self.port = int(self.process.stdout.readline())

    def write(self, name, text):
        beside = self.files[name] + ".new"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(beside, self.files[name])

    def set_count(self, count):
        self.count = count
        self.write("count", str(count))

    def set_faults(self, **faults):
        self.write("faults", json.dumps(faults))

    @property
    def log(self):
        if not os.path.exists(self.files["log"]):
            return []
        with open(self.files["log"], encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def seen(self, method):
        return [row for row in self.log if row.get("method") == method]

    def target(self, event=EVENT):
        """Returns the words that name the server and the event."""
        if self.stdio:
            return [event, "--", *self.words, "--stdio"]
        return [f"http://127.0.0.1:{self.port}/mcp", event]

    def subscribe(self, *options, to="session:s", event=EVENT, **more):
        return self.place.start("subscribe", "--to", to, *options, *self.target(event), **more)

    def refused(self, *options, **more):
        return self.place.refused("subscribe", "--to", "session:s", *options, *self.target(), **more)


def places(place):
    """Returns the stored files of all subscriptions."""
    folder = os.path.join(place.store, "subscribe")
    rows = []
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                rows.append(json.load(file))
    return rows


def place_of(place, session):
    """Returns the stored cursor of a session's subscription, or None."""
    return next((row["cursor"] for row in places(place) if row["to"] == f"session:{session}"), None)


def saved(place):
    """Returns the stored cursor of the only subscription."""
    return next((row["cursor"] for row in places(place)), None)


def numbers(place, session="s"):
    """Returns the numbers that were pushed, in their order."""
    return [int(text.split()[1].rstrip(".")) for text in place.messages(session) if text.startswith("number ")]


def others(place, session="s"):
    return [text for text in place.messages(session) if not text.startswith("number ")]


def arrive(place, count, session="s"):
    until(lambda: len(set(numbers(place, session))) >= count, f"{count} numbers", 0.1)
    assert sorted(numbers(place, session)) == list(range(count)), numbers(place, session)
