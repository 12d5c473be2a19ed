#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings watch` when many files change at once, repeatedly."""
import os
import re
import sys

from kit import main, until
from watcher import Watch, write


def test_burst(place):
    """forty files that change at once are listed once each, in few lines; three hundred are a number and a few names"""
    watch = Watch(place)
    with watch.stopped():
        for i in range(40):
            write(os.path.join(place.work, f"f{i:02}"), "x")
    told = []

    def all_there():
        told[:] = [name for message in place.messages() for name in re.findall(r"f\d\d", message)]
        return len(told) >= 40

    until(all_there, "forty files")
    assert sorted(told) == [f"f{i:02}" for i in range(40)] and len(place.messages()) <= 3, place.messages()
    watch.take()
    with watch.stopped():
        for i in range(300):
            write(os.path.join(place.work, f"g{i:03}"), "x")
    [message] = until(place.messages, "three hundred files")
    assert re.match(r"300 files were created externally: `g\d+`, ", message) and message.endswith(" and 280 more."), message


def test_burst_not_twice(place):
    """files of a burst whose notification is pending are not reported again, in a burst, in a list or one by one; after it was shown, they are"""
    def change(files, text):
        with watch.stopped():
            for i in files:
                write(os.path.join(place.work, f"g{i:03}"), text)

    def mark(number):
        """Makes a change and waits for its report; then all earlier changes have been handled."""
        write(os.path.join(place.work, f"mark{number}"), "x")
        until(lambda: any(f"mark{number}" in message for message in place.messages()), "the mark")

    watch = Watch(place)
    change(range(300), "x")
    until(place.messages, "three hundred files")
    mark(0)
    watch.take()
    change(range(300), "once")
    [message] = until(place.messages, "three hundred changes")
    assert message.startswith("300 files were modified externally: "), message
    for number, files in enumerate((range(300), range(50), range(2)), 1):
        change(files, f"again {number}")
        mark(number)
    assert [text for text in place.messages() if "mark" not in text] == [message], place.messages()
    change(range(301), "more")
    until(lambda: any("g300" in text for text in place.messages()), "the one that is new")
    assert len([text for text in place.messages() if "g000" in text]) == 1, place.messages()
    watch.take()
    change(range(300), "afterwards")
    [message] = until(place.messages, "the changes after it was shown")
    assert message.startswith("300 files were modified externally: "), message


if __name__ == "__main__":
    sys.exit(main(globals()))
