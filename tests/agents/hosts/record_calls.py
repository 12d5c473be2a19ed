#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record_calls.py AGENT VERSION: records the hook calls of an agent in this version for tests/agents/hooks/recorded/, one a line: three runs of one session, with two tools, with a
tool that fails, and with an edit and a tool. Installs that version of the agent from npm; TIDINGS_SOURCE_DIR and TIDINGS_BUILD_DIR as for the tests."""
import json
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = HERE.parents[2] / "agents" / "hosts" / "versions.txt"
# Replaces the command: it writes down the hook's input and then becomes the hook.
TEE = """#!/bin/sh
if [ "$1" != hook ]; then exec '{real}' "$@"; fi
case "$*" in *--wait*) exec '{real}' "$@" ;; esac
call=$(mktemp '{folder}/call.XXXXXX')
cat >"$call"
echo "$call" >>'{folder}/order'
exec '{real}' "$@" <"$call"
"""


def pinned(agent, version):
    """Returns versions.txt with another version of one agent."""
    text, count = re.subn(rf"^({agent} +\S+)@[\d.]+ ", rf"\g<1>@{version} ", VERSIONS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert count == 1, f"{agent} is not in {VERSIONS}"
    return text


def play(agent, model, rule):
    """Makes the three runs."""
    own = agent.place.project / "own.txt"
    for prompt, calls in (("Zebra one: do the work.", [agent.shell("echo first has run"), agent.shell("echo second")]), ("Newt one: try it.", [agent.shell("echo failing has run; exit 3")]),
                          ("Vole one: edit it.", [agent.write(own, "own\n"), agent.shell("echo done")])):
        model.replace([rule(prompt[:8], *calls, {"text": "Well."})])
        agent.run(prompt, agent.session)
        agent.session = agent.session or json.loads(agent.place.tidings("status", "--all", "--json"))["sessions"][0]["session"]


def recorded(folder, place, session):
    for name in (folder / "order").read_text(encoding="utf-8").split():
        call = json.dumps(json.loads(pathlib.Path(name).read_text(encoding="utf-8")), separators=(",", ":"), ensure_ascii=False)
        for path, word in ((re.sub(r"[^a-zA-Z0-9]", "-", str(place.project)), "project"), (place.project, "{work}"), (place.root, "{place}"), (session, "{session}")):
            call = call.replace(str(path), word)
        yield call


def main():
    name, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "versions.txt").write_text(pinned(name, version), encoding="utf-8")
        os.environ["TIDINGS_HOST_VERSIONS"] = str(folder / "versions.txt")
        from hook_hosts import AGENTS  # pylint: disable=import-outside-toplevel
        from hook_scenarios import rule  # pylint: disable=import-outside-toplevel
        from model.server import ModelServer  # pylint: disable=import-outside-toplevel
        from node_hosts import Place  # pylint: disable=import-outside-toplevel
        with Place() as place, ModelServer([]) as model:
            agent = AGENTS[name](place, model)
            real = place.command.with_name("tidings.real")
            place.command.rename(real)
            place.command.write_text(TEE.format(real=real, folder=folder), encoding="utf-8")
            place.command.chmod(0o755)
            try:
                play(agent, model, rule)
            finally:
                agent.end_all()
            print("\n".join(recorded(folder, place, agent.session)))
            print(agent.complaints(), end="", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
