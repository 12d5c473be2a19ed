#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally.py RESULTS…: sums up the JUnit files that ctest has written, one for each preset, or TAP in a file that ends in .tap.

A program may hold many cases: those that a Criterion program or a TAP stream reports are counted one by one, anything else is one
case. Prints each failed program with its log's message and place, and all lines that begin with "# sum: "; the last line is `N passed, N failed`. Exit status 1 if anything failed or nothing ran.

A program that failed, and passed when it was run again by itself (again.xml beside the JUnit file), is unstable: it is reported like a failure, and counted
separately. The line before the last names each program that was run again, and how that ended.

tally.py --failed RESULTS: prints the names of the failed programs, without those with a report of a sanitizer.
tally.py --brief RESULTS: prints only how many passed, failed and were skipped in one file.
"""
import os
import re
import sys
import xml.etree.ElementTree as ET

SYNTHESIS = re.compile(r"Synthesis: Tested: \d+ \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)")
TAP = re.compile(r"^(not )?ok\b[^#\n]*(#\s*skip\b)?", re.IGNORECASE | re.MULTILINE)


def cases(output):
    """Returns the numbers of passed, failed and skipped cases that the output reports."""
    passed = failed = skipped = 0
    for match in SYNTHESIS.finditer(output):
        passed += int(match[1])
        failed += int(match[2]) + int(match[3])
    for match in TAP.finditer(output):
        if match[2]:
            skipped += 1
        elif match[1]:
            failed += 1
        else:
            passed += 1
    return passed, failed, skipped


def program(case):
    """Returns the same for one program of the JUnit file; its exit status decides."""
    passed, failed, skipped = cases(case.findtext("system-out") or "")
    status = case.get("status")
    if status == "fail":
        return passed, max(failed, 1), skipped
    if status != "run":  # ctest's other statuses: notrun, disabled
        return 0, 0, max(skipped, 1)
    if not passed and not skipped:
        passed = 1
    return passed, 0, skipped


def reasons(output):
    """Returns the reasons for skipping: the TAP stream's reason for each case, otherwise the last line."""
    said = re.findall(r"^ok\b[^#\n]*#\s*skip\b\s*(.*)", output, re.IGNORECASE | re.MULTILINE)
    return said or output.strip().splitlines()[-1:] or ["no reason given"]


def run_again(preset_dir):
    """Returns the programs that were run again, by name."""
    path = os.path.join(preset_dir, "again.xml")
    return {case.get("name"): case for case in testcases(path)} if os.path.exists(path) else {}


def brief(path):
    counts = [sum(column) for column in zip(*(program(case) for case in testcases(path)))] or [0, 0, 0]
    return f"{os.path.basename(os.path.dirname(os.path.abspath(path)))}: {counts[0]} passed, {counts[1]} failed" + (f", {counts[2]} skipped" if counts[2] else "")


def names_of_failed(path):
    return [case.get("name") for case in testcases(path) if program(case)[1] and "not ok - sanitizer report" not in (case.findtext("system-out") or "")]


def sums(output):
    """Returns the lines that are printed even if the program passes."""
    return re.findall(r"^# sum: (.*)", output, re.MULTILINE)


def testcases(path):
    """Returns the tests of a file; a TAP file is one test. If it has no line of TAP, its text says why nothing was done."""
    if not path.endswith(".tap"):
        return ET.parse(path).getroot().iter("testcase")
    with open(path, encoding="utf-8", errors="replace") as file:
        output = file.read()
    passed, failed, skipped = cases(output)
    case = ET.Element("testcase", name="all", status="fail" if failed else "run" if passed or skipped else "notrun")
    ET.SubElement(case, "system-out").text = output
    return [case]


def failures(output, limit=60):
    """Returns the failures in a log: the failed lines of TAP with the comments before and after each; without any, the end of the log."""
    lines, kept, comments, after = output.rstrip().splitlines(), [], [], False
    for line in lines:
        if line.startswith("#"):
            (kept if after else comments).append(line)
        elif re.match(r"ok\b", line):
            comments, after = [], False
        elif re.match(r"not ok\b", line):
            kept += comments + [line]
            comments, after = [], True
    return [line[:300] for line in (kept or lines[-30:])[:limit]]


def write_log(preset_dir, case):
    path = os.path.join(preset_dir, "failed", case.get("name") + ".log")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as log:
        log.write(case.findtext("system-out") or "")
    return path


def main(paths):
    if paths[:1] == ["--failed"]:
        sys.stdout.writelines(name + "\n" for path in paths[1:] for name in names_of_failed(path))
        return 0
    if paths[:1] == ["--brief"]:
        print(brief(paths[1]))
        return 0
    total = [0, 0, 0]
    unstable = 0
    twice = []
    for path in paths:
        preset_dir = os.path.dirname(os.path.abspath(path))
        seen = [0, 0, 0]
        again = run_again(preset_dir)
        twice += [f"{os.path.basename(preset_dir)} {name} (then {'passed' if case.get('status') == 'run' else 'failed again'})" for name, case in sorted(again.items())]
        for case in testcases(path):
            counts = program(case)
            if counts[1] and case.get("name") in again and again[case.get("name")].get("status") == "run":
                unstable += 1
                print(f"UNSTABLE {os.path.basename(preset_dir)}: {case.get('name')} failed, and passed when it was run again by itself; log of the failure: {write_log(preset_dir, case)}")
                print("\n".join(f"  | {line}" for line in failures(case.findtext("system-out") or "")))
                case = again[case.get("name")]
                counts = program(case)
            for line in sums(case.findtext("system-out") or ""):
                print(f"{os.path.basename(preset_dir)}: {line}")
            seen = [a + b for a, b in zip(seen, counts)]
            if counts[1]:
                print(f"FAILED {os.path.basename(preset_dir)}: {case.get('name')} ({counts[1]} failed), log: {write_log(preset_dir, case)}")
                print("\n".join(f"  | {line}" for line in failures(case.findtext("system-out") or "")))
            elif counts[2]:
                for why in reasons(case.findtext("system-out") or ""):
                    print(f"skipped {os.path.basename(preset_dir)}: {case.get('name')}: {why}")
        print(f"{os.path.basename(preset_dir)}: {seen[0]} passed, {seen[1]} failed" + (f", {seen[2]} skipped" if seen[2] else ""))
        total = [a + b for a, b in zip(total, seen)]
    if not any(total):
        print("no test matches")
    if twice:
        print("failed and were run again by themselves: " + ", ".join(twice))
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else "") + (f", {unstable} unstable" if unstable else ""))
    return 1 if total[1] or not any(total) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
