#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""skip_test.py: tests that an agent that cannot be fetched is skipped soon, with the reason, and that failures leave no files behind. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from node_hosts import HERE, PATIENCE, Tap

NOBODY = "http://127.0.0.1:1/"  # a registry at a closed port


def run(folder, *command, **env):
    """Runs a command with an empty cache and with a folder of its own for temporary files."""
    cache, temporary = pathlib.Path(folder, "cache"), pathlib.Path(folder, "tmp")
    for made in (cache, temporary):
        made.mkdir()
    env = {**os.environ, "TIDINGS_HOSTS_CACHE": str(cache), "TMPDIR": str(temporary), "npm_config_registry": NOBODY, "npm_config_cache": str(cache), **env}
    ran = subprocess.run([*command], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return ran, [path.name for path in temporary.iterdir()], [path.name for path in cache.iterdir() if path.is_dir() and path.name.startswith("pi")]


def unreachable(folder):
    """install.sh: a registry that cannot be reached is no failure, and npm's reason is printed"""
    ran, _, left = run(folder, HERE / "install.sh", "pi")
    assert ran.returncode == 77 and ran.stdout == "" and "ECONNREFUSED" in ran.stderr and not left, (ran, left)


def without_npm(folder):
    """install.sh: a missing npm is no failure"""
    tools = pathlib.Path(folder, "bin")
    tools.mkdir()
    for name in ("bash", "grep", "sed", "paste", "date", "flock", "stat", "mkdir", "rm", "tee", "dirname", "cat"):
        (tools / name).symlink_to(next(path for path in (f"/usr/bin/{name}", f"/bin/{name}") if os.path.exists(path)))
    ran, _, left = run(folder, HERE / "install.sh", "pi", PATH=str(tools))
    assert ran.returncode == 77 and "npm is not installed" in ran.stderr and not left, (ran, left)


def tests_are_skipped(folder):
    """the tests of such an agent say that they were skipped, and why, and leave no files"""
    for number, script in enumerate((["pi_test.py"], ["hooks_test.py", "codex"])):
        own = pathlib.Path(folder, str(number))
        own.mkdir()
        ran, left, _ = run(own, sys.executable, HERE / script[0], *script[1:])
        assert ran.returncode == 77 and ran.stdout.startswith("1..0 # SKIP "), ran
        assert "ECONNREFUSED" in ran.stdout or "x86_64" in ran.stdout, ran
        assert not left, left


def failed_installation(folder):
    """a build that cannot be installed fails the test and leaves no files"""
    ran, left, _ = run(folder, sys.executable, HERE / "pi_test.py", TIDINGS_BUILD_DIR="/nowhere")
    assert ran.returncode == 1 and "cmake --install" in ran.stderr and not left, (ran, left)


NPM = """#!/bin/sh
[ "$1" = install ] || { echo 99.1.0; exit 0; }
echo "npm error code E404" >&2
echo "npm error 404 'chord@^2' is not in this registry." >&2
exit 1
"""


def newer_version(folder):
    """latest.py: if a newer version cannot be installed, as with pi since 0.99.1, it says so in npm's words, names the tested version, and runs no test"""
    npm = pathlib.Path(folder, "bin", "npm")
    npm.parent.mkdir()
    npm.write_text(NPM)
    npm.chmod(0o755)
    ran, left, _ = run(folder, sys.executable, HERE / "latest.py", "pi", PATH=f"{npm.parent}:{os.environ['PATH']}")
    tested = re.search(r"^pi +\S+@([\d.]+) ", (HERE.parents[2] / "agents" / "hosts" / "versions.txt").read_text(), re.MULTILINE)[1]
    assert ran.returncode == 77 and ran.stdout.startswith(f"pi 99.1.0 (tested: {tested}): cannot be installed: ") and "'chord@^2' is not in this" in ran.stdout, ran
    assert ran.stdout.count("\n") == 1 and not left, (ran, left)


def main():
    tap = Tap()
    for scenario in (unreachable, without_npm, tests_are_skipped, failed_installation, newer_version):
        with tempfile.TemporaryDirectory() as folder:
            tap.run(scenario, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
