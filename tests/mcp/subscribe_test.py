#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings subscribe`: MCP Events by poll, push and webhook, over HTTP and stdio, in both eras; plain SSE; failures."""
import json
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import listen_kit  # pylint: disable=wrong-import-position
from kit import DEADLINE_S, TIDINGS, Skip, end, main, until  # pylint: disable=wrong-import-position

from events_kit import EVENT, MINUTE, Events, arrive, numbers, others, place_of, saved  # pylint: disable=wrong-import-position


def begun(place, *options, **more):
    """Starts a server, and a subscription, and waits until its cursor is stored."""
    place.opened()
    events = Events(place, **more)
    process = events.subscribe(*MINUTE, *options)
    until(lambda: saved(place), "the first cursor")
    return events, process


def every_way(place, era, stdio):
    for mode in ("push", "poll"):
        session = f"{mode}-{era}-{stdio}"
        place.opened(session)
        events = Events(place, {"era": era}, stdio=stdio)
        process = events.subscribe(*MINUTE, "--mode", mode, to=f"session:{session}")
        method = {"push": "events/stream", "poll": "events/poll"}[mode]
        until(lambda s=session: place_of(place, s), "its place")
        events.set_count(12)
        arrive(place, 12, session)
        assert numbers(place, session) == list(range(12)), "in order"
        assert end(process) == 128 + signal.SIGTERM, process.stderr.read()
        assert all(row["modern"] == (era == "modern") for row in events.seen(method)), events.log
        os.unlink(events.files["log"])
        if events.process:
            end(events.process)


def test_http(place):
    """push and poll over HTTP: each event is one notification, in order, with its id"""
    every_way(place, "modern", False)


def test_http_legacy(place):
    """the same in the older era of the protocol"""
    every_way(place, "legacy", False)


def test_stdio(place):
    """push and poll of a program: the same"""
    every_way(place, "modern", True)


def test_stdio_legacy(place):
    """the same in the older era"""
    every_way(place, "legacy", True)


def test_forwarded_later(place):
    """an event that a session cannot collect yet reaches it later, without another event"""
    host = place.start(command=["sleep", "600"])
    place.opened()
    box = f"folder:{place.work}"
    place.opened(box, cwd="/", owner=host.pid)
    events = Events(place)
    process = events.subscribe(*MINUTE, to=box)
    until(lambda: saved(place), "its place")
    events.set_count(1)
    arrive(place, 1, box)
    assert not place.pending("s")
    end(host, signal.SIGKILL)
    arrive(place, 1)
    assert end(process) == 128 + signal.SIGTERM
    assert process.stderr.read().count(f"it waits in {box}".encode()) == 1


def test_answers_in_a_stream(place):
    """an answer may come as a stream of events, with the server's own requests before it, which are answered"""
    events, _ = begun(place, "--mode", "poll", faults={"in_stream": True, "era": "legacy"})
    events.set_count(3)
    arrive(place, 3)
    assert any(row.get("answer") for row in events.log), "the ping is answered"


def test_places_and_codes(place):
    """the capability is accepted in either place; without it no event is requested"""
    place.opened()
    for places in (["events"], ["extensions"]):
        events = Events(place, {"places": places}, stdio=True)
        process = events.subscribe(*MINUTE)
        until(lambda e=events: e.seen("events/stream"), "the stream")
        assert end(process) == 128 + signal.SIGTERM
        os.unlink(events.files["log"])
    events = Events(place, {"places": []}, stdio=True)
    events.refused(says="does not offer MCP Events")
    assert not events.seen("events/list")


