#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cells.py SOURCE_DIR: checks that every cell of the table in docs/turns.md has its scenario in the conformance suite, hostsim/conformance/scenarios/cells/EVENT--STATE.json. The scenario must send this
event in this state: a step directly before it checks the state. Its expectations must agree with the table's words. The rules are written in words only in this table; the scenarios test that the plugin
follows them.
Prints TAP.
"""
import json
import os
import re
import sys

# The states in the file names, by the table's columns; then the names of the files of a row, by the row's first words.
COLUMNS = {"idle": ["idle"], "starting": ["starting"], "busy": ["busy"], "retrying, waiting": ["retrying", "waiting"], "error": ["error"]}
ROWS = {
    "submit, queue": ["submit-queue"],
    "submit, steer": ["submit-steer"],
    "chat request with ids, turn.started with ids": ["chat-request-with-ids", "turn-started-with-ids"],
    "turn.started without ids": ["turn-started-without-ids"],
    "turn.declined": ["turn-declined"],
    "turn.finished, .aborted": ["turn-finished", "turn-aborted"],
    "turn.failed": ["turn-failed"],
    "turn.retrying, .waiting": ["turn-retrying", "turn-waiting"],
    "turn.resume": ["turn-resume"],
    "turn.stop": ["turn-stop"],
    "stream.*, tools.*": ["stream-started", "stream-finished", "tools-started", "tools-finished"],
    "tool result": ["tool-result"],
    "redirect, steer": ["redirect-steer"],
    "redirect, queue": ["redirect-queue"],
    "session.rewound": ["session-rewound"],
    "cancel": ["cancel"],
}


def table(text):
    """Returns the header and the rows of the table whose first columns are `event` and `idle`; each row is found by its first cell."""
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines() if line.startswith("|")]
    start = next(number for number, cells in enumerate(lines) if cells[:2] == ["event", "idle"])
    rows = {}
    for cells in lines[start + 2:]:
        if len(cells) != len(lines[start]):
            break
        rows[cells[0]] = cells[1:]
    return lines[start][1:], rows


def happens(name, step):
    """Returns whether this step is the event of the files called `name`."""
    event = step.get("event", {})
    data = event.get("data") or {}
    if name in ("submit-queue", "submit-steer"):
        return event.get("type") == "message.submitted" and data.get("delivery", "queue") == name[7:]
    if name in ("redirect-steer", "redirect-queue"):
        return event.get("type") == "message.redirected" and data.get("delivery") == name[9:]
    if name == "cancel":
        return event.get("type") == "message.cancelled"
    if name == "chat-request-with-ids":
        return bool(step.get("chat_request", {}).get("messages"))
    if name == "tool-result":
        return "tool_result" in step
    if name.startswith("turn-started-"):
        return event.get("type") == "turn.started" and ("messages" in data) == (name == "turn-started-with-ids")
    return event.get("type") == name.replace("-", ".", 1)


def asks(state, step):
    return step.get("query", {}).get("name") == "status" and step.get("expect", {}).get("state") == state


def judge(path, name, state):
    if not os.path.exists(path):
        return f"{os.path.basename(path)} is missing"
    with open(path, encoding="utf-8") as file:
        steps = [step for step in json.load(file)["steps"] if "advance_ms" not in step]
    if not any(asks(state, before) and happens(name, step) for before, step in zip(steps, steps[1:])):
        return f"{os.path.basename(path)} has no {name} right after a query that finds the session {state}"
    return None


def row_has_states(name):
    """Returns whether the words of the row are about the session, not about a message."""
    return name != "cancel"


def entered(steps, name, state):
    """Returns the outcomes of these events, from the first one before which a query finds `state`: (error or None, state afterwards or None)."""
    first = next((number for number, (before, step) in enumerate(zip(steps, steps[1:]), 1) if asks(state, before) and happens(name, step)), None)
    outcomes = []
    for number, step in enumerate(steps if first is not None else []):
        if number < first or not happens(name, step):
            continue
        after = steps[number + 1] if number + 1 < len(steps) else {}
        query = after.get("expect", {}) if after.get("query", {}).get("name") == "status" else {}
        expect = step.get("expect", {})
        outcomes.append((expect.get("error"), expect.get("status", {}).get("state") or query.get("state")))
    return outcomes


def disagreement(words, name, state, outcomes):
    """Returns the demand of the table's words that the scenario's outcomes do not show; None: they show all."""
    errors, states = [error for error, _ in outcomes if error], [after for error, after in outcomes if not error]
    refused = re.search(r"\bSTATE\b|error 1", words)
    goals = re.findall(r"→ (\w+)", words)
    if name in ("turn-retrying", "turn-waiting") and goals:
        goals = [goal for goal in goals if goal == name[5:]]
    if refused and not errors:
        return "an error"
    if errors and "STATE" in words and "error 1" not in words and "TIDINGS_E_STATE" not in errors:
        return "the error STATE"
    if outcomes[0][0] and not refused:
        return "no error"
    if not goals and refused and "no effect" not in words and any(states):
        return "nothing but errors"
    if words.startswith("no effect") and states[0] not in (None, state):
        return f"that it is still {state}"
    # a session that becomes idle may offer the next message at once
    missing = [goal for goal in goals if not {goal, "starting" if goal == "idle" else goal} & set(states)]
    return f"the state {missing[0]}" if missing else None


def judge_words(path, words, name, state):
    with open(path, encoding="utf-8") as file:
        steps = [step for step in json.load(file)["steps"] if "advance_ms" not in step]
    missing = disagreement(words, name, state, entered(steps, name, state))
    return f"{os.path.basename(path)} does not show {missing}, as the table says: {words}" if missing else None


def report(number, title, findings):
    for finding in findings:
        print(f"# {finding}")
    print(f"{'not ok' if findings else 'ok'} {number} - {title}")
    return bool(findings)


def main(source):
    folder = os.path.join(source, "hostsim", "conformance", "scenarios", "cells")
    with open(os.path.join(source, "docs", "turns.md"), encoding="utf-8") as file:
        header, rows = table(file.read())
    cells = [(name, state) for names in ROWS.values() for name in names for states in COLUMNS.values() for state in states]
    files = {f"{name}--{state}.json" for name, state in cells}
    failed = report(1, "this script knows the table's rows and columns, and no others",
                    [f"row or column {word!r}" for word in set(rows) ^ set(ROWS) | set(header) ^ set(COLUMNS)])
    failed |= report(2, f"each of its {len(cells)} cells has a scenario that enters it",
                     [finding for name, state in cells if (finding := judge(os.path.join(folder, f"{name}--{state}.json"), name, state))])
    said = [(words, name, state) for row, names in ROWS.items() for name in names for column, words in zip(header, rows[row])
            for state in COLUMNS[column]]
    failed |= report(3, "and shows what the table's words say",
                     [finding for words, name, state in said
                      if row_has_states(name) and (finding := judge_words(os.path.join(folder, f"{name}--{state}.json"), words, name, state))])
    failed |= report(4, "there is no file for a cell that the table does not have",
                     [f"{name}" for name in sorted(os.listdir(folder)) if name not in files])
    print("1..4")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
