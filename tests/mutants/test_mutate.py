#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_mutate.py: tests that a mutant finds its function by name, with any formatting, file and variables, and reports if it cannot. Prints TAP."""
import os
import re
import subprocess
import sys
import tempfile

import mutate

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAIN = "#include <stdio.h>\nint twice(int n);\nint main(void) { printf(\"%d\\n\", twice(4)); return 0; }\n"
SOURCES = {
    "as it is": "static int add(int a, int b) {\n  return a + b;\n}\nint twice(int n) {\n  return add(n, n);\n}\n",
    "formatted otherwise": "static int add ( int a ,int b ) { return a+b ; }\nint\ntwice ( int n )\n{ return add (n, n); }\n",
    "with other variables": "static int add(int sum[1], int (*of)(int)) { return of(sum[0]); }\nstatic int one(int n) { return n + n; }\n"
                            "int twice(int code) {\n  int list[] = {code};\n  return add(list, one);\n}\n",
    "after its name in comments, text and prototypes": "/* int twice(int n) { */\n#define NAME \"twice(x) {\"\nint twice(int);\n"
                                                       "static int add(int a, int b) { return a + b; } // }\nint twice(int n) { return add(n, n); }\n",
}


def mutant(line, body):
    made = mutate.Mutant(line, 1)
    made.body = body
    return made


def output(source, changed):
    """Returns the output of the program with the mutant, or the reason why it cannot be made."""
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(os.path.join(work, "plugin", "rules"))
        with open(os.path.join(work, "plugin", "rules", "moved.c"), "w", encoding="utf-8") as file:
            file.write(source)
        try:
            _, text = mutate.write(work, changed)
        except mutate.Stale as stale:
            return str(stale)
        with open(os.path.join(work, "all.c"), "w", encoding="utf-8") as file:
            file.write(text + MAIN)
        subprocess.run([os.environ.get("CC", "cc"), "-w", "-o", os.path.join(work, "all"), os.path.join(work, "all.c")], check=True)
        return subprocess.run([os.path.join(work, "all")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def stale():
    """Returns the mutants of mutants.txt whose functions or calls are missing in the sources."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants.txt"), encoding="utf-8") as file:
        kinds = sorted(set(re.findall(r"^(\w+):", file.read(), re.MULTILINE)))
    found = set()
    for kind in kinds:
        for each in mutate.read_mutants(kind):
            try:
                mutate.write(SOURCE, each)
            except mutate.Stale as reason:
                found.add(str(reason))
    return sorted(found)


def main():
    checks = [("all of mutants.txt find what they change", stale(), [])]
    for name, source in SOURCES.items():
        checks.append((f"{name}: the function", output(source, mutant("mutant twice", "  return CALL(ARG1 + 1) + ORIGINAL;\n")), "18"))
        checks.append((f"{name}: what it calls", output(source, mutant("mutant twice in rules calls add", "  3\n")), "3"))
    plain = SOURCES["as it is"]
    checks.append(("a function that is gone is named", output(plain, mutant("mutant thrice", "  return 0;\n")),
                   "the function thrice is gone from plugin/: name the one that does its work now in tests/mutants/mutants.txt"))
    checks.append(("so is one in another folder", output(plain, mutant("mutant twice in store", "  return 0;\n")),
                   "the function twice is gone from plugin/ (store): name the one that does its work now in tests/mutants/mutants.txt"))
    checks.append(("a call that is gone is named", output(plain, mutant("mutant twice calls sub", "  0\n")),
                   "twice does not call sub any more: find another way to write this mutant in tests/mutants/mutants.txt"))
    print(f"1..{len(checks)}")
    for number, (name, got, expected) in enumerate(checks, 1):
        print(f"{'ok' if got == expected else 'not ok'} {number} - {name}")
        if got != expected:
            print(f"# expected {expected!r} got {got!r}")
    return int(any(got != expected for _, got, expected in checks))


sys.exit(main())
