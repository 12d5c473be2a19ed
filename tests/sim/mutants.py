#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py: random schedules find bugs. Each mutant is the plugin with one rule broken in its source; `hostsim sim` must tell every one of them
from the model, and say so in few steps. Prints TAP. `mutants.py NAME` tries only those whose name has NAME in it."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
BUILD = os.environ["TIDINGS_BUILD_DIR"]
HOSTSIM = os.environ["TIDINGS_HOSTSIM"]
STEPS, FEW = 40000, 24

# name, file below plugin/, what stands there, what stands there instead
MUTANTS = [
    ("messages of one instant have one stamp", "rules/turns/queue.c",
     "input->now_ms > run->last_stamp_ms ? input->now_ms : run->last_stamp_ms + 1", "input->now_ms"),
    ("offers while the session is compacted", "rules/turns/queue.c", "if (!step->input->owned || run->compacting) return;", "if (!step->input->owned) return;"),
    ("a cancelled offer is followed by none", "rules/turns/queue.c", "    step->run->state = RUN_IDLE;\n    offer_batch(step);\n", "    step->run->state = RUN_IDLE;\n"),
    ("what is left out of an offer fires with it", "rules/turns/turn.c", "if (all || message->named) {", "if (true) {"),
    ("steering messages are forgotten at the turn's end", "rules/turns/turn.c", "    if (message->state == MESSAGE_STEERING) requeue(message);\n", ""),
    ("a rollback does not let urgent news ask again", "rules/turns/carriers.c", "  bool any = false;\n  run->asked = 0;\n", "  bool any = false;\n"),
    ("who declines is asked again at once", "rules/turns/machine.c", "  step->run->asked = step->input->last_item;\n", ""),
    ("an offer that was not told is started by the host's own stream", "rules/turns/machine.c", "  if (!step->run->told) return own_turn(step);\n", ""),
    ("a stream is stopped twice", "rules/turns/urge.c", "  run->aborted = true;\n", ""),
    ("the newest of a key stands in its own place", "rules/policy/supersede.c", "work->places[stays] = work->items[items[leaders[k]]].n;", "work->places[stays] = work->items[stays].n;"),
    ("nobody is rung", "flow/run_events.c", "if (!stage->answers && stage->owned", "if (false && !stage->answers && stage->owned"),
    ("any host takes the session from a living one", "session/attach.c", "if (!mine && owner_alive(&head->owner)) {", "if (false) {"),
    ("whose session was taken over goes on with it", "session/attach.c",
     "if (!opening && was_taken_over(head, &attaching->instance->owner)) return refuse_former(attaching, error);", ""),
    ("what a resuming host names is delivered again", "session/attach.c", "if (opening->deliveries[i] == id) return true;", "if (opening->deliveries[i] == id) return false;"),
]


# What the crowd on one session must see too.
CROWD = ["what a resuming host names is delivered again", "any host takes the session from a living one"]


def commands():
    """The compiler's command of each file of the plugin, and the object that it makes."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        found = {}
        for entry in json.load(file):
            words = shlex.split(entry["command"])
            target = words[words.index("-o") + 1]
            if "tidings_plugin_objects.dir" in target:
                found[entry["file"]] = (words, os.path.join(entry["directory"], target))
        return found


def build(work, name, text, known):
    path = os.path.join(SOURCE, "plugin", name)
    words, target = known[path]
    source, changed, plugin = (os.path.join(work, file) for file in ("mutant.c", "mutant.o", "tidings.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    words = [word for word in words if word != "-Werror"]
    words[words.index("-o") + 1] = changed
    words[words.index("-c") + 1] = source
    subprocess.run(words + ["-w"], check=True, cwd=BUILD)
    others = [of for _, of in known.values() if of != target]
    subprocess.run([words[0], "-shared", "-o", plugin, changed, *others, os.path.join(BUILD, "libtidings_common.a"), "-llmdb", "-pthread",
                    "-Wl,--version-script=" + os.path.join(SOURCE, "plugin", "exports.map")], check=True)
    return plugin


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def sim_sees(name, plugin):
    done = run(HOSTSIM, "sim", "--plugin", plugin, "--steps", str(STEPS))
    steps = re.search(r"shrunk from \d+ steps to (\d+)", done.stdout)
    if done.returncode != 1 or not steps:
        return f"no difference in {STEPS} steps (exit code {done.returncode}):\n{done.stdout}"
    print(f"# {name}: {steps[1]} steps")
    return None if int(steps[1]) <= FEW else f"{steps[1]} steps are no short story:\n{done.stdout}"


def crowd_sees(name, plugin):
    if name not in CROWD:
        return None
    done = run(os.path.join(BUILD, "tests", "sim-crowd"), "--plugin", plugin, "--seconds", "20", "--drain", "5")
    print("".join(f"# the crowd: {line}\n" for line in done.stdout.splitlines() if line.startswith("FAILED: message")), end="")
    return None if done.returncode == 1 else f"the crowd saw nothing:\n{done.stdout}"


def try_mutant(mutant, known):
    """None, or why the mutant was not told from the plugin."""
    name, path, before, after = mutant
    with open(os.path.join(SOURCE, "plugin", path), encoding="utf-8") as file:
        text = file.read()
    if text.count(before) != 1:
        return f"plugin/{path} has {text.count(before)} times: {before.strip()!r}; this mutant has to be written anew"
    with tempfile.TemporaryDirectory() as work:
        plugin = build(work, path, text.replace(before, after), known)
        return sim_sees(name, plugin) or crowd_sees(name, plugin)


def main():
    wanted = [mutant for mutant in MUTANTS if len(sys.argv) < 2 or sys.argv[1] in mutant[0]]
    known, failed = commands(), 0
    print(f"1..{len(wanted)}")
    for number, mutant in enumerate(wanted, 1):
        why = try_mutant(mutant, known)
        print(f"{'ok' if why is None else 'not ok'} {number} - {mutant[0]}", flush=True)
        if why is not None:
            failed = 1
            print("\n".join("# " + line for line in why.splitlines()))
    return failed


sys.exit(main())