def test_refusals(place):
    """both sets of error codes have the same effects: an end that is reported to the session, another way, or a later attempt"""
    place.opened()
    for number, codes in enumerate(("old", "new")):
        place.opened(f"t{number}")
        events = Events(place, {"codes": codes, "refuse": {"events/poll": "forbidden", "events/stream": "unsupported"}}, stdio=True)
        process = events.subscribe(*MINUTE, to=f"session:t{number}")
        assert process.wait(DEADLINE_S) == 1 and "it is forbidden" in process.stderr.read().decode()
        assert events.seen("events/stream") and events.seen("events/poll"), "the other way was tried"
        [text] = place.messages(f"t{number}")
        assert "has ended: it is forbidden" in text and EVENT in text, text
        os.unlink(events.files["log"])
    events.set_faults(refuse={"events/stream": "exhausted"})
    process = events.subscribe(*MINUTE)
    until(lambda: len(events.seen("events/stream")) == 2, "another attempt")
    end(process)
    events.set_faults(refuse={"events/stream": "-32602"})
    events.refused(says="refuses the subscription")
    events.set_faults(offers=["webhook"])
    events.refused(says="by webhook only")
    place.refused("subscribe", "--to", "session:s", *events.target("no.event"), says=["has no event 'no.event'", f"it has other.event, {EVENT}"])
    assert not place.messages("s")


def test_more(place):
    """if events are left, the next poll comes at once; otherwise after the server's pause, and at least a second"""
    events, _ = begun(place, "--mode", "poll", faults={"page": 2, "next_poll_ms": 0})
    events.set_count(20)
    arrive(place, 20)
    until(lambda: events.seen("events/poll")[-1]["cursor"] == "c-20" and len(events.seen("events/poll")) > 12, "polls after the end")
    polls = events.seen("events/poll")
    for before, after in zip(polls, polls[1:]):
        if after["cursor"] == before["cursor"]:
            assert after["at"] - before["at"] >= 0.9, "a pause without anything new"
    events.set_faults(next_poll_ms=2000)
    count = len(events.seen("events/poll"))
    until(lambda: len(events.seen("events/poll")) >= count + 3, "three polls")
    late = events.seen("events/poll")[count:count + 3]
    assert late[2]["at"] - late[1]["at"] >= 1.8, late


def test_no_cursor(place):
    """a null or absent cursor is neither stored nor sent if there was a cursor before"""
    for how, mode in (("null", "poll"), ("absent", "poll"), ("null", "push"), ("absent", "push")):
        session = f"{how}-{mode}"
        place.opened(session)
        events = Events(place, {"hold_s": 0.1})
        process = events.subscribe(*MINUTE, "--mode", mode, to=f"session:{session}")
        method = {"push": "events/stream", "poll": "events/poll"}[mode]
        until(lambda e=events: e.seen(method), "the subscription")
        until(lambda s=session: place_of(place, s), "the cursor")
        events.set_faults(cursor=how, hold_s=0.1, **({"close": 1} if mode == "push" else {}))
        events.set_count(4)
        arrive(place, 4, session)
        count = len(events.seen(method))
        until(lambda e=events, c=count: len(e.seen(method)) > c + 1, "two more")
        assert all(row["cursor"] for row in events.seen(method)[1:]), events.seen(method)
        assert place_of(place, session).startswith("c-")
        end(process)
        end(events.process)
        os.unlink(events.files["log"])


def test_never_a_cursor(place):
    """from a server without cursors only events after the start are followed, and no cursor is stored"""
    place.opened()
    events = Events(place, {"cursor": "none"})
    events.subscribe(*MINUTE)
    until(lambda: events.seen("events/stream"), "the stream")
    until(lambda: (events.set_count(events.count + 1), numbers(place))[1], "an event")
    assert saved(place) is None and events.seen("events/stream")[0]["cursor"] is None


def test_gap(place):
    """events that the server has forgotten are one notification, and the subscription continues from the new cursor"""
    for mode in ("poll", "push"):
        session = f"gap-{mode}"
        place.opened(session)
        events = Events(place)
        process = events.subscribe(*MINUTE, "--mode", mode, to=f"session:{session}")
        until(lambda s=session: place_of(place, s), "the cursor")
        end(process)
        events.set_faults(kept=3)
        events.set_count(10)
        process = events.subscribe(*MINUTE, "--mode", mode, to=f"session:{session}")
        until(lambda s=session: len(numbers(place, s)) == 3, "what is left")
        [text] = others(place, session)
        assert numbers(place, session) == [7, 8, 9] and "were missed" in text, text
        end(process)
        process = events.subscribe(*MINUTE, "--mode", mode, to=f"session:{session}")
        events.set_count(12)
        until(lambda s=session: len(numbers(place, s)) == 5, "the rest")
        assert len(others(place, session)) == 1, "once"
        end(process)
        end(events.process)


