# SPDX-License-Identifier: MIT
"""Decides which sessions to ask next what they need, and when. All threads and all loops of an open plugin share it."""
from __future__ import annotations

import asyncio
import math
import threading
import time
import weakref
from typing import Dict, Optional, Tuple

GONE = ("TIDINGS_E_OWNED", "TIDINGS_E_CLOSED", "TIDINGS_E_NOT_FOUND")  # the session is not this host's any more
PASSING = ("TIDINGS_E_BUSY", "TIDINGS_E_FULL", "TIDINGS_E_STORE", "TIDINGS_E_NOMEM", "TIDINGS_E_OUTCOME_UNKNOWN", "TIDINGS_E_UNKNOWN")
LONGEST_SLEEP = 60.0  # a loop's timers stand still while the machine sleeps, and the clock may be set


def longer(pause: Optional[float]) -> float:
    """Returns how many seconds to wait after one more failure."""
    return 0.1 if pause is None else min(2 * pause, 5.0)


class Sleeper:
    """A loop that waits for sessions. Make it in that loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._rang = asyncio.Event()
        self.until_ms = -math.inf  # when it looks by itself; while it is awake, it looks before it sleeps

    def ring(self) -> None:
        """Ends the sleep. For any thread."""
        self.until_ms = -math.inf
        try:
            self._loop.call_soon_threadsafe(self._rang.set)
        except RuntimeError:  # its loop was closed
            pass

    def begin_look(self) -> None:
        """From now on a ring ends the next sleep at once."""
        self._rang.clear()

    async def sleep(self, seconds: Optional[float]) -> None:
        # asyncio.wait_for of Python 3.11 and older swallows a cancellation that coincides with a ring
        timer = None if seconds is None else self._loop.call_later(seconds, self._rang.set)
        try:
            await self._rang.wait()
        finally:
            if timer is not None:
                timer.cancel()


class Agenda:
    """The sessions of one open plugin."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler of signals may run in the middle, and make a call: so loops below go over copies
        self._noted = 0  # counts replies
        self._wake_at: Dict[str, Tuple[int, int]] = {}  # by session: the wake_at_ms of its newest reply, and the count at which it was noted
        self._ready: Dict[str, None] = {}  # those to ask now, in this order; they stay when a loop is left
        self._again: Dict[str, float] = {}  # those whose wake has failed: when to ask again, by the monotonic clock
        self._pauses: Dict[str, float] = {}  # and how long that pause is
        self._sleepers: weakref.WeakSet[Sleeper] = weakref.WeakSet()  # a loop may be closed without `leave`

    def begin_as_child(self) -> None:
        """Call it in a forked child: the thread that has the lock may not be here."""
        self._lock = threading.RLock()

    def begin_call(self) -> int:
        """Returns a number for `note` and `failed`: replies that are noted after it may be newer."""
        with self._lock:
            return self._noted

    def note(self, session: str, wake_at_ms: Optional[int], began: int) -> None:
        """Notes the time of a reply. If two calls for a session ran side by side, nobody knows which reply is the newer one: the earlier time counts."""
        with self._lock:
            self._noted += 1
            if wake_at_ms is None:
                self._drop_time(session, began)
                return
            at, count = self._wake_at.get(session, (wake_at_ms, 0))
            self._wake_at[session] = (min(at, wake_at_ms) if count > began else wake_at_ms, self._noted)
            self._look_by(wake_at_ms)

    def _look_by(self, at_ms: float) -> None:
        """Makes loops look that would sleep for longer."""
        for sleeper in list(self._sleepers):
            if at_ms < sleeper.until_ms:
                sleeper.ring()

    def ring_all(self) -> None:
        """Makes all loops look: the one whose descriptor got the ring may belong to a host that is acting."""
        with self._lock:
            for sleeper in list(self._sleepers):
                sleeper.ring()

    def _drop_time(self, session: str, began: int) -> None:
        if self._wake_at.get(session, (0, 0))[1] <= began:
            self._wake_at.pop(session, None)

    def ring(self, session: str) -> None:
        with self._lock:
            if session not in self._again:
                self._ready[session] = None

    def find_due(self) -> None:
        """Makes sessions ready whose time has come."""
        with self._lock:
            now, now_ms = time.monotonic(), time.time() * 1000
            for session in [one for one, at in list(self._again.items()) if at <= now]:
                del self._again[session]
                self._ready[session] = None
            for session in [one for one, (at, _) in list(self._wake_at.items()) if at <= now_ms and one not in self._again]:
                self._wake_at.pop(session, None)
                self._ready[session] = None

    def next(self) -> Optional[str]:
        """Takes the next session to ask; None: none is left. Then call succeeded, failed or ring."""
        with self._lock:
            session = next(iter(self._ready), None)
            if session is not None:
                del self._ready[session]
            return session

    def succeeded(self, session: str) -> None:
        with self._lock:
            self._pauses.pop(session, None)
            self._again.pop(session, None)

    def failed(self, session: str, code: str, began: int) -> None:
        with self._lock:
            self._again.pop(session, None)
            pause = longer(self._pauses.pop(session, None))
            if code in GONE:
                self._drop_time(session, began)
            else:
                self._pauses[session] = pause
                self._again[session] = time.monotonic() + pause

    def enter(self) -> Sleeper:
        """Begins the use of a sleeper by the loop that runs."""
        sleeper = Sleeper()
        with self._lock:
            self._sleepers.add(sleeper)
        return sleeper

    def hand_over(self, pause: Optional[float]) -> None:
        """Call it before a loop's host acts: the others look meanwhile when it would have looked; `pause` as in `sleep`."""
        with self._lock:
            seconds = self._seconds_until_due(None)
            if pause is not None:
                self.ring_all()  # even those whose hosts act now: what rang may be heard by nobody else
            elif seconds is not None:
                self._look_by((time.time() + seconds) * 1000)

    async def sleep(self, sleeper: Sleeper, pause: Optional[float]) -> None:
        """Sleeps until something rings, or until the time of a session has come; `pause`: at most so many seconds."""
        with self._lock:
            seconds = self._seconds_until_due(pause)
            sleeper.until_ms = math.inf if seconds is None else (time.time() + seconds) * 1000
        try:
            await sleeper.sleep(seconds)
        finally:
            sleeper.until_ms = -math.inf

    def _seconds_until_due(self, pause: Optional[float]) -> Optional[float]:
        """Returns after how many seconds a session is ready, or a time comes; None: none will."""
        if self._ready:
            return 0.0
        now, now_s = time.monotonic(), time.time()
        pauses = [] if pause is None else [pause]
        pauses += [at - now for at in list(self._again.values())]
        pauses += [at / 1000 - now_s for session, (at, _) in list(self._wake_at.items()) if session not in self._again]
        return min(LONGEST_SLEEP, max(0.0, min(pauses))) if pauses else None

    def leave(self, sleeper: Sleeper) -> None:
        """Ends the use of a sleeper; another loop gets what it leaves, and the rings that it has heard."""
        with self._lock:
            self._sleepers.discard(sleeper)
            self.ring_all()
