#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py SUMMARY.json FOLDER…: prints the coverage of lines and branches of each folder, and of all, from the output of `gcovr --json-summary`."""
import json
import sys


def percent(rows, what):
    covered, total = (sum(row[f"{what}_{part}"] for row in rows) for part in ("covered", "total"))
    return f"{100 * covered / total if total else 0:9.1f} % of {total:6}"


def main(path, *folders):
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    print(f"{'':10}{'lines':>20}{'branches':>21}")
    for folder in folders + ("",):
        rows = [row for row in files if row["filename"].startswith(f"{folder}/" if folder else folders)]
        print(f"{folder or 'all':10}{percent(rows, 'line')} {percent(rows, 'branch')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
