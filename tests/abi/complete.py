#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""complete.py SOURCE_DIR: the golden layout leaves out no struct, field, number or text of abi/tidings/. Prints TAP."""
import glob
import os
import re
import sys


def of_headers(directory):
    """What the headers declare, in the words of the golden file."""
    found = set()
    for path in glob.glob(os.path.join(directory, "*.h")):
        with open(path, encoding="utf-8") as file:
            code = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)
        found |= {name for name in re.findall(r"^#define[ \t]+(TIDINGS_\w+)[ \t]+\S", code, flags=re.MULTILINE)}
        for struct, body in re.findall(r"\bstruct\s+(\w+)\s*\{(.*?)\n\}\s*;", code, flags=re.DOTALL):
            found.add(f"struct {struct}")
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", declaration)
                if pointer:
                    found.add(f"{struct}.{pointer[1]}")
                    continue
                for one in re.sub(r"\[[^]]*\]", "", declaration).split(","):
                    name = re.search(r"(\w+)\s*$", one)[1]
                    found.add(f"{struct}.{name}")
    return found


def of_golden(path):
    with open(path, encoding="utf-8") as file:
        return set(re.findall(r"^(TIDINGS_\w+) =|^(struct \w+):|^  (\w+\.\w+):", file.read(), flags=re.MULTILINE))


def main(source):
    headers = of_headers(os.path.join(source, "abi", "tidings"))
    goldens = sorted(glob.glob(os.path.join(source, "abi", "golden", "layout-*.txt")),
                     key=lambda path: [int(number) for number in re.findall(r"\d+", os.path.basename(path))])
    golden = {"".join(groups) for groups in of_golden(goldens[-1])}
    for name in sorted(headers - golden):
        print(f"# in the headers, not in {goldens[-1]}: {name}")
    for name in sorted(golden - headers):
        print(f"# in {goldens[-1]}, not in the headers: {name}")
    enough = len(headers) > 150
    print(f"{'ok' if enough else 'not ok'} 1 - {len(headers)} names were found in the headers")
    print(f"{'ok' if headers == golden else 'not ok'} 2 - each of them, and nothing else, is in the golden layout")
    print("1..2")
    return 0 if enough and headers == golden else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
