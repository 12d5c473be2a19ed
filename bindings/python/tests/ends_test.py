#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how a host in Python ends: what closing, cancelling, closed loops and forks leave. Prints TAP."""
import asyncio
import gc
import os
import signal
import sys
import threading
import warnings

from calls_test import first_of, good, in_time, note, opened, past, refused, run


def closed(folder):
    """closing ends a loop that sleeps"""

    async def closes(kit):
        sleeps = asyncio.ensure_future(first_of(kit.wakes(), 1))
        await asyncio.sleep(0)
        kit.close()
        await sleeps

    assert refused(in_time, closes(good(folder))).code == "TIDINGS_E_CLOSED"


def cancelled(folder):
    """a loop that is cancelled ends, even if something rings just then"""

    async def cancels(kit, hops):
        task = asyncio.ensure_future(first_of(kit.wakes(), 99))
        await asyncio.sleep(0)
        past(kit, "rings")
        for _ in range(hops):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    with good(folder) as kit:
        note(kit, "later", "later")  # so that it does not sleep without a limit
        for hops in range(8):
            in_time(cancels(kit, hops))


def loop_closed(folder):
    """a loop that was closed while it waits leaves no descriptor open, and no loop to ring"""

    def waits(kit):
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda *_: None)  # asyncio says that a task was left
        task = loop.create_task(first_of(kit.wakes(), 1))
        loop.run_until_complete(asyncio.sleep(0))  # the task runs until it sleeps
        assert not task.done()
        loop.close()

    with good(folder) as kit:
        os.close(kit.wake_descriptor())
        before = len(os.listdir("/proc/self/fd"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            waits(kit)
            gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before
        assert not list(kit._agenda._sleepers)  # pylint: disable=protected-access
        past(kit, "a")
        assert in_time(first_of(kit.wakes(), 1)) == ["a"]


def forked(folder):
    """a forked child gets an error from each call, even if another thread was in the middle of one"""

    def hold(kit, held, end):
        with kit._agenda._lock, kit._closing:  # pylint: disable=protected-access
            held.set()
            end.wait()

    def calls_fail(kit):
        signal.alarm(60)  # it ends the child if a call waits for the thread, which is not there
        calls = (lambda: kit.push("s", "tool.failed", "text"), lambda: kit.settle("17", committed=True), kit.next_session, kit.close)
        return {refused(call).code for call in calls} == {"TIDINGS_E_CLOSED"}

    with opened(folder) as kit:
        held, end = threading.Event(), threading.Event()
        thread = threading.Thread(target=hold, args=(kit, held, end))
        thread.start()
        held.wait()
        child = os.fork()
        if not child:
            try:
                os._exit(0 if calls_fail(kit) else 1)  # pylint: disable=protected-access
            finally:
                os._exit(1)  # pylint: disable=protected-access
        end.set()
        thread.join()
        assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    sys.exit(run((closed, cancelled, loop_closed, forked)))
