#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""echo_server.py: an MCP server for the tests: it answers each line with the bytes that the line's call asks for.

The argument "answer" of a tools/call is the result as JSON text, written as it stands; "lines" are whole lines that come before it; "bytes" asks
for a result of that many bytes; "exit" ends the server with that status, "kill" by that signal; "flood" writes that many bytes to stderr.
"""
import json
import os
import sys


def put(text):
    sys.stdout.buffer.write(text.encode(errors="surrogatepass"))
    sys.stdout.buffer.flush()


large = {}


def put_large(number, count):
    """Makes the text once and keeps it, so that measurements do not include this."""
    if count not in large:
        large[count] = b"x" * count
    head = b'{"jsonrpc":"2.0","id":' + json.dumps(number).encode() + b',"result":{"content":[{"type":"text","text":"'
    for piece in (head, large[count], b'"}]}}\n'):
        while piece:
            piece = memoryview(piece)[os.write(1, piece):]


def answer_call(message):
    asked = message["params"].get("arguments", {})
    for line in asked.get("lines", []):
        put(line + "\n")
    if "flood" in asked:
        os.write(2, b"e" * asked["flood"])
    if "partly" in asked:
        put(asked["partly"])
    if "exit" in asked:
        sys.exit(asked["exit"])
    if "kill" in asked:
        os.kill(os.getpid(), asked["kill"])
    result = asked.get("answer", '{"content":[{"type":"text","text":"done"}]}')
    if "bytes" in asked:
        put_large(message["id"], asked["bytes"])
    elif not asked.get("silent"):
        put('{"jsonrpc":"2.0","id":' + json.dumps(message["id"]) + ',"result":' + result + "}\n")


def main():
    """Answers each line; echoes the bytes of a line that is no message, such as a batch."""
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            put(line.decode(errors="surrogatepass"))
            continue
        if not isinstance(message, dict):
            put(line.decode(errors="surrogatepass"))
        elif message.get("method") == "tools/call":
            answer_call(message)
        elif "id" in message and "method" in message:
            put('{"jsonrpc":"2.0","id":' + json.dumps(message["id"]) + ',"result":{"method":' + json.dumps(message["method"]) + "}}\n")


main()
