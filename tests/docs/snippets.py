#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""snippets.py: runs the piece of Python in docs/embedding.md unchanged, with this build and a pending notification, and checks its result.
tests/languages runs the whole hosts, and the pieces in other languages. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))


def snippet():
    text = (SOURCE / "docs" / "embedding.md").read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{len(found)} blocks of Python"
    return found[0]


def run(folder):
    """Runs the piece in a home where notifications wait for the session, and returns its output."""
    env = {**os.environ, "HOME": folder, "XDG_STATE_HOME": folder, "TIDINGS_HOSTKIT": str(BUILD / "libtidings-hostkit.so.1"),
           "TIDINGS_HOSTKIT_PROBE": str(BUILD / "tidings-hostkit-probe"), "PYTHONPATH": str(SOURCE / "bindings" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([BUILD / "tidings", "push", "-s", "s", "--create", "-l", "error", "The build failed."], env=env, check=True)
    path = pathlib.Path(folder, "piece.py")
    path.write_text(snippet() + "\nprint(delivery.id is not None)\n", encoding="utf-8")
    ran = subprocess.run([sys.executable, path], env=env, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0 and not ran.stderr, ran
    return ran.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        said = run(folder)
    passed = re.search(r"- The build failed\.\n---\n\na\.c\nTrue\n$", said)
    print(f"{'ok' if passed else 'not ok'} 1 - the piece of Python puts the news before the result\n1..1")
    if not passed:
        print("".join(f"# {line}\n" for line in said.splitlines()), end="")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
