#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how `tidings subscribe` goes on: with a full store, a cursor that cannot be written, read or used, a signal in the middle, and other mishaps."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import end, main, until  # pylint: disable=wrong-import-position

from events_kit import EVENT, MINUTE, Events, arrive, numbers, others, places, saved  # pylint: disable=wrong-import-position
from host import PYTHON

FULL = b"notifications that wait"


def begun(place, *options, **more):
    """Starts a server, and a subscription, and waits until its cursor is stored."""
    place.opened()
    events = Events(place, **more)
    process = events.subscribe(*MINUTE, *options)
    until(lambda: saved(place), "the first cursor")
    return events, process


def hear(process, text):
    """Reads stderr up to the line that has this text. A busy machine may cause other lines before it."""
    line = next((line for line in process.stderr if text in line), b"")
    assert line, f"nothing about {text}"
    return line


def cursor_file(place):
    folder = os.path.join(place.store, "subscribe")
    [name] = [name for name in os.listdir(folder) if name.endswith(".json")]
    return os.path.join(folder, name)


def test_full_at_once(place):
    """the first cursor is stored before an event of the same read that waits for room"""
    config = os.path.join(place.dir, "config.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"limits": {"pending_per_session": 40}}, file)
    events, first = begun(place, "--config", config)
    events.set_count(60)
    hear(first, FULL)
    end(first, signal.SIGKILL)
    events.set_faults(joined=True)
    second = events.subscribe(*MINUTE, "--config", config, "--args", "{}")
    until(lambda: [row for row in events.log if row.get("streams") == 60], "its stream")
    events.set_count(61)
    hear(second, FULL)
    end(second, signal.SIGKILL)
    assert "c-60" in [row["cursor"] for row in places(place)], places(place)
    events.set_faults()
    second = events.subscribe(*MINUTE, "--args", "{}")
    until(lambda: 60 in numbers(place), "the event", 0.1)
    end(second)


def test_cursor_is_forgotten(place):
    """a server that does not know the cursor any more is asked without it, and the gap is one notification"""
    for mode in ("push", "poll"):
        events, process = begun(place, "--mode", mode, "--args", json.dumps({"mode": mode}))
        end(process)
        before = len(others(place))
        events.set_faults(forgets=True)
        process = events.subscribe(*MINUTE, "--mode", mode, "--args", json.dumps({"mode": mode}))
        until(lambda b=before: len(others(place)) > b, "the notification", 0.1)
        assert "were missed" in others(place)[-1] and len(others(place)) == before + 1, others(place)
        end(process)
        end(events.process)
        os.unlink(cursor_file(place))


def test_end_after_a_run(place):
    """a subscription that has run, and that the server does not offer after a restart, ends with a notification"""
    events, process = begun(place)
    end(process)
    events.set_faults(places=[])
    for _ in range(2):
        events.refused(*MINUTE, says="does not offer MCP Events")
    [text] = others(place)
    assert "has ended" in text and "does not offer MCP Events" in text, text


def test_signal(place):
    """a signal ends it between two events of one answer, and the rest comes after the next start"""
    count = 100
    events, process = begun(place, "--mode", "poll", faults={"page": count})
    holder = place.hold("often")
    events.set_count(count)
    until(lambda: numbers(place), "an event", 0.1)
    assert end(process) == 128 + signal.SIGTERM
    assert len(numbers(place)) < count
    end(holder, signal.SIGKILL)
    process = events.subscribe(*MINUTE, "--mode", "poll")
    arrive(place, count)
    end(process)


def test_cursor_cannot_be_written(place):
    """a cursor that cannot be written is written when it can, without another event"""
    events, process = begun(place)
    beside = cursor_file(place) + ".new"
    os.mkdir(beside)
    events.set_count(1)
    hear(process, b"cannot write")
    arrive(place, 1)
    os.rmdir(beside)
    until(lambda: saved(place) == "c-1", "the cursor")
    os.mkdir(beside)
    events.set_count(2)
    hear(process, b"cannot write")
    process.send_signal(signal.SIGSTOP)
    os.rmdir(beside)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    end(process)
    assert saved(place) == "c-2"


def test_file_without_a_cursor(place):
    """a file without a cursor is refused and stays as it is"""
    events, process = begun(place)
    end(process)
    path = cursor_file(place)
    for text in ("{}", "[]", '{"cursor": 5}', '{"cursor": null}', '{"cursor": ""}'):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        events.refused(*MINUTE, says="has no cursor")
        with open(path, encoding="ascii") as file:
            assert file.read() == text


def test_urls(place):
    """a URL of this machine goes through no proxy, with a name and a password too; the scheme may have capitals"""
    place.env["http_proxy"] = "http://127.0.0.1:9"
    place.opened()
    events = Events(place)
    process = place.start("subscribe", "--to", "session:s", *MINUTE, f"HTTP://user:word@127.0.0.1:{events.port}/mcp", EVENT)
    until(lambda: saved(place), "the cursor")
    assert end(process) == 128 + signal.SIGTERM
    assert "word" not in process.stderr.read().decode()


def test_strange_answers(place):
    """stderr says what came in place of an answer"""
    events, process = begun(place, "--mode", "poll")
    events.set_faults(status=206)
    hear(process, b"HTTP 206")
    end(process)
    end(events.process)
    large = place.start("subscribe", "--to", "session:s", EVENT, "--", *PYTHON, "-c", "import sys; print('x' * (17 << 20), flush=True); sys.stdin.read()")
    hear(large, b"a message of more than 16 MiB is left out")
    end(large)


if __name__ == "__main__":
    sys.exit(main(globals(), at_once=8))
