#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the reports on subscriptions in `tidings doctor` and `tidings stats --subscribe`: the last event, a broken connection, a refused token, an end."""
import os
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import DEADLINE_S, end, main, until  # pylint: disable=wrong-import-position

from events_kit import EVENT, MINUTE, Events, arrive, numbers, saved  # pylint: disable=wrong-import-position


def states(place):
    return place.ok("stats", "--subscribe", "--json").json


def reach(place, state, alive=True, pid=None):
    """Waits until the only subscription is in this state, and returns its report, which a process that has just begun has not written yet."""
    [one] = until(lambda: [one for one in states(place) if (one["state"], one["alive"]) == (state, alive) and pid in (None, one["pid"])], state)
    return one


def found(place):
    [row] = [row for row in place.run("doctor", "--json").json if row["topic"] == "subscribe"]
    assert row["text"].startswith(f"{EVENT} of http://127.0.0.1:") and " for session:s: " in row["text"], row
    return row["severity"], row["text"], row["remedy"] or ""


def write_token(path, text):
    with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)


def test_life(place):
    """doctor and stats report each state of a subscription, from its first event to its end, with a remedy and without a secret"""
    token = os.path.join(place.dir, "token")
    place.opened()
    assert place.ok("stats", "--subscribe").text == "This store has no subscription.\n"
    events = Events(place, {"token": "right-one"})
    write_token(token, "right-one\n")
    process = events.subscribe(*MINUTE, "--mode", "poll", "--token-file", token)
    until(lambda: saved(place), "the first cursor")
    assert reach(place, "follows")["event_ms"] == 0
    severity, text, remedy = found(place)
    assert (severity, remedy) == ("ok", "") and f"process {process.pid}, no event since it began" in text, text
    events.set_count(2)
    arrive(place, 2)
    until(lambda: states(place)[0]["counts"] == {"pushed": 2, "known": 0, "ignored": 0, "refused": 0}, "the counts")
    severity, text, _ = found(place)
    assert severity == "ok" and "last event" in text and text.endswith(" ago"), text
    assert "follows; pushed 2, known 0, not of interest 0, refused 0; last event" in place.ok("stats", "--subscribe").text

    events.set_faults(token="newer-one")
    reach(place, "refused")
    severity, text, remedy = found(place)
    assert severity == "problem" and "the token is refused" in text and "last event" in text and token in remedy, (severity, text, remedy)
    assert "-one" not in str(place.run("doctor", "--json").json) and "-one" not in str(states(place))
    write_token(token, "newer-one\n")
    reach(place, "follows")

    end(events.process, signal.SIGKILL)
    one = reach(place, "fails")
    severity, text, _ = found(place)
    assert severity == "warning" and "broken for" in text and one["problem"] in text and one["problem"], (text, one)
    events.listen()
    reach(place, "follows")

    end(process, signal.SIGKILL)
    severity, text, remedy = found(place)
    assert severity == "warning" and f"its process {process.pid} has died" in text and "Start it again" in remedy, (severity, text)
    process = events.subscribe(*MINUTE, "--mode", "poll", "--token-file", token)
    reach(place, "follows", pid=process.pid)
    assert end(process) == 128 + signal.SIGTERM
    severity, text, _ = found(place)
    assert severity == "note" and "stopped" in text, text
    events.set_faults(token="newer-one", refuse={"events/poll": "forbidden"})
    process = events.subscribe(*MINUTE, "--mode", "poll", "--token-file", token)
    assert process.wait(DEADLINE_S) == 1
    severity, text, remedy = found(place)
    assert severity == "warning" and "ended" in text and "it is forbidden" in text and states(place)[0]["file"] in remedy, (severity, text)
    assert "not running" in place.ok("stats", "--subscribe").text
    place.refused("stats", "--subscribe", "--listen", code=2, says="exclude each other")


def test_no_answer(place):
    """a server that accepts the connection of --sse and never answers is reported as broken"""
    place.opened()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        process = place.start("subscribe", "--to", "session:s", "--sse", f"http://127.0.0.1:{listening.getsockname()[1]}/")
        assert reach(place, "fails", pid=process.pid)["problem"] == "it has not answered yet"
        assert end(process) == 128 + signal.SIGTERM


def test_reason_is_cut(place):
    """a long reason of the server is cut between two characters, and the state can be written"""
    place.opened()
    events = Events(place, {"terminated": {"code": -32012, "message": "x" + "\u65e5" * 200}})
    assert events.subscribe(*MINUTE).wait(DEADLINE_S) == 1
    assert "\u65e5" in reach(place, "ended", alive=False)["problem"]


def test_other_store(place):
    """when the store's folder is replaced, the subscription continues with the store that is there, and is known there"""
    place.opened()
    events = Events(place)
    process = events.subscribe(*MINUTE)
    until(lambda: saved(place), "the first cursor")
    events.set_count(1)
    arrive(place, 1)
    os.rename(place.store, place.store + ".old")
    place.opened()
    events.set_count(2)
    until(lambda: place.messages(), "the event", 0.1)
    assert numbers(place) == [1]
    reach(place, "follows", pid=process.pid)
    until(lambda: saved(place), "its place")


if __name__ == "__main__":
    sys.exit(main(globals()))
