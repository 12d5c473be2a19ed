#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py [CALLS]: what the wrapper adds to a call when nothing is pending, beside the bare server in the same run; to 10 MB, and
while another process holds the store.

The two servers take turns, call by call, so that both have the same machine. Prints medians, and fails if a byte differs.
"""
import json
import os
import signal
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import TIDINGS, TRICK, Place, end  # pylint: disable=wrong-import-position

from host import SERVER, Host  # pylint: disable=wrong-import-position

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def timed(host, **arguments):
    begun = time.perf_counter()
    line = host.call(**arguments)
    return (time.perf_counter() - begun) * 1000, line


def compare(hosts, count, **arguments):
    times = [[], []]
    for _ in range(count):
        lines = []
        for host, own in zip(hosts, times):
            took, line = timed(host, **arguments)
            own.append(took)
            lines.append(line)
        assert lines[0] == lines[1] and json.loads(lines[0])["id"] == hosts[0].next, "the bytes differ"
    return [statistics.median(own) for own in times]


with Place() as place:
    hosts = [Host(place, SERVER, bare=True), Host(place, SERVER)]
    compare(hosts, 100)
    small = compare(hosts, CALLS)
    large = compare(hosts, max(CALLS // 100, 5), bytes=10_000_000)
    print(f"# sum: {TIDINGS}: {CALLS} calls: bare {small[0]:.3f} ms, wrapped {small[1]:.3f} ms, added {small[1] - small[0]:.3f} ms; 0 bytes changed")
    print(f"# sum: 10 MB: bare {large[0]:.1f} ms, wrapped {large[1]:.1f} ms, added {large[1] - large[0]:.1f} ms")
    if os.path.exists(TRICK):
        [session] = place.ok("sessions", "--json").json["sessions"]
        place.ok("push", "-s", session["session"], "it waits")
        holder = place.hold()
        busy = compare(hosts, 100)
        print(f"# sum: the store is busy and something is pending: bare {busy[0]:.3f} ms, wrapped {busy[1]:.3f} ms, added {busy[1] - busy[0]:.3f} ms")
        end(holder, signal.SIGKILL)
    for host in hosts:
        host.end()
