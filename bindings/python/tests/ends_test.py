#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests a host in Python whose loop is closed or cancelled, or cut in by threads, handlers of signals and forks. Prints TAP."""
import asyncio
import gc
import os
import signal
import sys
import threading
import warnings

from calls_test import fail_wake, first_of, good, in_time, note, opened, past, refused, run


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


def interrupted(folder):
    """a handler of signals that raises while a hook's call runs loses no delivery: it is rolled back"""

    class Interrupt(BaseException):
        pass

    def interrupt(*_):
        raise Interrupt

    def cut_in(gate, thread):
        with open(gate, "wb"):  # once the call waits there
            signal.pthread_kill(thread, signal.SIGUSR1)

    gate = f"{folder}/store/gate"
    before = signal.signal(signal.SIGUSR1, interrupt)
    with good(folder) as kit:
        os.mkfifo(gate)
        cutter = threading.Thread(target=cut_in, args=(gate, threading.get_ident()))
        cutter.start()
        try:
            kit.tool_result("full", "x", tool="wait")
            raise AssertionError("nothing was raised")
        except Interrupt:
            pass
        cutter.join()
        with open(f"{folder}/store/log", encoding="utf-8") as log:
            assert "A settle 17 2\n" in log.read()
    signal.signal(signal.SIGUSR1, before)


def signals(folder):
    """a handler of signals may make a call at any point of a look"""

    def looks(kit):
        agenda, times = kit._agenda, [None, 4102444800000]  # pylint: disable=protected-access

        def trace(frame, event, _):
            if not frame.f_code.co_filename.endswith("_agenda.py"):
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                times.reverse()
                agenda.note("new", times[0], agenda.begin_call())
            return trace

        sys.settrace(trace)
        try:
            return in_time(first_of(kit.wakes(), 2))
        finally:
            sys.settrace(None)

    with good(folder) as kit:
        for session in ("a", "b"):
            note(kit, f"later-{session}", "later")
            past(kit, session)
        fail_wake(folder, -8)
        assert sorted(looks(kit)) == ["a", "b"]


def many_threads(folder):
    """threads make calls while a loop looks which times have come"""
    names = [f"{number}" for number in range(1600)]
    failures = []

    def call(kit, mine):
        try:
            for name in mine:
                note(kit, f"later-{name}", "later")
                past(kit, name)
        except Exception as error:  # pylint: disable=broad-except # the test reports it
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with good(folder) as kit:
            threads = [threading.Thread(target=call, args=(kit, names[at::4])) for at in range(4)]
            for thread in threads:
                thread.start()
            assert sorted(in_time(first_of(kit.wakes(), len(names)))) == sorted(names)
            for thread in threads:
                thread.join()
            assert not failures, failures
    finally:
        sys.setswitchinterval(interval)


if __name__ == "__main__":
    sys.exit(run((closed, cancelled, loop_closed, forked, interrupted, signals, many_threads)))
