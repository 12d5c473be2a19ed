# SPDX-License-Identifier: MIT
"""loose_json.py: reads a configuration like an agent: it accepts comments and surplus commas, and takes an empty text as an empty object. A single process of node reads all files of a test."""
import functools
import json
import subprocess

SCRIPT = "require('readline').createInterface({input: process.stdin}).on('line', line => console.log(JSON.stringify((0, eval)('(' + JSON.parse(line) + '\\n)'))))"


@functools.cache
def reader():
    return subprocess.Popen(["node", "-e", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def strict(text):
    reader().stdin.write(json.dumps(text.strip() or "{}") + "\n")
    reader().stdin.flush()
    return json.loads(reader().stdout.readline())
