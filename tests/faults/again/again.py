#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""again.py BUILD_DIR SOURCE_DIR: plays all scenarios with the plugin of again.c, and counts the faults."""
import array
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MEMORY = "/dev/shm"  # where a store does not wait for a disk
AT_LEAST = 1500  # fewer faults: the linker does not hand the calls over any more


def scenarios(source):
    for folder in ("hostsim/conformance/scenarios", "tests/scenarios"):
        for path in sorted(Path(source, folder).rglob("*.json")):
            # Without memory LMDB cannot take over the lock of a process that died in a commit, and then no process can.
            if '"at": "commit"' not in path.read_text(encoding="utf-8"):
                yield str(path)


def main(build, source):
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:
        ways = Path(folder, "ways")
        done = subprocess.run(
            [f"{build}/hostsim", "run", "--plugin", f"{build}/tests/tidings-again.so", *scenarios(source)],
            env={**os.environ, "TIDINGS_WAYS": str(ways), "TMPDIR": folder}, capture_output=True, text=True, check=False)
        faults = sum(way != 0 for way in array.array("Q", ways.read_bytes()))
    if done.returncode != 0:
        wrong = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
        sys.exit("\n".join([*wrong, done.stderr]))
    if faults < AT_LEAST:
        sys.exit(f"only {faults} calls have failed; expected at least {AT_LEAST}")
    print(f"{faults} calls failed, each by a way of its own")


main(*sys.argv[1:])
