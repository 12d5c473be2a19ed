# SPDX-License-Identifier: MIT
"""Starts `tidings watch` beside a test, and writes files for it."""
import contextlib
import os
import re
import signal

from kit import sleeps_for_ever, until

WATCHERS = []  # all running watchers; they are stopped while a test writes a file
STOPPED = []


class Watch:
    """A watcher that has begun to watch."""

    def __init__(self, place, *words, session=("-s", "s"), **more):
        self.place = place
        self.said = os.path.join(place.dir, "said")
        if not os.path.exists(place.store):
            place.opened()
        with open(self.said, "wb") as file:
            self.process = place.start("watch", *session, *words, stderr=file, **more)
        WATCHERS.append(self.process)
        until(lambda: re.search(r"^watching \d+ folder", self.text, re.M) or self.process.poll() is not None, "its beginning")
        assert self.process.poll() is None, self.text

    @property
    def text(self):
        with open(self.said, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stopped(self):
        return stopped(self.process)

    def told(self, *expected):
        """Waits until exactly these are reported, in any order, and delivers them."""
        def there():
            assert self.process.poll() is None, self.text
            return sorted(self.place.messages()) == sorted(expected)

        try:
            until(there, "")
        except AssertionError as error:
            raise AssertionError(f"expected {sorted(expected)}, got {sorted(self.place.messages())}") from error
        self.take()

    def quiet(self):
        """Checks that earlier changes are not reported, by a later change, whose report must be the only one."""
        self.barrier = getattr(self, "barrier", 0) + 1
        name = f"barrier{self.barrier}"
        write(os.path.join(self.place.work, name), "x")
        self.told(f"`{name}` was created externally.")

    def take(self):
        """Waits for the store, because reports can be read before they are flushed; until then the watcher holds the store, longer than deliver
        waits."""
        words = ("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()))
        return until(lambda: (taken := self.place.run(*words, stdin="x")).code == 0 and taken, "what is pending").text

    def asleep(self):
        """Waits until the watcher waits only for files, so that it does not hold the store."""
        until(lambda: sleeps_for_ever(self.process.pid), "its sleep")


@contextlib.contextmanager
def stopped(*processes):
    """Stops the watchers, so that the changes of this time reach them together, even on a slow machine."""
    these = [process for process in processes if process not in STOPPED and process.poll() is None]
    for process in these:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    STOPPED.extend(these)
    try:
        yield
    finally:
        for process in these:
            STOPPED.remove(process)
            process.send_signal(signal.SIGCONT)


def write(path, text, mode="w"):
    """Writes a file in one step, because a watcher that looks between the creation and the writing would report two changes."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with stopped(*WATCHERS), open(path, mode, encoding="utf-8") as file:
        file.write(text)
