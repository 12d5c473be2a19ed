# SPDX-License-Identifier: MIT
"""rows.py: a model test of the engine (rows.c), with a fixed seed and with a new one.

    rows.py [SEED...]      the seeds to run
"""
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

PROGRAM = os.path.join(kit.BUILD, "tests", "fleet-rows")
STEPS = os.environ.get("TIDINGS_FLEET_STEPS", "150")


def main():
    seeds = sys.argv[1:] or ["11", str(random.randrange(2, 1 << 32))]
    with kit.Server(**kit.Server.FAST) as server:
        for seed in seeds:
            url = kit.make_store(server, f"rows_{seed}")
            done = subprocess.run([PROGRAM, url, seed, STEPS], check=False)
            expect(done.returncode == 0, f"rows with seed {seed}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
