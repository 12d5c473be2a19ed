# SPDX-License-Identifier: MIT
"""suite.py conformance|scenarios|again|sim|crowd [all]: runs the conformance suite, the scenario files, these with calls that fail (tests/faults/again), random
schedules and the crowd on a store in a database. `./dev test deep` uses "all". Without it, only the cases of the suite that crash and deliver, and each tenth
or twenty-fourth scenario file are run, because the connections of a case take longer than the case."""
import array
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
# These need a folder, or a retention by the host's clock; in a database, days are dropped by the server's clock.
OF_FOLDERS = ("rewind-forgotten",)
FILTERS = ("delivery.", "crash")
DELETES = "source-per-minute-messages"  # a row that is not deleted must stay in the process's copy of the session
AT_LEAST = 700  # fewer calls that failed: the linker does not hand them over any more


def has_nonce(name):
    """Does the scenario expect a fence with random bytes? A call that failed has taken some of them for a new session's number."""
    with open(name, encoding="utf-8") as file:
        return re.search("--- [0-9a-f]{16}", file.read())


def main():
    with_all = "all" in sys.argv[2:]
    crowd = os.path.join(kit.BUILD, "tests/sim-crowd")
    if sys.argv[1] == "crowd" and not os.path.exists(crowd):
        kit.skip("this build has no sim-crowd: its folder of tests is left out")
    with kit.Server(**kit.Server.FAST) as server:
        url = f"postgresql://fleet@/fleet?host={server.folder}"
        if sys.argv[1] == "conformance":
            command = [kit.HOSTSIM, "conformance", "--plugin", kit.PLUGIN, "--store", url]
            commands = [command] if with_all else [[*command, "--filter", word] for word in FILTERS]
        elif sys.argv[1] == "sim":
            # Schedule 9 of seed 3 asks for the history of deliveries that were rewound.
            commands = [[kit.HOSTSIM, "sim", "--plugin", kit.PLUGIN, "--store", url, "--first", "9",
                        "--seed", os.environ.get("TIDINGS_SEED", "3"), "--steps", os.environ.get("TIDINGS_STEPS", "1500")]]
        elif sys.argv[1] == "crowd":
            kit.make_store(server)
            commands = [[crowd, "--plugin", kit.PLUGIN, "--store", server.url(), "--seed", os.environ.get("TIDINGS_SEED", "3"),
                         "--seconds", os.environ.get("TIDINGS_FLEET_SECONDS", "3"), "--drain", "600"]]
        else:
            files = sorted(glob.glob(os.path.join(SOURCE, "tests/scenarios/tidings/*.json")) + glob.glob(os.path.join(SOURCE, "tests/scenarios/turns/*/*.json")))
            files = [name for name in files if os.path.basename(name)[:-5] not in OF_FOLDERS]
            if sys.argv[1] == "again":
                files = [name for name in files if not has_nonce(name)]
            plugin = os.path.join(kit.BUILD, "tests/tidings-again-postgres.so") if sys.argv[1] == "again" else kit.PLUGIN
            os.environ["TIDINGS_WAYS"] = os.path.join(server.folder, "ways")
            some = [*files[::10], *(name for name in files if os.path.basename(name)[:-5] == DELETES)] if sys.argv[1] == "again" else files[::24]
            commands = [[kit.HOSTSIM, "run", "--plugin", plugin, "--store", url, *(files if with_all else some)]]
        code = any([subprocess.run(command, check=False).returncode for command in commands])
        if sys.argv[1] == "again":
            with open(os.environ["TIDINGS_WAYS"], "rb") as file:
                faults = sum(way != 0 for way in array.array("Q", file.read()))
            print(f"# {faults} calls failed, each by a way of its own; expected at least {AT_LEAST}")
            code = code or faults < AT_LEAST
        left = server.sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'case%'")
        print(f"# sum: {sys.argv[1]} on PostgreSQL: {'passed' if not code else 'failed'}, {left} schemas left")
        return code or left != "0"


sys.exit(main())
