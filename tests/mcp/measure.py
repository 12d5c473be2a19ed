#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py [CALLS]: measures the time that the wrapper adds to a call, beside the bare server in the same run: when nothing is pending, with up to
10 MB, with a block, and while another process holds the store and a delivery has to be settled.

The two servers alternate, call by call, so that both have the same load. Prints medians, and the maximum for calls that may wait for the store; fails
if a byte differs.
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
    return times


def say(what, times, longest=False):
    bare, wrapped = (statistics.median(own) for own in times)
    more = f"; the longest {max(times[0]):.1f} and {max(times[1]):.1f} ms" if longest else ""
    print(f"# sum: {what}: bare {bare:.3f} ms, wrapped {wrapped:.3f} ms, added {wrapped - bare:.3f} ms{more}", flush=True)


def with_news(place, session, hosts, count):
    """Measures calls whose results have a block in the second server."""
    times = [[], []]
    while len(times[1]) < count:
        place.ok("push", "-s", session, f"number {len(times[1])}")
        bare, _ = timed(hosts[0])
        wrapped, line = timed(hosts[1])
        if b"number" in line:
            times[0].append(bare)
            times[1].append(wrapped)
    return times


with Place() as place:
    hosts = [Host(place, SERVER, bare=bare, bufsize=65536) for bare in (True, False)]
    compare(hosts, 100)
    say(f"{TIDINGS}: nothing is pending, 0 bytes changed, {CALLS} calls", compare(hosts, CALLS))
    say("10 MB", compare(hosts, max(CALLS // 50, 5), bytes=10_000_000))
    [session] = place.ok("sessions", "--json").json["sessions"]
    say("with a block", with_news(place, session["session"], hosts, max(CALLS // 20, 5)), longest=True)
    if os.path.exists(TRICK):
        place.ok("push", "-s", session["session"], "it waits")
        holder = place.hold()
        say("the store is busy, a delivery is to be settled, and something is pending", compare(hosts, 100), longest=True)
        end(holder, signal.SIGKILL)
    for host in hosts:
        host.end()
