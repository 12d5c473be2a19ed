#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the Python package where hostsim's scenarios do not: errors, refusals after close, and waiting in asyncio. Prints TAP."""
import asyncio
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))
os.environ["TIDINGS_HOSTKIT_PROBE"] = str(BUILD / "tidings-hostkit-probe")
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bindings" / "python"))
from tidings import Tidings, TidingsError  # pylint: disable=wrong-import-position

LIBRARY = str(BUILD / "libtidings-hostkit.so.1")


def opened(folder, **options):
    return Tidings.open(library=LIBRARY, store=f"{folder}/store", **options)


def refused(call, *given, **named):
    """Makes a call that must fail, and returns its error."""
    try:
        call(*given, **named)
    except TidingsError as error:
        return error
    raise AssertionError(f"{call} did not fail")


def push_from_outside(folder, level):
    subprocess.run([BUILD / "tidings", "push", "-S", f"{folder}/store", "-s", "s", "-l", level, "-k", "disk.full", "Full."], check=True)


def errors(folder):
    """an error has the code's name and the plugin's sentence; after close every call fails"""
    with opened(folder) as kit:
        assert kit.info().name == "tidings" and kit.info().generation == 1, kit.info()
        error = refused(kit.push, "s", "tool.failed", "text", level="loud")
        assert error.code == "TIDINGS_E_SCHEMA" and "level" in error.text, error
        assert refused(kit.settle, "404", committed=True).code == "TIDINGS_E_NOT_FOUND"
        assert kit.settle(None, committed=True).delivery_id is None
        assert kit.swap() == 2
    kit.close()
    assert refused(kit.next_session).code == "TIDINGS_E_CLOSED"


def opening(folder):
    """what cannot be opened says why, and has a code"""
    missing = refused(opened, folder, plugin=f"{folder}/no-such.so")
    assert "no-such.so" in missing.text and missing.code == "TIDINGS_E_NOT_FOUND", missing
    assert refused(opened, folder, role="boss").code == "TIDINGS_E_SCHEMA"
    assert "TIDINGS_HOSTKIT" in refused(Tidings.open, library=f"{folder}/none.so").text


def repeated_push(folder):
    """pushing again with the same source and id is a duplicate"""
    with opened(folder) as kit:
        first = kit.push("s", "ci.failed", "text", source="ci", id="run-1")
        again = kit.push("s", "ci.failed", "text", source="ci", id="run-1")
        assert not first.duplicate and again.duplicate, (first, again)
        delivery = kit.tool_result("s", "x")
        assert [(one.source, one.name, one.text, one.count) for one in delivery.reply.notifications] == [("ci", "failed", "text", 1)], delivery
        assert kit.settle(delivery.id, committed=False) is not None
        assert kit.tool_result("s", "x").id not in (None, delivery.id)


def half_characters(folder):
    """a text that is not whole Unicode is not refused: half a character becomes U+FFFD, and two halves are one character"""
    with opened(folder) as kit:
        for given, sent in (("a\udcff", "a\ufffd"), ("\ud83d\ude00\ud83d", "\U0001f600\ufffd"), ("\ude00\ud83d\0\n", "\ufffd\ufffd\0\n"), ("\u00fc", "\u00fc")):
            assert kit.tool_result("s", given).content == sent, ascii(given)
        kit.push("s", "tool.failed", "No \udcff.", level="error")
        delivery = kit.tool_result("s", "\udcff", tool="\udcff")
        assert delivery.reply.notifications[0].text == "No \ufffd." and delivery.content.endswith("\ufffd"), delivery


def wakes(folder):
    """a notification of another process wakes a loop that has other work; leaving the loop closes the descriptor"""

    async def wait(kit):
        async for woken in kit.wakes():
            if woken.reply.actions:
                return woken
        raise AssertionError("the loop ended")

    async def both(kit):
        task = asyncio.ensure_future(wait(kit))
        ticks = 0
        pusher = threading.Thread(target=push_from_outside, args=(folder, "critical"))
        pusher.start()
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        pusher.join()
        return await task, ticks

    with opened(folder) as kit:
        kit.event("session.opened", "s", {"cwd": folder, "host": "test"})
        os.close(kit.wake_descriptor())  # the first descriptor makes the plugin open its own end
        before = len(os.listdir("/proc/self/fd"))
        woken, ticks = asyncio.run(asyncio.wait_for(both(kit), 300))
        assert woken.session == "s" and woken.reply.actions[0].type == "start_turn" and ticks > 0, woken
        assert woken.reply.actions[0].messages[0].content.startswith("Critical notification"), woken
        assert len(os.listdir("/proc/self/fd")) == before


def wakes_by_time(folder):
    """a session is woken when the time of its newest reply has come, even if nobody rings"""

    async def offered(kit):
        async for woken in kit.wakes():
            if woken.reply.actions:
                return woken.reply.actions[0].messages[0].id
        return None

    with opened(folder, configuration={"turns": {"settle_delay_ms": 300}}) as kit:
        kit.event("turn.started", "s")
        kit.event("message.submitted", "s", {"id": "m1", "content": "later"})
        finished = kit.event_json('{"type": "turn.finished", "session": "s"}')
        assert not finished.actions and finished.wake_at_ms is not None, finished
        assert asyncio.run(asyncio.wait_for(offered(kit), 300)) == "m1"


def looks_each_minute(folder):
    """a wake that is due in hours is checked each minute by the wall clock: a timer stands still while the machine sleeps, and the clock may be set"""
    real, ahead, pauses = time.time, [0.0], []

    async def pause(waiting, seconds):
        waiting.close()
        pauses.append(round(seconds))
        ahead[0] = (60, 4 * 3600)[len(pauses) - 1]  # the first check comes too early; then the machine sleeps for hours
        raise asyncio.TimeoutError

    async def second(kit):
        woken = [one.session async for one in first_two(kit.wakes())]
        assert woken == ["s", "s"], woken

    async def first_two(wakes_of):
        for _ in range(2):
            yield await anext(wakes_of)
        await wakes_of.aclose()

    with opened(folder) as kit:
        kit.event("session.opened", "s", {"host": "test"})
        reply = kit.event("notification", "s", {"kind": {"source": "a", "name": "b"}, "message": "m", "activation": "idle", "due_at": int(real() * 1000) + 3 * 3600000})
        assert reply.wake_at_ms is not None, reply
        with unittest.mock.patch("time.time", lambda: real() + ahead[0]), unittest.mock.patch("asyncio.wait_for", pause):
            asyncio.run(second(kit))
    assert pauses == [60, 60], pauses


def main():
    failures = 0
    tests = (errors, opening, repeated_push, half_characters, wakes, wakes_by_time, looks_each_minute)
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}")
            except (AssertionError, TidingsError, asyncio.TimeoutError) as error:
                failures += 1
                print(f"not ok {number} - {test.__doc__}\n# {error!r}")
    print(f"1..{len(tests)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
