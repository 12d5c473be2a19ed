#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cost.py [N] [AGENT…]: measures the time of a tool call's hook when nothing is pending. Each agent that calls hooks makes N tool calls (200) in one turn. In each group of three calls, tidings
answers one; a minimal program, which prints {} and ends, answers another one; and one finds no installation, so that its hook is a shell that echoes {}. Prints the medians of the time from the
model's answer to the next request, and of the differences from the shell. Needs a quiet machine, a C compiler, and a release build in TIDINGS_BUILD_DIR."""
import itertools
import os
import statistics
import subprocess
import sys
import threading
import time

from hook_hosts import AGENTS
from model.server import ModelServer
from node_hosts import Place, until

FIRST = 20  # calls that are not counted: the agent warms up


class Timing(ModelServer):
    """Records when each request comes and when its answer has ended, and replaces the hook at each request, before the answer."""

    def __init__(self, switch):
        super().__init__([])
        self.switch, self.began, self.took = switch, None, []

    def record(self, entry):
        now = time.perf_counter()
        if "items" in entry and entry["tools"]:
            if self.began:
                self.took.append(now - self.began)
            self.switch(len(self.took))
        number = super().record(entry)
        self.began = time.perf_counter() if entry.get("ended") else self.began
        return number


KINDS = ("tidings", "the least program", "echo")
ORDERS = tuple(itertools.permutations(KINDS))
LEAST = "#include <unistd.h>\nint main(void) { return write(1, \"{}\\n\", 3) != 3; }\n"


def kind(number):
    """Returns the kind of hook of that call. Each kind is first in a group as often as it is last."""
    return ORDERS[number // 3 % len(ORDERS)][number % 3]


class Hooks:
    """The programs that replace the command, each by a rename."""

    def __init__(self, place):
        self.program, self.spare, self.lock = place.command, place.command.with_name("spare"), threading.Lock()
        self.files = {name: place.command.with_name(f"hook-{number}") for number, name in enumerate(KINDS[:2])}
        os.link(self.program, self.files["tidings"])
        subprocess.run(["cc", "-O2", "-x", "c", "-o", self.files["the least program"], "-"], input=LEAST, text=True, check=True)

    def switch(self, number):
        with self.lock:  # Codex makes two requests at once
            if kind(number) == "echo":
                self.program.unlink(missing_ok=True)
                return
            os.link(self.files[kind(number)], self.spare)
            self.spare.replace(self.program)
            self.spare.unlink(missing_ok=True)  # a rename onto the same file does nothing


def measure(name, calls, terminal):
    with Place() as place:
        with Timing(lambda number: hooks.switch(number)) as model:  # pylint: disable=unnecessary-lambda # `hooks` is made below
            agent = AGENTS[name](place, model)
            hooks = Hooks(place)
            try:
                model.replace([{"prompt": "Heron one", "answers": [[agent.shell(f"echo heron {number}")] for number in range(FIRST + calls)]}])
                if terminal:
                    with agent.terminal("Heron one: do the work."):
                        until(lambda: len(model.took) >= FIRST + calls, "all calls are made")
                else:
                    agent.run("Heron one: do the work.")
            finally:
                agent.end_all()
            assert not agent.complaints(), agent.complaints()
    took = [1000 * each for each in model.took][:FIRST + calls]
    rounds = [{kind(number + at): took[number + at] for at in range(3)} for number in range(FIRST, len(took) - 2) if not number % 3]
    text = f"{name:8} {'in a terminal' if terminal else 'without one':13} {len(rounds)} of each: " + ", ".join(f"{one} {statistics.median(each[one] for each in rounds):.1f} ms" for one in KINDS)
    for one in KINDS[:2]:
        quarters = statistics.quantiles((each[one] - each["echo"] for each in rounds), n=4)
        text += f"; {one} - echo {quarters[1]:.1f} ms (quartiles {quarters[0]:.1f} and {quarters[2]:.1f})"
    print(text, flush=True)


def main():
    words = sys.argv[1:]
    calls = int(words.pop(0)) if words and words[0].isdigit() else 200
    if set(words) - set(AGENTS):
        sys.exit(f"cost.py: expected a number, and some of {', '.join(AGENTS)}")
    for name in words or AGENTS:
        for terminal in (False, True):
            measure(name, calls, terminal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
