#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_tally.py: tests the counts of tally.py, and its last line. Prints TAP."""
import os
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

TALLY = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tally.py")
CRITERION = "[====] Synthesis: Tested: 4 | Passing: {} | Failing: {} | Crashing: {} \n"

CASES = [
    ("a program is one case", [("run", "")], "1 passed, 0 failed", 0),
    ("Criterion's cases are counted", [("run", CRITERION.format(4, 0, 0))], "4 passed, 0 failed", 0),
    ("failing and crashing ones too", [("fail", CRITERION.format(1, 2, 1))], "1 passed, 3 failed", 1),
    ("the points of a TAP stream are counted", [("run", "ok 1 - a\nok 2 - b # SKIP no disk\n1..2\n")], "1 passed, 0 failed, 1 skipped", 0),
    ("its failures too", [("fail", "ok 1 - a\nnot ok 2 - b\n# ok is not a point\n1..2\n")], "1 passed, 1 failed", 1),
    ("a program that fails after all its cases passed has failed", [("fail", CRITERION.format(4, 0, 0))], "4 passed, 1 failed", 1),
    ("a program that dies without a word has failed", [("fail", "")], "0 passed, 1 failed", 1),
    ("a program that passes because something fails has passed", [("run", "not ok 1 - as it must\n")], "1 passed, 0 failed", 0),
    ("what was skipped is said", [("notrun", "no such file system here\n"), ("run", "")], "1 passed, 0 failed, 1 skipped", 0),
    ("all is summed up", [("run", "ok 1\nok 2\n"), ("run", CRITERION.format(3, 0, 0)), ("fail", "")], "5 passed, 1 failed", 1),
    ("nothing at all is a failure", [], "0 passed, 0 failed", 1),
]


def prints_sums(folder):
    path = os.path.join(folder, "tests.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(junit([("run", "ok 1\n# sum: 12 states\n1..1\n")]))
    result = subprocess.run([sys.executable, TALLY, path], capture_output=True, text=True, check=False)
    return f"{os.path.basename(folder)}: 12 states" in result.stdout.splitlines()


def says_unstable(folder):
    """A failure stays visible when the second run passes, and stays a failure when the second run fails too; a program with a report of a sanitizer is not run again."""
    first = [("fail", "ok 1\nnot ok 2 - by chance\n"), ("fail", "not ok 1 - always\n"), ("fail", "ok 1\nnot ok - sanitizer report x\n"), ("run", "ok 1\n")]
    path, again = os.path.join(folder, "tests.xml"), os.path.join(folder, "again.xml")
    for name, programs in ((path, first), (again, [("run", "ok 1\nok 2 - by chance\n"), ("fail", "not ok 1 - always\n")])):
        with open(name, "w", encoding="utf-8") as file:
            file.write(junit(programs))
    both = subprocess.run([sys.executable, TALLY, path], capture_output=True, text=True, check=False)
    names = subprocess.run([sys.executable, TALLY, "--failed", path], capture_output=True, text=True, check=False).stdout.split()
    with open(path, "w", encoding="utf-8") as file:
        file.write(junit(first[:1]))
    one = subprocess.run([sys.executable, TALLY, path], capture_output=True, text=True, check=False)
    told = "failed and were run again by themselves: {0} t0 (then passed), {0} t1 (then failed again)".format(os.path.basename(folder))
    return (both.returncode == 1 and both.stdout.splitlines()[-2] == told and both.stdout.splitlines()[-1] == "4 passed, 2 failed, 1 unstable" and "  | not ok 2 - by chance" in both.stdout
            and names == ["t0", "t1"] and one.returncode == 0 and one.stdout.splitlines()[-1] == "2 passed, 0 failed, 1 unstable")


def says_brief(folder):
    path = os.path.join(folder, "tests.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(junit([("run", "ok 1\nok 2\n"), ("fail", ""), ("notrun", "no disk\n")]))
    result = subprocess.run([sys.executable, TALLY, "--brief", path], capture_output=True, text=True, check=False)
    return result.returncode == 0 and result.stdout == f"{os.path.basename(folder)}: 2 passed, 1 failed, 1 skipped\n"


def junit(programs):
    rows = "".join(f'<testcase name="t{i}" classname="t{i}" time="0" status="{status}"><system-out>{escape(output)}</system-out></testcase>'
                   for i, (status, output) in enumerate(programs))
    return f'<?xml version="1.0" encoding="UTF-8"?><testsuite name="t" tests="{len(programs)}">{rows}</testsuite>'


def main():
    failed = 0
    for number, (title, programs, expected, expected_status) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(junit(programs))
            result = subprocess.run([sys.executable, TALLY, path], capture_output=True, text=True, check=False)
        last = result.stdout.splitlines()[-1]
        good = last == expected and result.returncode == expected_status
        failed |= not good
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
        if not good:
            print(f"# expected {expected!r} and {expected_status}, got {last!r} and {result.returncode}\n# {result.stderr}")
    others = ((prints_sums, "what a program sums up is told"), (says_unstable, "what fails and then passes is told as unstable, and named in the last lines"),
              (says_brief, "one line says how a preset's tests ended"))
    for number, (test, title) in enumerate(others, len(CASES) + 1):
        with tempfile.TemporaryDirectory() as folder:
            good = test(folder)
        failed |= not good
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(CASES) + len(others)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