def test_silence(place):
    """after two heartbeats without a message the stream begins again, at the cursor of the last heartbeat"""
    for stdio in (False, True):
        session = f"s{stdio}"
        place.opened(session)
        events = Events(place, {"heartbeat_s": 0.05, "silent": True}, stdio=stdio)
        process = events.subscribe("--heartbeat", "200ms", to=f"session:{session}")
        until(lambda s=session: place_of(place, s), "the cursor")
        events.set_faults(stall=1, silent=True)
        until(lambda e=events: len([row for row in e.log if row.get("stalls")]) > 2, "two more streams")
        events.set_faults(heartbeat_s=0.05)
        events.set_count(5)
        arrive(place, 5, session)
        assert any("cancelled" in row for row in events.log) == stdio
        assert all(row["cursor"] for row in events.seen("events/stream")[1:])
        end(process)
        os.unlink(events.files["log"])


def test_termination(place):
    """the end of a subscription is one notification; the subscription of an event that was only changed continues"""
    events, process = begun(place)
    events.set_faults(terminated={"code": -32024, "message": "access was revoked"})
    assert process.wait(DEADLINE_S) == 1
    again = events.subscribe(*MINUTE)
    assert again.wait(DEADLINE_S) == 1
    [text] = others(place)
    assert "has ended: access was revoked" in text, text
    events.set_faults(terminated={"code": -32026, "message": "new fields", "data": {"reason": "schema_changed", "feature": "payloadSchema"}})
    lists = len(events.seen("events/list"))
    third = events.subscribe(*MINUTE)
    until(lambda: len(events.seen("events/list")) > lists + 2, "the list is read again")
    events.set_faults()
    events.set_count(2)
    arrive(place, 2)
    assert len(others(place)) == 2 and "has changed: new fields" in others(place)[1]
    end(third)


