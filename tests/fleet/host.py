# SPDX-License-Identifier: MIT
"""host.py STORE SESSION TRANSCRIPT [drain|takeover]: a host that shows and settles pushed notifications, until it is ended, or until nothing is left.
"takeover": it takes the session from a living host.

Like a real host, it writes shown notifications into TRANSCRIPT before it settles, and resumes with the deliveries in that file. It prints "resumed
BEGAN ENDED", "shown DELIVERY TOKEN BEGAN ENDED" and "settled DELIVERY BEGAN ENDED"; "late MS" for a hook that took much longer than its budget.
"""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

store, session, transcript = sys.argv[1:4]
drain, takes_over = sys.argv[4:] == ["drain"], sys.argv[4:] == ["takeover"]
BUDGET_MS = kit.PATIENT_MS if drain else 1000
opened, resumed, calls, quiet = None, False, 0, 0
lateness = net.Lateness()


def note(*words):
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def known():
    if not os.path.exists(transcript):
        return []
    with open(transcript, encoding="utf-8") as file:
        return [line.split()[0] for line in file.read().split("\n")[:-1]]


while True:
    began = time.monotonic()
    try:
        if not opened:
            opened, resumed = kit.Kit(store, budget_ms=BUDGET_MS), False
        if not resumed:
            opened.event("session.resumed", session, deliveries=known()[-200:], takeover=takes_over)
            resumed, takes_over = True, False
            note("resumed", began, time.monotonic())
        calls += 1
        lateness.since()
        began = time.monotonic()
        answer = opened.call("tool_result", session=session, call_id=f"c{calls}", tool="shell", content="done")
        ended = time.monotonic()
        took_ms = (ended - began) * 1000
        if took_ms > BUDGET_MS + kit.LATE_MS + 3 * lateness.since():
            note("late", int(took_ms))
        delivery = (answer.get("reply") or {}).get("delivery")
        tokens = re.findall(r"#([\w-]+)#", answer.get("content", ""))
        if not delivery:
            quiet += 1
            if drain and quiet > 3:
                break
            continue
        quiet = 0
        # This comes first, because notifications in the transcript are not shown again.
        for token in tokens:
            note("shown", delivery, token, began, ended)
        with open(transcript, "a", encoding="utf-8") as file:
            file.write(f"{delivery} {' '.join(tokens)}\n")
        began = time.monotonic()
        opened.call("settle", delivery=delivery, outcome="committed")
        note("settled", delivery, began, time.monotonic())
    except kit.Failed as failed:
        took_ms = (time.monotonic() - began) * 1000
        if took_ms > BUDGET_MS + kit.LATE_MS + 3 * lateness.since() and failed.code != "open":
            note("late", int(took_ms))
        note("failed", failed.code, failed.text.replace(" ", "_")[:160], began, time.monotonic())
        if failed.code == "TIDINGS_E_CLOSED":
            break
        if failed.code == "open" or "owned" in failed.text:
            if opened:
                opened.close()
            opened = None
        time.sleep(0.05)
if opened:
    opened.close()
