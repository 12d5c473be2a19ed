#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: tests that the model check finds bugs. Each mutant is the turn machine with one function changed; the check must find a difference from
the model, or a broken law. Prints TAP. `mutants.py NAME` tries only mutants whose name contains NAME."""
import os
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.path.abspath(os.environ["TIDINGS_SOURCE_DIR"]), os.path.abspath(os.environ["TIDINGS_BUILD_DIR"])
sys.path.insert(0, os.path.join(SOURCE, "tests", "mutants"))
import mutate  # noqa: E402
DEPTHS = "3", "4", "5", "6"  # small depths are first, because most mutants are noticed early


def attempt(mutant):
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "model")
        mutate.link(SOURCE, BUILD, "turns-model", mutant, work, program)
        for depth in DEPTHS:
            done = subprocess.run([program, depth], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            found = [line for line in done.stdout.splitlines() if line.startswith("not ok")]
            if found:
                print(f"# {mutant.laws['model']}: {found[0]}, depth {depth}")
                return None
    return f"it was not noticed (exit code {done.returncode})"


sys.exit(mutate.try_all("model", attempt, *sys.argv[1:2]))
