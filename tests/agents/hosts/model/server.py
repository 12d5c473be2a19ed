#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A model server on 127.0.0.1 that answers by a script and keeps the requests, for tests of agents without a network.

It speaks OpenAI's chat completions and Responses, Anthropic's Messages and Google's generateContent, streaming or not; a host finds it by
its base URL, with or without /v1 in it.

As a program:  python3 -m model.server --script RULES.json --log REQUESTS.jsonl     (in tests/agents/hosts; prints its base URL as its first line;
               ends with SIGTERM, or when its stdin is closed if --until-eof is given)
In Python:     with ModelServer(rules) as model: … model.url, model.requests, model.release("gate"), model.replace(rules)

RULES is a list. A rule applies to requests that fit all of its keys; if several rules fit, the one whose prompt stands last in the conversation:
  {"name": "…",           for the log
   "prompt": "…",         a user's message contains this
   "text": "…",           the request contains this anywhere
   "protocol": "…",       chat, responses, messages or gemini
   "tools": false,        requests that offer no tools, such as those for a title; without this key: only those that do
   "answers": [A, B…]}    A to the prompt itself, B when the model has spoken once since (so after A's tool calls were made), and so on; beyond
                          the end, and when no rule fits, the answer is the text "Done."
An answer is a list of parts, sent one by one:
  {"text": "…"}                                              some text
  {"call": "shell", "arguments": {…}, "id": "call_7"}        a tool call (the id may be left out)
  {"call": "apply_patch", "input": "…"}                      Responses: a call of a tool that takes free text
  {"call": "spawn_agent", "namespace": "multi_agent_v1", …}  Responses: a call of a tool that is in a namespace
  {"hold": "gate"}                                           nothing more until POST /_control/release/gate
  {"tokens": 180000}                                         how many tokens the answer says that the request had (100)
  {"status": 500}                                            as the first part: fail with this status; with "until": "gate" only until it opens, with
                                                             "times": 2 only twice, with "message" and "headers" with these

The log has one JSON object a line, written when the request has been read: {"number", "protocol", "path", "tools": [names], "stream", "rule",
"items": [{"role": system|user|assistant|tool, "text", "id"?, "call"?}…], "text": all texts, "body": as it came}. A request that no protocol handles is there
with "protocol": null. When an answer has ended, or its reader has gone: {"number", "ended": "whole"|"gone"}.
Besides POST /_control/release/GATE there are POST /_control/rules (a new list) and GET /_control/requests (the log as a JSON list).
"""
import argparse
import http.server
import json
import select
import signal
import socket
import sys
import threading
import time

from . import chat, gemini, messages, responses
from .common import HOLD
from .script import Script

PROTOCOLS = (chat, responses, messages, gemini)
HOLD_LIMIT = 600  # seconds after which a gate opens by itself


class ModelServer:
    def __init__(self, rules, log=None, port=0):
        self.script = Script(rules)
        self.lock = threading.Condition()
        self.log = []  # all records, as in the file
        self.file = open(log, "a", encoding="utf-8") if log else None
        self.gates = set()
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.http.model = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.http.shutdown()
        self.http.server_close()
        with self.lock:
            self.gates = None
            self.lock.notify_all()
        if self.file:
            self.file.close()

    @property
    def requests(self):
        """Returns the requests that a protocol handled, in their order."""
        with self.lock:
            return [entry for entry in self.log if entry.get("protocol")]

    def ended(self, number):
        """Returns how the answer to a request ended, or None if it has not ended."""
        with self.lock:
            return next((entry["ended"] for entry in self.log if entry["number"] == number and "ended" in entry), None)

    def wait(self, condition, seconds):
        """Waits until condition() is true, which it checks whenever the log grows. Returns its value."""
        with self.lock:
            self.lock.wait_for(condition, seconds)
            return condition()

    def release(self, gate):
        with self.lock:
            self.gates.add(gate)
            self.lock.notify_all()

    def replace(self, rules):
        script = Script(rules)
        with self.lock:
            self.script = script

    def fails(self, part):
        with self.lock:
            part["times"] = part.get("times", sys.maxsize) - 1
            return part["times"] >= 0 and part.get("until") not in self.gates

    def record(self, entry):
        with self.lock:
            if "number" not in entry:
                entry["number"] = 1 + sum("ended" not in other for other in self.log)
            self.log.append(entry)
            if self.file and not self.file.closed:
                self.file.write(json.dumps(entry, ensure_ascii=False) + "\n")
                self.file.flush()
            self.lock.notify_all()
        return entry["number"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *arguments):
        pass

    @property
    def model(self):
        return self.server.model

    def send_json(self, value, status=200, headers={}):
        text = json.dumps(value).encode()
        self.send_response(status)
        for name, content in headers.items():
            self.send_header(name, content)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/_control/requests":
            with self.model.lock:
                log = list(self.model.log)
            return self.send_json(log)
        if path.endswith("/models"):
            return self.send_json({"object": "list", "data": [{"id": "fake-1", "object": "model", "owned_by": "tests"}]})
        self.model.record({"protocol": None, "path": self.path})
        return self.send_json({"error": {"message": f"nothing is at {path}"}}, 404)

    def do_POST(self):
        path, body = self.path.split("?")[0], self.read_body()
        if path.startswith("/_control/"):
            return self.control(path.removeprefix("/_control/"), body)
        if path.endswith(("/count_tokens", ":countTokens")):
            return self.send_json({"input_tokens": 100, "totalTokens": 100})
        protocol = next((module for module in PROTOCOLS if module.handles(path)), None)
        if not protocol:
            self.model.record({"protocol": None, "path": self.path, "body": body.decode("utf-8", "replace")})
            return self.send_json({"error": {"message": f"nothing is at {path}"}}, 404)
        return self.converse(protocol, path, json.loads(body))

    def control(self, word, body):
        if word.startswith("release/"):
            self.model.release(word.removeprefix("release/"))
        elif word == "rules":
            self.model.replace(json.loads(body))
        else:
            return self.send_json({"error": "unknown"}, 404)
        return self.send_json({})

    def converse(self, protocol, path, body):
        request = {"protocol": protocol.NAME, "path": path, **protocol.read(path, body)}
        request["text"] = "\n".join(item["text"] for item in request["items"])
        request["rule"], parts = self.model.script.answer(request)
        number = self.model.record({**request, "body": body})
        body = {**body, "prompt_tokens": next((part["tokens"] for part in parts if "tokens" in part), 100)}
        parts = [part for part in parts if "tokens" not in part]
        ended = "gone"
        try:
            fails = bool(parts) and "status" in parts[0] and self.model.fails(parts[0]) and parts[0]
            parts = [part for part in parts if "status" not in part]
            if fails:
                error = {"message": fails.get("message", "as the script says"), "type": "server_error"}
                self.send_json({"error": error}, fails["status"], fails.get("headers", {}))
                ended = "whole"
            elif request["stream"]:
                ended = "whole" if self.send_stream(protocol.stream(parts, body)) else "gone"
            elif all(self.hold(part["hold"]) for part in parts if "hold" in part):
                self.send_json(protocol.whole(parts, body))
                ended = "whole"
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.model.record({"number": number, "ended": ended})

    def send_stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event, data in events:
            if event is HOLD:
                if not self.hold(data):
                    return False
                continue
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(((f"event: {event}\n" if event else "") + f"data: {text}\n\n").encode())
            self.wfile.flush()
        return True

    def hold(self, gate):
        """Waits until the gate opens. False: the reader has gone, or the server ends."""
        model = self.model
        with model.lock:
            deadline = time.monotonic() + HOLD_LIMIT
            while time.monotonic() < deadline:
                if model.gates is None:
                    return False
                if gate in model.gates:
                    return True
                if reader_gone(self.connection):
                    return False
                model.lock.wait(0.05)
        return True


def reader_gone(connection):
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def main():
    parser = argparse.ArgumentParser(description="A model server that answers by a script.")
    parser.add_argument("--script", required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--until-eof", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.script, encoding="utf-8") as file:
        rules = json.load(file)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ModelServer(rules, arguments.log, arguments.port) as model:
        print(model.url, flush=True)
        if arguments.until_eof:
            sys.stdin.read()
        else:
            signal.pause()


if __name__ == "__main__":
    main()
