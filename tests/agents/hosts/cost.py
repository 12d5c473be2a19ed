#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cost.py [N] [AGENT…]: what the hook of a tool call costs when nothing is pending. Each agent that calls hooks makes N tool calls (200) in one turn; every other one finds
the installation gone, so that its hook is a shell that echoes {}. Prints the medians of the time from the model's answer to the next request, and of the differences
of neighbours. Needs a quiet machine, and a release build in TIDINGS_BUILD_DIR."""
import statistics
import sys
import time

from hook_hosts import AGENTS
from model.server import ModelServer
from node_hosts import Place, until

FIRST = 20  # calls that are not counted: the agent warms up


class Timing(ModelServer):
    """Notes when each request comes and when its answer has ended, and switches the hook between."""

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


def order(number):
    """Whether tidings answers that call: neighbours differ, and neither is always first."""
    return number % 4 in (0, 3)


def measure(name, calls, terminal):
    with Place() as place:
        program = place.command
        with Timing(lambda number: program.chmod(0o755 if order(number) else 0o644)) as model:
            agent = AGENTS[name](place, model)
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
    took = list(enumerate(1000 * each for each in model.took))[FIRST:]
    pairs = [(one, two) if order(one[0]) else (two, one) for one, two in zip(took[::2], took[1::2])]
    differences = sorted(one[1] - two[1] for one, two in pairs)
    middle = [statistics.median(each for number, each in took if order(number) is tidings) for tidings in (True, False)]
    quarters = statistics.quantiles(differences, n=4)
    print(f"{name:8} {'in a terminal' if terminal else 'without one':13} {len(pairs)} pairs: with tidings {middle[0]:.1f} ms, with a hook that echoes {{}} {middle[1]:.1f} ms, "
          f"difference {quarters[1]:.1f} ms (quartiles {quarters[0]:.1f} and {quarters[2]:.1f})", flush=True)


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
