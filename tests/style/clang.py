#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang.py SOURCE_DIR BUILD_DIR: checks that clang accepts each product file with the flags of this build; like in gcc, warnings are errors. Prints
TAP.

It only parses the files, which takes a tenth of the time of compiling them; `./dev check` compiles the tests too."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys


def product_commands(source, build):
    """Returns {file: words of its compiler}, each file once."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    others = tuple(os.path.join(source, name) + "/" for name in ("tests", "vendor", "build"))
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        if "-w" not in words and not entry["file"].startswith((*others, build + "/")):
            found.setdefault(entry["file"], words)
    return found


def complaint(path, words):
    """Returns clang's output about the file; empty: no complaint."""
    kept = words[1:words.index("-o")]
    done = subprocess.run(["clang", *kept, "-Wno-unused-command-line-argument", "-Wno-unknown-warning-option", "-fsyntax-only", path],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout if done.returncode else ""


def main():
    source, build = sys.argv[1:3]
    if not shutil.which("clang"):
        print("1..0 # SKIP clang is not installed")
        return 0
    commands = product_commands(source, build)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = [text for text in pool.map(lambda row: complaint(*row), commands.items()) if text]
    print("".join(f"# {line}\n" for text in complaints for line in text.splitlines()), end="")
    good = not complaints and len(commands) > 100
    print(f"{'ok' if good else 'not ok'} 1 - clang accepts all {len(commands)} product files\n1..1")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
