# SPDX-License-Identifier: MIT
"""Tests `tidings tail`, which prints the events of a session line by line."""
import json
import os
import signal
import sys

from kit import DEADLINE_S, end, main, sleeps_for_ever, until


def deliver(place, call="c1"):
    place.ok("deliver", "--at", "tool-result", "-s", "s", "--owner", str(os.getpid()), "--call", call, "--tool", "Bash", stdin="ok")


def test_lines(place):
    """each push, delivery, outcome and step of a turn is a line, oldest first, and hostile text stays on its line"""
    place.opened()
    place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "one\x1b[31m\u202e\ntwo")
    deliver(place)
    place.ok("submit", "-s", "s", "--id", "m1", "Go on.")
    day, *lines = place.ok("tail", "-s", "s").text.splitlines()
    assert day.count("-") == 2, day
    words = [line.split("  ", 1)[1].split()[0] for line in lines]
    assert words == ["push", "delivery", "settled", "outcome", "turn"], lines
    assert lines[0].endswith(" ci.failed (error): one{U+001B}[31m{U+202E} \u2026"), lines[0]
    assert lines[1].endswith(" on tool_result of Bash, call c1") and lines[2].endswith(" committed by host"), lines
    assert lines[3].endswith(" delivered ci.failed (error): one{U+001B}[31m{U+202E} \u2026 [shown to the assistant]"), lines[3]
    assert "message.submitted: idle to starting; m1 offered" in lines[4], lines[4]
    assert lines == sorted(lines, key=lambda line: line.split()[0]), lines
    assert place.ok("tail", "-s", "s", "-n", "2").text.splitlines() == [day, *lines[-2:]]


def test_json(place):
    """with --json each line is an object"""
    place.opened()
    place.ok("push", "-s", "s", "-k", "ci.failed", "one\ntwo")
    deliver(place)
    events = [json.loads(line) for line in place.ok("tail", "-s", "s", "--json").text.splitlines()]
    assert [event["event"] for event in events] == ["push", "delivery", "settled", "outcome"], events
    assert events[0]["message"] == "one\ntwo" and events[0]["kind"] == {"source": "ci", "name": "failed"}, events[0]
    assert events[3]["id"] == events[0]["id"] and events[3]["delivery"] == events[1]["id"] and events[3]["outcome"] == "delivered", events


def test_follow(place):
    """-f continues with later events, prints nothing twice, and ends on a signal"""
    place.opened()
    place.ok("push", "-s", "s", "before")
    with open(os.path.join(place.dir, "out"), "w+b") as out:
        process = place.start("tail", "-f", "-s", "s", "--json", stdout=out)

        def events():
            with open(out.name, encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.endswith("\n")]

        until(events, "what was there before")
        for i in range(3):
            place.ok("push", "-s", "s", f"push {i}")
            until(lambda i=i: [event for event in events() if event.get("message") == f"push {i}"], f"push {i}")
        deliver(place)
        until(lambda: len([event for event in events() if event["event"] == "outcome"]) == 4, "the outcomes")
        said = [(event["event"], event["id"]) for event in events()]
        assert len(said) == len(set(said)) == 4 + 1 + 1 + 4, said
        place.event("session.rewound", {"deliveries": []}, owner=os.getpid())
        until(lambda: [event for event in events() if event["event"] == "rewound"], "the delivery that was taken back")
        lines = place.ok("tail", "-s", "s").text.splitlines()
        assert " settled " in lines[-2] and " committed by " in lines[-2] and lines[-1].endswith("is no longer in the transcript; what only it showed is pending again"), lines
        assert end(process, signal.SIGTERM) == 128 + signal.SIGTERM, process.stderr.read()


def test_forgotten(place):
    """-f continues with a new session of the name of one that was forgotten, from its first event on"""
    for i in range(2):
        place.ok("push", "-s", "s", "--create", f"old {i}")
    with open(os.path.join(place.dir, "out"), "w+b") as out:
        process = place.start("tail", "-f", "-s", "s", "--json", stdout=out)

        def messages():
            with open(out.name, encoding="utf-8") as file:
                return [json.loads(line)["message"] for line in file if line.endswith("\n")]

        until(lambda: len(messages()) == 2, "what was there before")
        process.send_signal(signal.SIGSTOP)  # it looks again only when all of this has happened
        place.ok("store", "forget", "-s", "s")
        place.ok("push", "-s", "s", "--create", "new 0")
        process.send_signal(signal.SIGCONT)
        until(lambda: len(messages()) == 3, "the new session's first push")
        place.ok("push", "-s", "s", "new 1")
        until(lambda: len(messages()) == 4, "its second push")
        assert messages() == ["old 0", "old 1", "new 0", "new 1"], messages()
        assert end(process, signal.SIGTERM) == 128 + signal.SIGTERM, process.stderr.read()


def test_moved(place):
    """-f ends with an error when the store's folder is moved away, because it would see nothing of another one there"""
    place.opened()
    place.ok("push", "-s", "s", "before")
    process = place.start("tail", "-f", "-s", "s")
    until(lambda: sleeps_for_ever(process.pid), "that it waits")
    os.rename(place.store, place.store + ".away")
    assert process.wait(DEADLINE_S) == 1
    assert place.store + " was moved away or removed" in process.stderr.read().decode()


def test_refusals(place):
    """tail ends if its reader goes away, or if there is no such store"""
    place.refused("tail", "-s", "s", "-S", "nowhere", says="nowhere")
    place.refused("tail", "-s", "s", "-n", "many", code=2, says="--lines")
    place.opened()
    place.ok("push", "-s", "s", "before")
    process = place.start("tail", "-f", "-s", "s")
    assert process.stdout.readline(), "the line of what was there before"
    process.stdout.close()

    def ended():
        place.ok("push", "-s", "s", "-k", "a.b", "one more")
        return process.poll() is not None

    until(ended, "its end")
    assert process.wait(DEADLINE_S) == 141, process.returncode
    assert process.stderr.read() == b""


if __name__ == "__main__":
    sys.exit(main(globals()))
