#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent.py TRANSCRIPT COMMAND...: an agent that may be killed: it calls a tool for ever and writes the numbers that it reads into TRANSCRIPT.

For each number in a result it writes "read N" when it has read the line, "going N" before its next message and "went N" after that message.
"""
import re
import subprocess
import sys
import time

with open(sys.argv[1], "ab", buffering=0) as transcript, subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
    last, number = [], 0
    while True:
        number += 1
        for n in last:
            transcript.write(b"going %s\n" % n)
        server.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}\n' % number)
        server.stdin.flush()
        for n in last:
            transcript.write(b"went %s\n" % n)
        line = server.stdout.readline()
        if not line:
            break
        last = re.findall(rb"number (\d+)\.", line)
        if not last:
            time.sleep(0.001)
        for n in last:
            transcript.write(b"read %s\n" % n)
