# SPDX-License-Identifier: MIT
"""A host of MCP servers for the tests: it starts a server, sends lines, reads lines."""
import json
import os
import subprocess
import sys

PYTHON = [sys.executable, "-I", "-S"]  # with these options it starts in half the time
SERVER = [*PYTHON, os.path.join(os.path.dirname(os.path.abspath(__file__)), "echo_server.py")]


class Host:
    """A host of a server; the process that uses this class is the agent."""

    def __init__(self, place, command=(), env=None, options=(), bare=False, **more):
        """`bare`: runs the command itself, not in the wrapper."""
        words = ["mcp", *options, *(["--", *command] if command else [])]
        self.process = place.start(*words, command=command if bare else None, stdin=subprocess.PIPE, env={**place.env, **(env or {})}, **more)
        self.next = 0

    def write(self, data):
        while data:  # without a buffer, because its rest could not be written when the pipe is closed
            data = data[os.write(self.process.stdin.fileno(), data):]

    def read(self):
        return self.process.stdout.readline()

    def send(self, method, params=None, **more):
        """Sends a request, and returns its id."""
        self.next += 1
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, **({"params": params} if params is not None else {}), **more}
        self.write(json.dumps(message).encode() + b"\n")
        return self.next

    def notify(self, method, params=None):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}).encode() + b"\n")

    def ask(self, method, params=None):
        """Sends a request, and returns the line that answers it."""
        self.send(method, params)
        return self.read()

    def call(self, tool="echo", meta=None, **arguments):
        """Calls a tool, and returns the line that answers."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})})

    def texts(self, tool="echo", **more):
        """Calls a tool, and returns the texts of the result's blocks."""
        return [block["text"] for block in json.loads(self.call(tool, **more))["result"]["content"]]

    def news(self, tool="echo", **more):
        """Calls a tool until its result has a block of notifications, and returns that line; on a busy machine some results have none."""
        while True:
            line = self.call(tool, **more)
            assert line, "the server has ended"
            if b"While you worked" in line:
                return line

    def end(self):
        """Closes stdin, like a host that ends normally, and returns the exit code."""
        self.process.stdin.close()
        return self.process.wait(timeout=180)