def test_token(place):
    """a refused token is one notification; a new token in the file is used at once; no proxy sees a token that is not encrypted"""
    token = os.path.join(place.dir, "token")
    place.env["http_proxy"] = "http://127.0.0.1:9"

    def write(text, mode=0o600):
        with open(token, "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)

    place.opened()
    events = Events(place, {"token": "right"})
    write("right\n")
    process = events.subscribe(*MINUTE, "--mode", "poll", "--token-file", token)
    until(lambda: saved(place), "the cursor")
    events.set_faults(token="newer")
    until(lambda: len([row for row in events.log if row.get("refused") == 401]) > 2, "refusals")
    [text] = others(place)
    assert "refuses the token" in text and token in text and "right" not in text, text
    write("newer\n")
    events.set_count(3)
    arrive(place, 3)
    assert end(process) == 128 + signal.SIGTERM
    said = process.stderr.read().decode()
    assert "right" not in said and "newer" not in said, said
    write("newer\n", 0o644)
    events.refused("--token-file", token, says="others can read or write it")
    for url in ("http://mcp.example.org/mcp", "HTTP://mcp.example.org/mcp", "http://x@mcp.example.org/", "http://127.0.0.1.example.org/", "http://localhost:x@example.org/"):
        place.refused("subscribe", "--to", "session:s", "--token-file", token, url, EVENT, code=2, says="is not encrypted")


def test_trouble(place):
    """a server that is down, or answers with errors, is asked again after the pause that it wishes; redirects are not followed"""
    events, process = begun(place, "--mode", "poll")
    events.set_faults(status=503, retry_after=2)
    until(lambda: len([row for row in events.log if row.get("refused") == 503]) > 1, "two refusals")
    late = [row["at"] for row in events.log if row.get("refused") == 503]
    assert late[1] - late[0] >= 2, late
    events.set_faults(status=302)
    until(lambda: any(row.get("refused") == 302 for row in events.log), "a redirect")
    events.set_faults()
    end(events.process, signal.SIGKILL)
    events.set_count(4)
    events.listen()
    arrive(place, 4)
    end(process)
    said = process.stderr.read().decode()
    assert "HTTP 503" in said and "redirects are not followed" in said, said


def test_processes(place):
    """a server that is a program is started again when it ends, and ended with tidings; if it cannot be started, stderr says so"""
    events, process = begun(place, stdio=True)
    first = [row["started"] for row in events.log if "started" in row]
    os.kill(first[-1], signal.SIGKILL)
    events.set_count(3)
    arrive(place, 3)
    second = [row["started"] for row in events.log if "started" in row][-1]
    assert end(process) == 128 + signal.SIGTERM and second not in first
    assert not os.path.exists(f"/proc/{second}"), "it has ended, too"
    broken = place.start("subscribe", "--to", "session:s", EVENT, "--", "no-such-command-at-all")
    assert b"cannot be started" in broken.stderr.readline()
    end(broken)


def test_silent_probe(place):
    """a server of the older era that does not answer the probe gets the older handshake"""
    place.opened()
    events = Events(place, {"mute": "server/discover", "era": "legacy"}, stdio=True)
    events.subscribe(*MINUTE)
    until(lambda: events.seen("initialize"), "the older greeting")


def test_list_changed(place):
    """when the server's list has changed, it is read again"""
    place.opened()
    events = Events(place, {"list_changed": True}, stdio=True)
    events.subscribe(*MINUTE)
    until(lambda: len(events.seen("events/list")) == 4, "the list, twice, in two pages each")
    events.set_count(2)
    until(lambda: saved(place), "the cursor")
    assert len(events.seen("events/stream")) == 1, "the stream goes on"


def test_webhook(place):
    """--webhook: the server sends to a route of tidings listen; the subscription is refreshed, and its end is one notification"""
    if not os.path.exists(os.path.join(os.path.dirname(TIDINGS), "tidings-listen")):
        raise Skip("this build has no tidings-listen")
    place.opened()
    server = listen_kit.serve(place, listen_kit.route("/mcp", "mcp-events", to="session:s", signature="standard", secret_file="standard"))
    events = Events(place, {"ttl_s": 9, "offers": ["webhook"]})
    process = events.subscribe("--webhook", f"{server.address}/mcp", "--secret-file", os.path.join(place.dir, "standard"))
    until(lambda: len(events.seen("events/subscribe")) > 1, "a refresh before the end")
    [first, second] = events.seen("events/subscribe")[:2]
    assert second["at"] - first["at"] < 9 and second["cursor"] == "c-0", (first, second)
    assert first["delivery"] == {"mode": "webhook", "url": f"{server.address}/mcp", "secret": listen_kit.STANDARD}
    headers = {"X-MCP-Subscription-Id": "sub-1"}

    def deliver(body, id_):
        return server.post("/mcp", body, headers, scheme="standard", id_=id_)

    assert deliver({"type": "verification", "challenge": "n"}, "msg_verification_1")[2] == {"challenge": "n"}
    for attempt in range(2):
        event = {"eventId": "evt-0", "name": EVENT, "timestamp": "2026-11-27T10:00:00Z", "data": {"message": "number 0."}, "cursor": "c-1"}
        assert deliver(event, f"msg_{attempt}")[0] == 200, "the id of the message is another one each time"
        assert deliver({"type": "gap", "cursor": "c-9"}, "msg_gap_1")[0] == 200
        assert deliver({"type": "terminated", "error": {"code": -32024, "message": "access was revoked"}}, "msg_terminated_1")[0] == 200
    events.set_faults(offers=["webhook"], ttl_s=1, refuse={"events/subscribe": "forbidden"})
    assert process.wait(DEADLINE_S) == 1
    assert numbers(place) == [0] and len(others(place)) == 2, place.messages("s")
    assert "were missed" in others(place)[0] and "access was revoked" in others(place)[1]
    events.refused("--webhook", server.address, code=2, says="belong together")


def test_plain(place):
    """--sse: JSON and plain text become notifications; a stream that was cut continues after the last id; 204 ends it"""
    place.opened()
    events = Events(place, count=1)
    url = f"http://127.0.0.1:{events.port}/sse"
    words = ("subscribe", "--to", "session:s", "--sse", url)
    process = place.start(*words)
    until(lambda: events.seen("GET"), "the stream")
    until(lambda: (events.set_count(events.count + 1), saved(place))[1], "an event")
    end(process)
    first, begun_at = int(min(numbers(place))), events.count
    events.set_faults(truncate_at=begun_at + 2, drop_at=begun_at + 5)
    process = place.start(*words)
    events.set_count(events.count + 10)
    until(lambda: len(set(numbers(place))) == events.count - first, "all of them", 0.1)
    assert sorted(numbers(place)) == list(range(first, events.count)), numbers(place)
    assert [row["cut"] for row in events.log if "cut" in row] == ["truncate_at", "drop_at"]
    assert all(row["last"] is not None for row in events.seen("GET")[1:]), events.log
    events.set_faults(gone=True)
    end(events.process, signal.SIGKILL)
    events.listen()
    assert process.wait(DEADLINE_S) == 1
    assert [text for text in others(place) if "has ended its stream" in text], others(place)


def test_recipe(place):
    """a recipe of the user's, the highest level, and the arguments for the server take effect"""
    recipe = os.path.join(place.dir, "recipe.json")
    with open(recipe, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"kind": "n.seen", "level": "critical", "text": "It is {/data/n} of {/name}.", "key": "n"}]}, file)
    events, _ = begun(place, "--recipe", recipe, "--level", "warning", "--args", '{"min": 1.50}', faults={"bare": True})
    events.set_count(1)
    [item] = until(place.pending, "the notification")
    assert item["message"] == f"It is 0 of {EVENT}." and item["level"] == "warning" and item["kind"] == {"source": "n", "name": "seen"}, item
    assert events.seen("events/stream")[0]["arguments"] == {"min": 1.5}
    events.refused("--args", "[1]", code=2, says="expected a JSON object")
    events.refused("--recipe", "nothing-such", says="--recipe")


