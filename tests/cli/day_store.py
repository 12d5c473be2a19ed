#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""day_store.py BUILD_DIR STORE: makes a store with a day of an agent's work and about 2,000 notifications, from 9:00 to 17:40 of 2026-11-26, local
time.

It uses the real plugin, with the clock of hostsim. Everything follows from one seed, so each run makes the same day. The store is for tests with
readers of its page (`tidings timeline -S STORE -s day -o day.html`): what had the model been shown at 15:40, what was never shown, and why?"""
import mmap
import os
import random
import struct
import sys
import tempfile
import time

ROOT = os.environ.get("TIDINGS_SOURCE_DIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
from tidings import Tidings  # pylint: disable=wrong-import-position,import-error

DAY = (2026, 11, 26)
SESSION = "day"
CONFIG = {"conversation": {"notifications": {"kinds": {"lint": False}}}, "delivery": {"preset": "plain", "max_items": 12, "overflow": "drop_lowest", "annihilate": True}}
FILES = [f"src/{name}.c" for name in ("parser", "lexer", "emit", "types", "scope", "main", "fold", "print")]
JOBS = ("unit", "lint", "docs", "packages", "arm64", "coverage")


class Clock:
    """The page of memory that the plugin of hostsim's clock reads (hostsim/host/clock_page.h)."""

    def __init__(self, path, plugin):
        with open(path, "w+b") as file:
            file.truncate(3 * 8 + 4096)
            self.page = mmap.mmap(file.fileno(), 3 * 8 + 4096)
        self.page[24:24 + len(plugin)] = plugin.encode()
        self.at(9, 0)
        os.environ["TIDINGS_HOSTSIM_CLOCK"] = path

    def at(self, hour, minute, second=0):
        self.set(int(time.mktime((*DAY, hour, minute, second, 0, 0, -1))) * 1000)

    def set(self, now_ms):
        self.now_ms = now_ms
        self.page[:24] = struct.pack("qQQ", now_ms, now_ms * 1000000, 7)

    def on(self, ms):
        self.set(self.now_ms + int(ms))

    def is_before(self, hour, minute):
        return self.now_ms < int(time.mktime((*DAY, hour, minute, 0, 0, 0, -1))) * 1000


