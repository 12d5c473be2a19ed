#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py [CALLS]: what the wrapper adds to a call when nothing is pending, beside the bare server in the same run; and to 10 MB.

The two servers take turns, call by call, so that both have the same machine. Prints medians, and fails if a byte differs.
"""
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import TIDINGS, Place  # pylint: disable=wrong-import-position

from host import SERVER, Host  # pylint: disable=wrong-import-position

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


class Bare(Host):
    def __init__(self, place):  # pylint: disable=super-init-not-called
        self.process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next = 0
        place.started.append(self.process)


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
    hosts = [Bare(place), Host(place, SERVER)]
    compare(hosts, 100)
    small = compare(hosts, CALLS)
    large = compare(hosts, max(CALLS // 100, 5), bytes=10_000_000)
    print(f"# sum: {TIDINGS}: {CALLS} calls: bare {small[0]:.3f} ms, wrapped {small[1]:.3f} ms, added {small[1] - small[0]:.3f} ms; 0 bytes changed")
    print(f"# sum: 10 MB: bare {large[0]:.1f} ms, wrapped {large[1]:.1f} ms, added {large[1] - large[0]:.1f} ms")
    for host in hosts:
        host.end()
