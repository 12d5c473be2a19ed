#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py TURNS_MODEL: compares the table of docs/turns.md with the machine. The expected outcomes of a cell follow from its words; the actual ones
are those that `turns-model table` found while it explored all states. Both must be equal, and no cell may be missing on either side. Prints TAP.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "scenarios"))
import cells  # noqa: E402

DEPTH = "6"
# The machine's name of the event for rows whose files have another name.
EVENTS = {"submit-queue": "message.submitted", "submit-steer": "message.submitted, steer", "cancel": "message.cancelled",
          "chat-request-with-ids": "chat request", "turn-started-with-ids": "turn.started", "tool-result": "tool result",
          "turn-started-without-ids": "turn.started without ids", "redirect-steer": "message.redirected, steer",
          "redirect-queue": "message.redirected"}
# Events that the document describes in its text.
IN_TEXT = {"message.edited": "Edit", "message.moved": "message.moved", "session.opened": "session.opened",
           "session.compacting": "session.compacting", "session.compacted": ".compacted", "session.closed": "session.closed",
           "wake": "`wake`", "committed": "Committed", "rolled back": "Rolled back", "recovered": "Recovery",
           "notification": "pending notification"}
ERROR_1 = {"STATE", "FIRED", "NOT_FOUND"}
PHASES = {"stream.started": "streaming", "tools.started": "tools", "tool result": "tools"}
# The states of a message for the words in the rows about messages.
MESSAGES = {"steering": {"steering"}, "queue": {"queued"}, "queued": {"queued"}, "store; offer": {"queued", "offered"},
            "→ idle, offer": {"queued", "offered"}, "removes": {"cancelled"}, "a waiting one is removed": {"cancelled"},
            "an offered one leaves the offer; if that was the last, → idle and the next is offered in the same reply": {"cancelled"},
            "no effect": {"queued"}}


def outcomes(words, name, state):
    """Returns the run states and errors that these words name."""
    if "error 1" in words:
        return ERROR_1
    if words == "STATE":
        return {"STATE"}
    goals = re.findall(r"→ (\w+)", words)
    if name in ("turn-retrying", "turn-waiting"):
        goals = [goal for goal in goals if goal == name[5:]]
    goals = set(goals or ["busy"] if "the offer starts" in words else goals)
    if re.search(r"(?<!nothing )\boffer(ed)?\b(?! withdrawn| starts)|\bdrain\b", words.replace("an offered one leaves the offer", "")):
        goals |= {"starting"} if goals or words.startswith("offer, or") else {"starting", state}
    if "leaves the offer" in words:
        goals |= {state}
    return goals or {state}


def clauses(words):
    """Returns the words for each kind of ids in turns-model, and whether the words distinguish these kinds."""
    parts = re.split(r"; else |; (?=with `resume`)", words)
    if len(parts) == 1:
        return {"none": words, "turn": words, **({"other": words} if words == "error 1" else {})}, False
    first, last = parts[0], parts[1]
    if last.startswith("with `resume`"):
        return {"none": first, "resume": last.partition("attached, ")[2]}, True
    who, _, first = first.partition(": ")
    if who == "naming the offer":
        return {"turn": first, "none": last}, True
    return {"turn": first, "part": first if who == "of the offer" else last, "other": last}, True


def read_machine(text):
    cells_met = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) == 8:
            event, state, ids, *sets, changed = fields
            cells_met[event, state, ids] = [set(words.split(",")) - {""} for words in sets] + [changed]
    return cells_met


