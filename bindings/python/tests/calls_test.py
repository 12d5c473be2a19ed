#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the Python package where hostsim's scenarios do not: errors, refusals after close, and waiting in asyncio. Prints TAP."""
import asyncio
import json
import os
import pathlib
import pickle
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
from tidings import Reply, Tidings, TidingsError  # pylint: disable=wrong-import-position

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
        assert "nested" in refused(kit.event_json, 100000 * "[").text
        assert kit.swap() == 2
    kit.close()
    assert refused(kit.next_session).code == refused(kit.wake_descriptor).code == "TIDINGS_E_CLOSED"


def opening(folder):
    """what cannot be opened says why, and has a code"""
    missing = refused(opened, folder, plugin=f"{folder}/no-such.so")
    assert "no-such.so" in missing.text and missing.code == "TIDINGS_E_NOT_FOUND", missing
    paths = {"plugin": BUILD / "tidings.so", "store": pathlib.Path(folder, "store"), "probe": BUILD / "tidings-hostkit-probe", "library": pathlib.Path(LIBRARY)}
    with Tidings.open(**paths) as kit:
        assert kit.swap(paths["plugin"]) == 2
    assert refused(opened, folder, role="boss").code == "TIDINGS_E_SCHEMA"
    assert "TIDINGS_HOSTKIT" in refused(Tidings.open, library=f"{folder}/none.so").text
    copy = pickle.loads(pickle.dumps(missing))  # as from a pool of processes
    assert (copy.code, copy.text, str(copy)) == (missing.code, missing.text, f"TIDINGS_E_NOT_FOUND: {missing.text}"), copy


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

    async def second(kit):
        loop = asyncio.get_running_loop()

        def call_later(seconds, call):
            pauses.append(round(seconds))
            ahead[0] = (60, 4 * 3600)[len(pauses) - 1]  # the first check comes too early; then the machine sleeps for hours
            return loop.call_soon(call)

        with unittest.mock.patch.object(loop, "call_later", call_later):
            woken = [one.session async for one in first_two(kit.wakes())]
        assert woken == ["s", "s"], woken

    async def first_two(wakes_of):
        for _ in range(2):
            yield await wakes_of.__anext__()  # pylint: disable=unnecessary-dunder-call # Python 3.9 has no anext
        await wakes_of.aclose()

    with opened(folder) as kit:
        kit.event("session.opened", "s", {"host": "test"})
        reply = kit.event("notification", "s", {"kind": {"source": "a", "name": "b"}, "message": "m", "activation": "idle", "due_at": int(real() * 1000) + 3 * 3600000})
        assert reply.wake_at_ms is not None, reply
        with unittest.mock.patch("time.time", lambda: real() + ahead[0]):
            asyncio.run(second(kit))
    assert pauses == [60, 60], pauses


def good(folder):
    """Opens the test plugin, which keeps no sessions."""
    return opened(folder, plugin=str(BUILD / "tests" / "plugins" / "good_a.so"), probe=False)


def note(kit, session, when):
    """The reply has a time: "past", or "later", in the year 2100."""
    assert kit.event_json(json.dumps({"type": when, "session": session}, separators=(",", ":"))).wake_at_ms is not None


def past(kit, session):
    note(kit, session, "past")


def fail_wake(folder, code):
    pathlib.Path(folder, "store", "wake-fails").write_text(str(code), encoding="utf-8")


def asked(folder):
    """The sessions to which a wake event was sent, in their order."""
    lines = pathlib.Path(folder, "store", "log").read_text(encoding="utf-8").splitlines()
    return [json.loads(line.split(maxsplit=2)[2])["session"] for line in lines if '"type":"wake"' in line]


async def first_of(wakes_of, count):
    """The sessions that are woken first; then the loop is left."""
    woken = []
    async for one in wakes_of:
        woken.append(one.session)
        if len(woken) == count:
            break
    await wakes_of.aclose()
    return woken


def in_time(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 300))


def tries_again(folder):
    """a session whose wake fails is asked again, and the others go on meanwhile"""
    with good(folder) as kit:
        for code in (-8, -10, -12, -15, -99):
            kit.event_json('{"type":"ring"}')
            fail_wake(folder, code)
            assert in_time(first_of(kit.wakes(), 1)) == ["rung"], code
        past(kit, "a")
        past(kit, "b")
        fail_wake(folder, -8)
        assert in_time(first_of(kit.wakes(), 2)) == ["b", "a"]
        assert asked(folder) == ["rung"] * 10 + ["a", "b", "a"]


def fails_in_turns(folder):
    """a call that fails may have waited for the store: the loop's other tasks run for as long before the next one"""
    ticks, at, took, pauses = [], [], [], []
    sleep = asyncio.sleep

    async def tick():
        while True:
            ticks.append(None)
            await sleep(0)

    async def noted_sleep(seconds):
        pauses.append(seconds)
        await sleep(seconds)

    async def both(kit):
        other = asyncio.ensure_future(tick())
        woken = await first_of(kit.wakes(), 1)
        other.cancel()
        return woken

    def wake(session):
        at.append(len(ticks))
        began = time.monotonic()
        if session != "d":
            while (passed := time.monotonic() - began) < 0.001:
                pass
            took.append(passed)
            raise TidingsError("TIDINGS_E_BUSY", "locked")
        return Reply()

    with good(folder) as kit:
        for session in "abcd":
            past(kit, session)
        kit.wake = wake
        with unittest.mock.patch("asyncio.sleep", noted_sleep):
            assert in_time(both(kit)) == ["d"] and len(set(at)) == 4, at
        assert len(took) == 3 and all(pause >= passed for pause, passed in zip(pauses, took)), (took, pauses)


