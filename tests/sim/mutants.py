#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: tests that random schedules find bugs. Each mutant is the plugin with one function changed; `hostsim sim` must find its difference from
the model in few steps. Prints TAP. `mutants.py NAME` tries only mutants whose name contains NAME."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
BUILD = os.environ["TIDINGS_BUILD_DIR"]
HOSTSIM = os.environ["TIDINGS_HOSTSIM"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "mutants"))
import mutate  # noqa: E402
STEPS, FEW = 100000, 24

def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def sim_sees(name, plugin):
    done = run(HOSTSIM, "sim", "--plugin", plugin, "--steps", str(STEPS))
    steps = re.search(r"shrunk from \d+ steps to (\d+)", done.stdout)
    if done.returncode != 1 or not steps:
        return f"no difference in {STEPS} steps (exit code {done.returncode}):\n{done.stdout}"
    print(f"# {name}: {steps[1]} steps")
    return None if int(steps[1]) <= FEW else f"{steps[1]} steps are no short story:\n{done.stdout}"


def crowd_sees(plugin):
    done = run(os.path.join(BUILD, "tests", "sim-crowd"), "--plugin", plugin, "--seconds", "20", "--drain", "5")
    print("".join(f"# the crowd: {line}\n" for line in done.stdout.splitlines() if line.startswith("FAILED: message")), end="")
    return None if done.returncode == 1 else f"the crowd saw nothing:\n{done.stdout}"


def attempt(mutant):
    with tempfile.TemporaryDirectory() as work:
        plugin = os.path.join(work, "tidings.so")
        mutate.link(SOURCE, BUILD, "tidings_plugin_objects", mutant, work, plugin, "-shared", *mutate.lmdb(BUILD),
                    "-Wl,--version-script=" + os.path.join(SOURCE, "plugin", "exports.map"))
        return sim_sees(mutant.laws["sim"], plugin) or (crowd_sees(plugin) if "crowd" in mutant.laws else None)


sys.exit(mutate.try_all("sim", attempt, *sys.argv[1:2]))