def disagreements(words, name, state, ids, met):
    """Compares `words`, which describe the outcome of this event, with `met`, the outcomes of the machine."""
    event = EVENTS.get(name, name.replace("-", ".", 1))
    got, messages, phases, turns, changed = met
    expected = outcomes(words, name, state)
    if name == "chat-request-with-ids" and ids == "turn" and state != "starting":
        expected = expected | {"NOT_FOUND"}  # "Ids of a turn" includes a cancelled one
    if got != expected:
        yield f"becomes {sorted(got)}, not {sorted(expected)}"
    if words.startswith("no effect") and changed and name != "chat-request-with-ids":  # that event is a carrier
        yield "changes something"
    turn = "own" if re.search(r"own turn|withdrawn", words) else "offered" if re.search(r"offer starts|of the offer", words) else None
    if turn and turns != {turn}:
        yield f"has a turn of the kind {sorted(turns)}"
    if "phase" in words and (phases != {PHASES.get(event, "unknown")} or not event.startswith(("stream", "tool"))):
        yield f"has the phases {sorted(phases)}"
    if "→ busy" in words and "phase" not in words and phases != {"unknown"}:
        yield f"has the phases {sorted(phases)}"
    if not words.startswith(("no effect", "STATE", "error 1")) and not changed and not (
            "→" in words and name in ("turn-retrying", "turn-waiting")):  # these words are not compared here
        yield "changes nothing"
    if event.startswith("message.") != (words in MESSAGES) and not words.startswith(("no effect", "→")):
        yield "has to do with a message, or has not"
    if event.startswith("message.") and messages != MESSAGES.get(words):
        yield f"leaves the message {sorted(messages)}"


def judge_cell(words, name, state, machine):
    event = EVENTS.get(name, name.replace("-", ".", 1))
    said, told_apart = clauses(words)
    met = {its_ids: cell for (its_event, its_state, its_ids), cell in machine.items()
           if (its_event, its_state) == (event, state) and cell[0]}
    for ids in met:
        if ids not in said and not (ids in ("part", "other") and judged_by_ids(event)):
            yield f"{event}, {state}: the document does not say what becomes of ids: {ids}"
    if not met or (told_apart and set(said) - set(met)):
        yield f"{event}, {state}: the machine was never there, with all that the document tells apart: {words}"
    for ids in set(said) & set(met):
        for what in disagreements(said[ids], name, state, ids, met[ids]):
            yield f"{event}, {state}, ids {ids}: the machine {what}; the document says: {words}"


def judged_by_ids(event):
    return event.startswith("turn.") and event != "turn.started"


def judge_ids(machine):
    """The given ids must belong to the current turn; ids of ended turns have no effect."""
    for (event, state, ids), (got, *_, changed) in machine.items():
        if judged_by_ids(event) and ids in ("part", "other"):
            if changed or not got <= ({"STATE"} if ids == "part" else {"STATE", state}):
                yield f"{event}, {state}, ids {ids}: {sorted(got)}"


def same_as(rows, header, row, column):
    """Returns the words of a cell, with "same" replaced by the cell before it and "as queue" by the cell of the row `submit, queue`."""
    words = rows[row][column]
    if words == "same":
        return same_as(rows, header, row, column - 1)
    return rows["submit, queue"][column].split("; with")[0] if words == "as queue" else words


def main(program):
    with open(os.path.join(SOURCE, "docs", "turns.md"), encoding="utf-8") as file:
        document = file.read()
    header, rows = cells.table(document)
    done = subprocess.run([program, "table", DEPTH], stdout=subprocess.PIPE, text=True, check=False)
    machine = read_machine(done.stdout)
    events = {event for event, _, _ in machine}
    in_table = {EVENTS.get(name, name.replace("-", ".", 1)) for names in cells.ROWS.values() for name in names}
    failed = cells.report(1, "the machine has the events of the document, and no others",
                          [f"{event}" for event in sorted(events ^ (in_table | set(IN_TEXT)))]
                          + [f"{event}: no {word!r} in the document" for event, word in IN_TEXT.items() if word not in document])
    found = [finding for row, names in cells.ROWS.items() for name in names for column, heading in enumerate(header)
             for state in cells.COLUMNS[heading]
             for finding in judge_cell(same_as(rows, header, row, column), name, state, machine)]
    failed |= cells.report(2, "each cell of the document says what the machine does in it", found)
    failed |= cells.report(3, "ids mean the turn that is offered or runs, or one that is over", list(judge_ids(machine)))
    print("1..3")
    return int(failed or done.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
