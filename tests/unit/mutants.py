#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: tests that the laws and the second plan find bugs. Each mutant is policy or rendering with one function changed. The test fails if a
mutant is not noticed, or not by its law; it may break another law in an earlier round. Prints TAP. `mutants.py laws|policy|leases [LAW]` tries
those whose law contains LAW."""
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
ROUNDS = 500  # which law a mutant breaks first depends on the order of the rounds; so each of so many is played alone too


def play(program, *words, **environment):
    return subprocess.run([program, *words], env={**environment, **os.environ}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def breaks_in_a_round(program, says):
    return any(says in play(program, "--filter", "laws/what_*", TIDINGS_LAWS_ROUND=str(number)).stdout for number in range(ROUNDS))


def attempt(mutant):
    says = "both_plans_are_the_same" if KIND == "policy" else f": {mutant.laws[KIND]}, "
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, KIND)
        mutate.link(SOURCE, BUILD, "tidings_plugin_objects", mutant, work, program, *OWN, *mutate.lmdb(BUILD), *LIBRARIES)
        done = play(program, TIDINGS_LEASES_CARRIERS="200000")
        if done.returncode == 0:
            return "it was not noticed"
        if says in done.stdout or (KIND == "laws" and breaks_in_a_round(program, says)):
            return None
    return "it was noticed, but not as this law\n" + "\n".join(line for line in done.stdout.splitlines() if " round " in line)


sys.exit(mutate.try_all(KIND, attempt, *sys.argv[2:3]))