def test_addresses(place):
    """events for an address without a session wait in its mailbox, and the session that joins it gets them"""
    events = Events(place)
    events.subscribe(*MINUTE, to="box:ops")
    until(lambda: saved(place), "the cursor")
    events.set_count(2)
    arrive(place, 2, "box:ops")
    place.opened()
    place.ok("box", "join", "ops", env={"TIDINGS_SESSION": "s"})
    events.set_count(4)
    arrive(place, 4)


def test_two(place):
    """a second process for the same subscription is refused"""
    events, process = begun(place)
    events.refused(*MINUTE, says=f"process {process.pid} already has this subscription")
    place.refused("subscribe", *events.target(), code=2, says="--to is missing")


def test_store_is_full(place):
    """events for which the mailbox has no room are tried until it has; their cursor is not stored before"""
    config = os.path.join(place.dir, "config.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"limits": {"pending_per_session": 40}}, file)
    place.opened()
    events = Events(place)
    process = events.subscribe(*MINUTE, "--config", config)
    until(lambda: saved(place), "the cursor")
    events.set_count(60)
    assert b"tried again" in process.stderr.readline()
    stored = len(numbers(place))
    assert stored < 60 and int(saved(place).split("-")[1]) <= stored, (stored, saved(place))
    end(process)
    again = events.subscribe(*MINUTE)
    arrive(place, 60)
    end(again)


def test_missing(place):
    """if the program is missing, the verb names its package"""
    copy = os.path.join(place.dir, "tidings")
    shutil.copy(TIDINGS, copy)
    process = place.start(command=[copy, "subscribe", "--to", "box:b", "http://127.0.0.1:1/", "e"])
    said = process.stderr.read().decode()
    assert process.wait(DEADLINE_S) == 1 and "the package tidings-subscribe of Debian has it" in said, said


if __name__ == "__main__":
    sys.exit(main(globals(), at_once=8))
