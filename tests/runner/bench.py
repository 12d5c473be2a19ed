#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py: tests that the row of `tidings-bench` about wakes begins at the commit: a wake before it, of which a push makes one, does not count. Prints TAP."""
import json
import os
import subprocess
import sys

ran = subprocess.run([os.path.join(os.environ["TIDINGS_BUILD_DIR"], "tidings-bench"), "--quick", "--json", "--rows", "push to wake"], stdin=subprocess.DEVNULL,
                     stdout=subprocess.PIPE, text=True, check=True)
row = json.loads(ran.stdout)[0]
holds = 0 <= row["measured"] < 1e9 and 0 <= row["floor"] < 1e9  # a time before the commit would be nearly 2 ** 64
print(f"{'ok' if holds else 'not ok'} 1 - wakes are measured from the commit on\n# {row}\n1..1")
sys.exit(not holds)