def tries_again_in_another_loop(folder):
    """a session whose wake has failed is not lost when the loop is left"""
    with good(folder) as kit:
        past(kit, "a")
        past(kit, "b")
        fail_wake(folder, -8)
        assert in_time(first_of(kit.wakes(), 1)) == ["b"]
        assert in_time(first_of(kit.wakes(), 1)) == ["a"]


def looks_again(folder):
    """if the store does not say who rang, it is asked again, and what has come by its time goes on"""
    with good(folder) as kit:
        real, answers = kit.next_session, [TidingsError("TIDINGS_E_STORE", "the disk is full"), TidingsError("TIDINGS_E_BUSY", "locked")]

        def next_session():
            if answers:
                raise answers.pop()
            return real()

        past(kit, "a")
        kit.event_json('{"type":"ring"}')
        kit.next_session = next_session
        assert in_time(first_of(kit.wakes(), 2)) == ["a", "rung"]
        answers.append(TidingsError("TIDINGS_E_CLOSED", "closed"))
        assert refused(in_time, first_of(kit.wakes(), 1)).code == "TIDINGS_E_CLOSED"


def gone(folder):
    """a session that is not this host's any more is not asked again, and the others go on"""
    with good(folder) as kit:
        for code in (-5, -13, -14):
            past(kit, f"gone{code}")
            past(kit, f"after{code}")
            fail_wake(folder, code)
            assert in_time(first_of(kit.wakes(), 1)) == [f"after{code}"], code
        past(kit, "last")
        assert in_time(first_of(kit.wakes(), 1)) == ["last"]
        assert len(asked(folder)) == len(set(asked(folder))) == 7, asked(folder)


def rings_stay(folder):
    """leaving the loop loses no session that rang"""
    with opened(folder) as kit:
        for session in ("a", "b", "c"):
            kit.event("session.opened", session, {"host": "test"})
        assert sorted(in_time(first_of(kit.wakes(), 1))[0] for _ in range(3)) == ["a", "b", "c"]


def new_times(folder):
    """a time that another task's or thread's reply brings is seen by a loop that sleeps"""

    async def both(kit, bring):
        sleeps = asyncio.ensure_future(first_of(kit.wakes(), 1))
        await asyncio.sleep(0)  # it runs until it sleeps
        assert not sleeps.done()
        bring(kit)
        return await sleeps

    with good(folder) as kit:
        assert in_time(both(kit, lambda kit: past(kit, "a"))) == ["a"]
        assert in_time(both(kit, lambda kit: threading.Thread(target=past, args=(kit, "b")).start())) == ["b"]


def left_for_another(folder):
    """a loop that sleeps goes on with what another loop leaves"""

    async def both(kit):
        leaves, sleeps = kit.wakes(), asyncio.ensure_future(first_of(kit.wakes(), 1))
        await asyncio.sleep(0)
        assert not sleeps.done()
        past(kit, "a")
        past(kit, "b")
        first = (await leaves.__anext__()).session  # it took both
        await leaves.aclose()
        return {first, *await sleeps}

    with good(folder) as kit:
        assert in_time(both(kit)) == {"a", "b"}


def acts_meanwhile(folder):
    """while the host of one loop acts, another loop gets what rings, what the first has not asked yet, and what it leaves"""
    names = ["first"]

    async def next_of(wakes_of):
        return (await wakes_of.__anext__()).session  # pylint: disable=unnecessary-dunder-call

    async def both(kit, acts, other):
        assert await next_of(acts) == "first"  # it reads the FIFO
        kit.wake_descriptor = unittest.mock.Mock(side_effect=TidingsError("TIDINGS_E_FULL", "full"))
        gets = asyncio.ensure_future(next_of(other))
        await asyncio.sleep(0)  # it runs until it sleeps
        kit.event_json('{"type":"ring"}')
        assert await gets == "rung"
        gets = asyncio.ensure_future(next_of(other))
        await asyncio.sleep(0)
        names.extend(("a", "b"))
        assert await next_of(acts) == "a"
        assert await gets == "b"
        gets = asyncio.ensure_future(next_of(other))
        await asyncio.sleep(0)
        names.append("heard")  # its ring was read by the loop that is left now
        await acts.aclose()
        assert await gets == "heard"
        await other.aclose()

    with good(folder) as kit:
        real = kit.next_session
        kit.next_session = lambda: names.pop(0) if names else real()
        in_time(both(kit, kit.wakes(), kit.wakes()))


def newest_reply(folder):
    """of two calls for a session that run side by side, the earlier time counts: nobody knows which reply is the newer one"""
    with opened(folder, configuration={"turns": {"settle_delay_ms": 1}}) as kit:
        library, real = kit._library, kit._library.call  # pylint: disable=protected-access

        def slow(handle, request):
            library.call = real
            answer = real(handle, request)  # it has no time
            kit.event("message.submitted", "s", {"id": "m1", "content": "later"})
            assert kit.event("turn.finished", "s").wake_at_ms is not None
            return answer

        library.call = slow
        assert kit.event("turn.started", "s").wake_at_ms is None
        kit.next_session()  # the session itself rings no more
        assert in_time(first_of(kit.wakes(), 1)) == ["s"]


def run(tests):
    """Runs them in their order, each in a folder of its own; returns an exit status."""
    failures = 0
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok {number} - {test.__doc__}")
            except (AssertionError, RuntimeError, TidingsError, asyncio.TimeoutError) as error:
                failures += 1
                print(f"not ok {number} - {test.__doc__}\n# {error!r}")
    print(f"1..{len(tests)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(run((errors, opening, repeated_push, half_characters, wakes, wakes_by_time, looks_each_minute, tries_again, fails_in_turns, tries_again_in_another_loop,
                  looks_again, gone, rings_stay, new_times, left_for_another, acts_meanwhile, newest_reply)))
