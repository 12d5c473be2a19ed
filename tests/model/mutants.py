#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: the model check sees what it is for. Each mutant is the turn machine with one function changed; a model check that stays green, or
names another law, fails this test. Prints TAP. `mutants.py LAW` tries only those whose law has LAW in it."""
import os
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["TIDINGS_SOURCE_DIR"], os.environ["TIDINGS_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "mutants"))
import mutate  # noqa: E402
DEPTH = "6"


def attempt(mutant):
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "model")
        mutate.link(SOURCE, BUILD, "turns-model", mutant, work, program)
        done = subprocess.run([program, DEPTH], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return "it was not noticed"
    if f": {mutant.laws['model']}" in done.stdout:
        return None
    return "it was noticed, but not as this law\n" + "\n".join(line for line in done.stdout.splitlines() if line.startswith("not ok"))


sys.exit(mutate.try_all("model", attempt, *sys.argv[1:2]))
