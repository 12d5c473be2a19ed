# SPDX-License-Identifier: MIT
"""A host of MCP servers, as far as the tests need one: it starts a server, sends lines, reads lines."""
import json
import os
import subprocess
import sys

PYTHON = [sys.executable, "-I", "-S"]  # it starts in half the time
SERVER = [*PYTHON, os.path.join(os.path.dirname(os.path.abspath(__file__)), "echo_server.py")]


class Host:
    """The process that uses this is the agent."""

    def __init__(self, place, command=(), env=None, options=(), bare=False, **more):
        """`bare`: the command itself, not in the wrapper."""
        words = ["mcp", *options, *(["--", *command] if command else [])]
        self.process = place.start(*words, command=command if bare else None, stdin=subprocess.PIPE, env={**place.env, **(env or {})}, **more)
        self.next = 0

    def write(self, data):
        while data:  # nothing is kept in a buffer, which could not be written when it is closed
            data = data[os.write(self.process.stdin.fileno(), data):]

    def read(self):
        return self.process.stdout.readline()

    def send(self, method, params=None, **more):
        """A request; answers its id."""
        self.next += 1
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, **({"params": params} if params is not None else {}), **more}
        self.write(json.dumps(message).encode() + b"\n")
        return self.next

    def notify(self, method, params=None):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}).encode() + b"\n")

    def ask(self, method, params=None):
        """A request and the line that answers it."""
        self.send(method, params)
        return self.read()

    def call(self, tool="echo", meta=None, **arguments):
        """The line that answers a call of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})})

    def texts(self, tool="echo", **more):
        """The texts of the blocks of a result."""
        return [block["text"] for block in json.loads(self.call(tool, **more))["result"]["content"]]

    def news(self, tool="echo", **more):
        """The first result with a block of news: while the machine is busy, results pass without."""
        while True:
            line = self.call(tool, **more)
            assert line, "the server has ended"
            if b"While you worked" in line:
                return line

    def end(self):
        """Closes stdin, as a host does that ends in order; answers the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=180)
