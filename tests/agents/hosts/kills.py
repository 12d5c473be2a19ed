#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kills.py [N] [AGENT]: kills each agent (or one) N times (100) at random moments, in rounds of a session each, and prints what was lost and what came twice.
Each complete round is a line in kills.jsonl of the build, so an interrupted run continues there. Rounds of another build do not count."""
import contextlib
import hashlib
import json
import os
import pathlib
import sys
import time

import kill_scenario
import kilo_test
import opencode_test
import pi_test
from hook_hosts import AGENTS
from model.server import ModelServer
from node_hosts import Place

EACH = int(os.environ.get("TIDINGS_KILLS_EACH", "10"))  # kills of one session: its conversation grows with each
NODE = {"opencode": lambda *where: opencode_test.victim(opencode_test.Opencode(*where)), "kilo": lambda *where: opencode_test.victim(kilo_test.Kilo(*where)),
        "pi": lambda *where: pi_test.victim(pi_test.Pi(*where))}
WINDOWS = {"qwen-window": "qwen"}  # in a terminal
NAMES = (*AGENTS, *WINDOWS, *NODE)
FILES = ("tidings", "tidings.so", "tidings.node")  # the programs that are killed and resumed with an agent


def this_build():
    """Returns a digest of the programs, and of the modules that opencode and pi load."""
    digest, build = hashlib.sha256(), pathlib.Path(os.environ["TIDINGS_BUILD_DIR"])
    modules = sorted(pathlib.Path(os.environ["TIDINGS_SOURCE_DIR"], "agents", "node").glob("*.ts"))
    for file in (*(build / name for name in FILES), *modules):
        if file.exists():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


@contextlib.contextmanager
def victim(name):
    """Yields an agent for a round, in a home of its own, which is removed afterwards."""
    with Place() as place, ModelServer([]) as model:
        if name in AGENTS or name in WINDOWS:
            agent = AGENTS[WINDOWS.get(name, name)](place, model)
            try:
                yield (kill_scenario.WindowVictim if name in WINDOWS else kill_scenario.HookVictim)(agent)
            finally:
                agent.end_all()
        else:
            made = NODE[name](place, model)
            try:
                yield made
            finally:
                made.host.kill()


def rounds(file, name, build):
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [line for line in lines if line["agent"] == name and line["build"] == build]


def total(found, name):
    return sum(len(line[name]) if isinstance(line[name], list) else line[name] for line in found)


def told(found, name, wanted):
    text = f"{name:9} {total(found, 'kills'):4} kills of {wanted}: {total(found, 'pushed')} pushed, {total(found, 'submitted')} submitted; " \
           f"lost {total(found, 'lost')}, twice {total(found, 'twice')}"
    if total(found, "gone"):
        text += f", gone on resuming {total(found, 'gone')}"
    if bad := [line["record"] for line in found if line["record"]]:
        text += f"; the record of {len(bad)} rounds is wrong"
    return text


def kill(file, name, wanted, build):
    """Plays rounds until the agent was killed so often. Returns whether nothing was lost or came twice."""
    while (done := total(found := rounds(file, name, build), "kills")) < wanted:
        seed = 1000 * len(found) + sum(map(ord, name))
        with victim(name) as one:
            result = kill_scenario.play(one, min(EACH, wanted - done), seed)
            result |= {"agent": name, "build": build, "time": time.strftime("%F %T"), "complaints": one.complaints()[-2000:]}
            keep = file.parent / f"kills-{name}-{seed}.json"
            if result["lost"] or result["twice"] or result["record"]:
                keep.write_text(json.dumps({"found": result, "requests": one.model.requests,
                                            "history": one.place.ask("history", "-s", one.session, "--limit", "10000")}))
        with file.open("a") as out:
            out.write(json.dumps(result) + "\n")
        print(told([result], name, result["kills"]), f"({result['seconds']} s)", flush=True)
    print(told(found, name, wanted), flush=True)
    return not (total(found, "lost") or total(found, "twice") or any(line["record"] for line in found))


def main():
    words = sys.argv[1:]
    wanted = int(words.pop(0)) if words and words[0].isdigit() else 100
    if set(words) - set(NAMES):
        sys.exit(f"kills.py: expected a number, and some of {', '.join(NAMES)}")
    file, build = pathlib.Path(os.environ["TIDINGS_BUILD_DIR"], "kills.jsonl"), this_build()
    well = [kill(file, name, wanted, build) for name in words or NAMES]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
