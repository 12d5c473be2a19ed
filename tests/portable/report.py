#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report.py TARGET TESTS.xml: prints ctest's results of a target as TAP: a line for each test, or for each case if the test reports cases.
Exit status 1 if anything failed."""
import re
import sys
import xml.etree.ElementTree as ET

CASE = re.compile(r"^(not )?ok - (.*)$", re.MULTILINE)


def shown(output, limit=60):
    return "".join(f"# {line}\n" for line in output.splitlines()[-limit:])


def main(target, path):
    passed = failed = skipped = 0
    for test in ET.parse(path).getroot().iter("testcase"):
        name, output, status = test.get("name"), test.findtext("system-out") or "", test.get("status")
        cases = CASE.findall(output)
        bad = [case for case in cases if case[0]]
        for no, case in cases:
            print(f"{no}ok - {target}: {name}: {case}")
        skips = sum("# SKIP" in case for _, case in cases)
        skipped += skips
        failed += len(bad)
        passed += len(cases) - len(bad) - skips
        if status == "notrun":
            skipped += 1
            print(f"ok - {target}: {name} # SKIP {(output.strip().splitlines() or ['no reason given'])[-1]}")
        elif status != "run" and not bad:
            failed += 1
            print(f"not ok - {target}: {name}")
        elif not cases:
            passed += 1
            print(f"ok - {target}: {name}")
        if status == "fail":
            print(shown(output), end="")
    print(f"# sum: {target}: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
