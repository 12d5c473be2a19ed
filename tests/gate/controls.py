# SPDX-License-Identifier: MIT
"""controls.py: makes builds with a known bug. Each part of the gate must catch its own bug, because a test that cannot fail proves nothing.

The bugs are mutants of ../mutants/mutants.txt, those with a line "gate:"."""
import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutants"))
import mutate  # noqa: E402


# The targets whose objects are linked into fuzz targets.
OWNERS = ("tidings_plugin_objects", "tidings_command", "tidings_agents", "tidings_mcp", "tidings_recipes", "tidings_subscribe_parts", "tidings_listen_parts")


def find_mutant(name):
    found = [mutant for mutant in mutate.read_mutants("gate") if mutant.laws["gate"] == name]
    if not found:
        raise mutate.Stale(f"tests/mutants/mutants.txt has no mutant with \"gate: {name}\"")
    return found[0]


def build_plugin(source, build, name, folder):
    """Builds a tidings.so with the mutant in it, and returns its path."""
    plugin = os.path.join(folder, "tidings.so")
    mutate.link(source, build, "tidings_plugin_objects", find_mutant(name), folder, plugin, "-shared", *mutate.lmdb(build),
                "-Wl,--version-script=" + os.path.join(source, "plugin", "exports.map"))
    return plugin


def build_fuzzer(source, build, target, name, folder):
    """Links the fuzz target like the build, with the mutant's file instead of the original, and returns its path."""
    program = os.path.join(folder, "fuzz-" + target)
    mutant = find_mutant(name)
    path, _, _ = mutate.find(source, mutant)
    owner = next(owner for owner in (f"fuzz-{target}", *OWNERS) if path in mutate.commands(build, owner))
    path, compiled, _ = mutate.compile_mutant(source, build, owner, mutant, folder)
    printed = subprocess.run(["ninja", "-C", build, "-t", "commands", "fuzz-" + target], stdout=subprocess.PIPE, text=True, check=True)
    words = shlex.split(printed.stdout.splitlines()[-1])
    words = [word for word in words if word not in (":", "&&")]
    words[words.index("-o") + 1] = program
    end = "/" + os.path.relpath(path, source).split("/", 1)[1] + ".o"
    own = next((word for word in words if word.endswith(end)), None)
    if own:
        words[words.index(own)] = compiled
    else:  # the file is in a static library, and the first definition of a name counts
        words.insert(next(i for i, word in enumerate(words) if word.endswith(".o")), compiled)
    mutate.run_compiler(words, build)
    return program


def is_caught(control, result):
    """Returns whether the bug was noticed for the expected reason."""
    return result.violations > 0 and re.search(control["says"], result.output, re.MULTILINE) is not None