class Day:
    def __init__(self, clock, kit):
        self.clock, self.kit = clock, kit
        self.rng = random.Random(28)
        self.number = 4800
        self.call = 0

    # -- producers -----------------------------------------------------------------------------

    def something_happens(self):
        kinds = (self.ci, self.files, self.files, self.server, self.build, self.chat, self.disk, self.lint, self.files)
        self.rng.choice(kinds)()

    def ci(self):
        self.number += 1
        job = self.rng.choice(JOBS)
        if self.rng.random() < 0.25:
            self.kit.push(SESSION, "ci.failed", f"CI run {self.number} failed on main: the job {job} ended with 1 after {self.rng.randrange(40, 400)} s.", level="error")
        else:
            self.kit.push(SESSION, "ci.passed", f"CI run {self.number} passed on main: {job}.", ttl_ms=600000)

    def files(self):
        self.kit.event("file.changed", SESSION, {"path": self.rng.choice(FILES)})

    def server(self):
        name = self.rng.choice(("tracker", "database", "browser"))
        self.kit.event("mcp.state", SESSION, {"server": name, "state": "disconnected"})
        self.clock.on(self.rng.randrange(200, 4000))
        if self.rng.random() < 0.7:
            self.kit.event("mcp.state", SESSION, {"server": name, "state": "reconnected"})

    def build(self):
        self.kit.push(SESSION, "build.progress", f"The nightly build has done {self.rng.randrange(1, 100)} of 100 targets.", key="nightly")

    def chat(self):
        who = self.rng.choice(("Ada", "Grace", "Edsger"))
        self.kit.push(SESSION, "slack.message", f"{who}: {self.rng.choice(('can you look at', 'who owns', 'I have pushed a fix for'))} {self.rng.choice(FILES)}?")

    def disk(self):
        if self.rng.random() < 0.15:
            self.kit.push(SESSION, "disk.full", f"/srv has {self.rng.randrange(1, 6)} % left.", level="warning", key="disk", ttl_ms=1800000)

    def lint(self):
        self.kit.push(SESSION, "lint.finding", f"{self.rng.choice(FILES)}: a function of {self.rng.randrange(50, 90)} lines.")

    # -- the agent -----------------------------------------------------------------------------

    def carrier(self, how="committed"):
        self.call += 1
        made = self.kit.tool_result(SESSION, "ok\n", call_id=f"call-{self.call}", tool=self.rng.choice(("Bash", "Read", "Edit")))
        self.clock.on(self.rng.randrange(300, 2500))
        if how != "leased":
            self.kit.settle(made.id, committed=how == "committed")

    def until(self, hour, minute, pause_ms, carriers=True):
        """Works: producers push, and a tool ends after about every eighth push."""
        while self.clock.is_before(hour, minute):
            self.clock.on(self.rng.expovariate(1 / pause_ms))
            self.something_happens()
            if carriers and self.rng.random() < 0.2:
                self.carrier("rolled_back" if self.rng.random() < 0.02 else "committed")

    def turn(self, message, hour, minute, pause_ms=12500):
        """Starts a turn with a message: the one that was offered before, or a new one of a person."""
        id_ = f"m-{self.call:04}"
        reply = self.kit.event("message.submitted", SESSION, {"id": id_, "content": message})
        self.run(self.offered(reply, id_), message, hour, minute, pause_ms)

    def offered(self, reply, wanted):
        offered = [one.id for action in reply.actions if action.type == "start_turn" for one in action.messages]
        assert wanted in offered, (offered, self.kit.query("status", SESSION))
        return offered

    def run(self, offered, content, hour, minute, pause_ms):
        sent = self.kit.chat_request(SESSION, content, messages=offered)
        self.kit.event("turn.started", SESSION, {"messages": offered})
        self.kit.settle(sent.id, committed=True)
        self.until(hour, minute, pause_ms)
        self.kit.event("turn.finished", SESSION, {"messages": offered})


def play(clock, kit):
    day = Day(clock, kit)
    kit.event("session.opened", SESSION, {"cwd": "/srv/parser", "host": "example"})
    day.turn("Rename count_words to word_count, and fix what breaks.", 10, 20)
    day.until(10, 45, 30000, carriers=False)
    day.turn("Why does the lexer allocate so often?", 12, 5)
    day.until(13, 10, 40000, carriers=False)  # the agent does nothing
    day.turn("Write the tests that are missing for scope.c.", 14, 20)
    day.carrier("leased")
    return day


def go_on(day):
    """Kills the host while a delivery is leased, and starts it again; its transcript does not have that delivery."""
    day.clock.on(95000)
    day.kit.event("session.resumed", SESSION, {"cwd": "/srv/parser", "host": "example", "deliveries": []})
    day.turn("Go on where you were.", 15, 55)
    day.until(16, 10, 20000, carriers=False)
    reply = day.kit.push(SESSION, "deploy.failed", "Deployment 77 of staging failed: the database does not answer.", level="critical")
    day.run(day.offered(reply, "tidings:1"), "", 16, 25, 9000)  # the push wakes the agent
    day.turn("Is staging fine again?", 17, 30)
    day.until(17, 40, 25000, carriers=False)


def main(build, store):
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock(os.path.join(folder, "clock"), os.path.join(build, "tidings.so"))
        options = {"plugin": os.path.join(build, "hostsim-clock.so"), "store": store, "host_name": "Example", "configuration": CONFIG, "probe": False,
                   "library": os.path.join(build, "libtidings-hostkit.so")}
        with Tidings.open(**options) as kit:
            day = play(clock, kit)
        with Tidings.open(**options) as kit:
            day.kit = kit
            go_on(day)
            print({name: count for name, count in kit.query("stats", SESSION).items() if isinstance(count, (int, dict))})


if __name__ == "__main__":
    main(*sys.argv[1:])
