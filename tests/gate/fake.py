#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fake.py WHAT SEED COUNT [FIFO]: stands for a program of the gate. It counts, breaks a promise, dies, waits to be killed, or waits for another one that runs at the
same time."""
import os
import signal
import sys

what, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if what == "waits":
    with open(sys.argv[4], "w", encoding="utf-8") as fifo:
        fifo.write("started\n")
        fifo.flush()
        signal.pause()
if what in ("reads", "writes"):  # each waits for the other
    with open(sys.argv[4], what[0], encoding="utf-8"):
        pass
if what == "dies":
    os.kill(os.getpid(), signal.SIGSEGV)
broken = 1 if what == "breaks" or (what == "rarely" and seed == 2) else 0
print("token 7 twice" if broken else "all is well")
print(f'{{"part":"{what}","seed":{seed},"done":{count},"violations":{broken}}}')
sys.exit(broken)
