#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""crossed.py PROGRAM [--files]: counts the files and functions of the plugin that a call runs.

PROGRAM is build/dev/tests/store-crossed. Valgrind's callgrind lists the functions that run between the begin and the end of each of its functions; an
inlined function counts only for its file. --files names the files.
"""
import os
import re
import subprocess
import sys
import tempfile

CALLS = {"push": "a push", "tool_result": "a tool result with two pending notifications", "settle": "its settle", "quiet": "a tool result with nothing pending"}


def functions_by_file(path):
    """Reads callgrind's output, which gives each name a number at its first place."""
    names, found, file = {}, {}, None
    for line in open(path, encoding="utf-8"):
        match = re.match(r"(fl|fi|fe|fn|cfn|cfi|cfl)=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
        if not match:
            continue
        kind = "fn" if match[1] in ("fn", "cfn") else "fl"
        if match[3]:
            names[kind, match[2]] = match[3]
        name = names[kind, match[2]]
        if match[1] in ("fl", "fi", "fe"):
            file = name
            found.setdefault(file, set())
        elif match[1] == "fn":
            found[file].add(name)
    return found


def count(program, call):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect=crossed_{call}", f"--callgrind-out-file={out}", program], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = functions_by_file(out)
    return {re.sub(r".*?plugin/", "plugin/", file): names for file, names in found.items() if "plugin/" in file and file.endswith(".c")}


def main():
    program = sys.argv[1]
    for call, words in CALLS.items():
        found = count(program, call)
        print(f"{words}: {len(found)} files, {sum(map(len, found.values()))} functions, {len({os.path.dirname(file) for file in found})} folders")
        if "--files" in sys.argv:
            for file in sorted(found):
                print(f"  {file} {len(found[file])}")


if __name__ == "__main__":
    main()
