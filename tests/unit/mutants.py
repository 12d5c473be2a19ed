#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: tests that the laws and the second plan find bugs. Each mutant is policy or rendering with one function changed. The test fails if a
mutant is not noticed, or if it breaks another law first. Prints TAP. `mutants.py laws|policy|leases [LAW]` tries those whose law contains LAW."""
import os
import shlex
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["TIDINGS_SOURCE_DIR"], os.environ["TIDINGS_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "mutants"))
import mutate  # noqa: E402
KIND = sys.argv[1]
OWN = [made for _, made in mutate.commands(BUILD, f"unit-{KIND}").values()]
KIT = os.path.join(BUILD, "libtidings_store_kit.a" if KIND == "leases" else "libtidings_unit_kit.a")
LIBRARIES = [KIT, *shlex.split(subprocess.run(["pkg-config", "--libs", "jansson", "criterion"], stdout=subprocess.PIPE, text=True, check=True).stdout)]


def attempt(mutant):
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, KIND)
        mutate.link(SOURCE, BUILD, "tidings_plugin_objects", mutant, work, program, *OWN, *mutate.lmdb(BUILD), *LIBRARIES)
        done = subprocess.run([program], env={"TIDINGS_LEASES_CARRIERS": "200000", **os.environ}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return "it was not noticed"
    says = "both_plans_are_the_same" if KIND == "policy" else f": {mutant.laws[KIND]}, "
    if says in done.stdout:
        return None
    return "it was noticed, but not as this law\n" + "\n".join(line for line in done.stdout.splitlines() if " round " in line)


sys.exit(mutate.try_all(KIND, attempt, *sys.argv[2:3]))
