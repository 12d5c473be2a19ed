#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""urgency.py HOSTSIM: what becomes of news, for each state and phase of a session, each level and activation, each setting that limits
urgency, pushed by the host itself and by another process. What is expected is said here a second time, in a few lines, after
docs/turns.md; the plugin is asked through scenarios made for the occasion: one for each setting, with a session for each case. Prints TAP.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

NOTHING = []
SYSTEM = [{"type": "start_turn", "source": "system"}]
QUEUED = [{"type": "start_turn", "source": "user", "messages": [{"id": "m1"}]}]
ABORT = [{"type": "abort_stream", "cause": "critical"}]

# The way into each state: events after session.opened, with their data.
TURN = [("turn.started", None)]
WAYS = {
    "idle": [],
    "idle, queue": [("message.submitted", {"id": "m1", "content": "x"}), ("turn.declined", None)],
    "idle, settle delay": TURN + [("message.submitted", {"id": "m1", "content": "x"}), ("turn.finished", None)],
    "idle, compacting": [("session.compacting", None)],
    "starting": [("message.submitted", {"id": "m1", "content": "x"})],
    "busy": TURN,
    "busy, streaming": TURN + [("stream.started", None)],
    "busy, between streams": TURN + [("stream.started", None), ("stream.finished", None)],
    "busy, tools": TURN + [("tools.started", None)],
    "busy, streaming, compacting": TURN + [("stream.started", None), ("session.compacting", None)],
    "retrying": TURN + [("stream.started", None), ("turn.retrying", None)],
    "waiting": TURN + [("stream.started", None), ("turn.waiting", None)],
    "error": TURN + [("message.submitted", {"id": "m1", "content": "x"}), ("turn.failed", None)],
}
LEVELS = ["info", "error", "critical"]
ACTIVATIONS = [None, "passive", "idle", "interrupt"]
SETTINGS = {
    "defaults": {},
    "critical.force false": {"critical": {"force": False}},
    "max_aborts 0": {"critical": {"max_aborts": 0}},
    "max_auto_turns 0": {"turns": {"max_auto_turns": 0}},
    "filtered": {"conversation": {"notifications": {"kinds": {"a.b": False}}}},
    "filtered by its source": {"conversation": {"notifications": {"kinds": {"a": {"enable": False}}}}},
    "filtered with all": {"conversation": {"notifications": {"enable": False}}},
}


def expected(setting, state, level, activation):
    """What the host is asked to do about it at once, and what when a stream begins after that."""
    if setting.startswith("filtered") or "compacting" in state:
        return NOTHING, NOTHING
    urgent = setting != "critical.force false" and (level == "critical" or activation == "interrupt")
    asks = urgent or activation == "idle"
    stops = ABORT if urgent and setting != "max_aborts 0" else NOTHING
    if state == "idle":
        return SYSTEM if asks and setting != "max_auto_turns 0" else NOTHING, stops
    if state in ("idle, queue", "idle, settle delay"):
        return QUEUED if asks else NOTHING, stops
    if state == "busy, streaming":
        return stops, NOTHING
    return NOTHING, stops


def steps_of(setting, session, state, level, activation, actor):
    def event(kind, data=None, **more):
        return {"event": {"type": kind, "session": session, **({"data": data} if data else {})}, **more}

    now, then = expected(setting, state, level, activation)
    data = {"kind": "a.b", "level": level, "message": "x", **({"activation": activation} if activation else {})}
    steps = [event("session.opened")] + [event(kind, given) for kind, given in WAYS[state]]
    pending = {"query": {"name": "pending", "session": session}, "expect": {"count": 1}}
    if actor == "host":
        steps += [event("notification", data, expect={"actions": now}), pending]
    else:
        steps += [event("notification", data, **{"as": "producer"}, expect={"actions": NOTHING}), pending,
                  event("wake", expect={"actions": now})]
    steps += [event("wake", expect={"actions": NOTHING}), event("stream.started", expect={"actions": then}),
              event("stream.started", expect={"actions": NOTHING})]
    return steps


def scenario(setting):
    config = {"turns": {"settle_delay_ms": 1000}, **SETTINGS[setting]}
    config["turns"] = {"settle_delay_ms": 1000, **SETTINGS[setting].get("turns", {})}
    steps = []
    for number, case in enumerate(itertools.product(WAYS, LEVELS, ACTIVATIONS, ["host", "producer"])):
        steps += steps_of(setting, f"{number}: " + ", ".join(str(word) for word in case), *case)
    return {"name": f"{setting}: {number + 1} cases", "config": config, "steps": steps}


def main(hostsim):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, setting in enumerate(SETTINGS):
            paths.append(os.path.join(folder, f"{number}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(scenario(setting), file)
        memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}  # thousands of commits
        return subprocess.run([hostsim, "run", *paths], env={**os.environ, **memory}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
