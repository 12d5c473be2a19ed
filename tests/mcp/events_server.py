#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""events_server.py: an MCP server with events (SEP-3415) for the tests: over HTTP, or with --stdio; both eras; a plain stream at /sse.

Its events are numbers: event N exists as soon as the file COUNT has a number above N. A cursor is the number of the next event. Its faults are in the
file FAULTS, read again for each request: a JSON object of probabilities and switches (see Faults). It logs requests into the file LOG, one JSON
object a line.
"""
import argparse
import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EXTENSION = "io.modelcontextprotocol/events"
META = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
POLL_S = 0.02


class Faults:
    """drop: the connection is closed in the middle; repeat: an event is sent again; reorder: two events are exchanged; truncate: the answer
    is cut; stall: nothing more is sent, but the connection stays; error: a transient error. Switches: status, era, places, codes, cursor,
    next_poll_ms, page, truncate_at, drop_at (an event of a plain stream), kept (events that are remembered), forgets (cursors), joined (the stream says first what it is when an event comes), heartbeat_s, offers, terminated, refuse, error_code, session."""

    def __init__(self, path):
        self.path = path

    def all(self):
        try:
            with open(self.path, encoding="ascii") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def get(self, name, otherwise=None):
        return self.all().get(name, otherwise)

    def happens(self, name):
        return random.random() < self.get(name, 0)


class Server:
    def __init__(self, options):
        self.options, self.faults, self.lock = options, Faults(options.faults), threading.Lock()
        self.cut = set()

    def log(self, **what):
        with self.lock, open(self.options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps({"at": time.monotonic(), **what}) + "\n")

    def cuts(self, fault, number):
        """Returns whether a plain stream is cut at this event, which happens once."""
        if self.faults.get(fault) != number or fault in self.cut:
            return False
        self.cut.add(fault)
        self.log(cut=fault)
        return True

    def count(self):
        with open(self.options.count, encoding="ascii") as file:
            return int(file.read() or 0)

    # -- events ---------------------------------------------------------------------------------

    def occurrence(self, number):
        data = {"message": f"number {number}."} if not self.faults.get("bare") else {"n": number}
        return {"eventId": f"evt-{number}", "name": self.options.event, "timestamp": "2026-11-27T10:00:00Z", "data": data}

    def place(self, cursor):
        """Returns the first event for a cursor, and whether events are missing before it."""
        count = self.count()
        if cursor is None or self.faults.get("cursor") == "none":
            return count, False
        number = int(cursor.split("-")[1])
        first = max(0, count - self.faults.get("kept", 1 << 40))
        return max(number, first), number < first

    def cursor(self, number):
        how = self.faults.get("cursor")
        return {} if how in ("absent", "none") else {"cursor": None} if how == "null" else {"cursor": f"c-{number}"}

    def spoil(self, events):
        """Repeats and exchanges some of the events."""
        events = [again for event in events for again in [event] * (2 if self.faults.happens("repeat") else 1)]
        if len(events) > 1 and self.faults.happens("reorder"):
            at = random.randrange(len(events) - 1)
            events[at], events[at + 1] = events[at + 1], events[at]
        return events

    def poll(self, params):
        start, truncated = self.place(params.get("cursor"))
        deadline = time.monotonic() + min(params.get("timeoutMs", 0) / 1000, self.faults.get("hold_s", 0.2))
        while self.count() <= start and time.monotonic() < deadline:
            time.sleep(POLL_S)
        page = self.faults.get("page", 10)
        end = min(self.count(), start + page)
        return {"events": self.spoil([self.occurrence(n) for n in range(start, end)]), **self.cursor(end), "truncated": truncated,
                "hasMore": self.count() > end, "nextPollMs": self.faults.get("next_poll_ms", 1000)}

    def list(self, params):
        if params.get("cursor") != "second":
            return {"events": [{"name": "other.event", "delivery": ["poll"]}], "nextCursor": "second"}
        return {"events": [{"name": self.options.event, "description": "Numbers.", "delivery": self.faults.get("offers", ["poll", "push"]),
                            "inputSchema": {"type": "object"}, "payloadSchema": {"type": "object"}}]}

    def capabilities(self):
        places = self.faults.get("places", ["extensions", "events"])
        return {**({"events": {"listChanged": True}} if "events" in places else {}),
                **({"extensions": {EXTENSION: {}}} if "extensions" in places else {})}

    def failure(self, meaning):
        names = ["not_found", "forbidden", "exhausted", "unsupported", "callback"]
        base = -32011 if self.faults.get("codes") == "old" else -32023
        return {"code": base - names.index(meaning) if meaning in names else int(meaning), "message": f"it is {meaning}"}

    def subscribe(self, params):
        start, truncated = self.place(params.get("cursor"))
        left = self.faults.get("ttl_s", 3600)
        until = None if left is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + left))
        return {"id": "sub-1", "refreshBefore": until, **self.cursor(start), "truncated": truncated,
                "deliveryStatus": {"active": not self.faults.get("suspended"), "lastError": "http_5xx"}}

    def answer(self, request):
        """Returns the result or the error of a request; None: it is a stream."""
        method, params = request["method"], request.get("params", {})
        modern = META + "protocolVersion" in params.get("_meta", {})
        eras = self.faults.get("era", "both")
        self.log(method=method, id=request.get("id"), modern=modern, **{k: params[k] for k in ("cursor", "name", "arguments", "delivery") if k in params})
        if method == "server/discover" and eras != "legacy":
            return {"result": {"supportedVersions": [MODERN], "capabilities": self.capabilities(), "ttlMs": 0, "cacheScope": "private"}}
        if method == "initialize" and eras != "modern":
            return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": self.capabilities(), "serverInfo": {"name": "n", "version": "1"}}}
        if method in ("server/discover", "initialize") or (modern and eras == "legacy"):
            return {"error": {"code": -32601, "message": "no such method"}}
        refuse = self.faults.get("refuse", {}).get(method)
        if refuse:
            return {"error": self.failure(refuse)}
        if self.faults.get("forgets") and method != "events/list" and params.get("cursor"):
            return {"error": self.failure("-32602")}
        if self.faults.happens("error") and method.startswith("events/"):
            return {"error": {"code": -32603, "message": "upstream"}}
        work = {"events/list": self.list, "events/poll": self.poll, "events/subscribe": self.subscribe}
        if method == "events/stream":
            return None
        if method not in work:
            return {"error": {"code": -32601, "message": "no such method"}}
        result = work[method](params)
        return {"result": {**result, **({"resultType": "complete"} if modern else {})}}

    # -- a stream -------------------------------------------------------------------------------

    def stream(self, request, write, closed):
        """Writes messages until `closed` is set or a fault ends it. Returns False if nothing may be written any more."""
        params, me = request["params"], {META + "subscriptionId": request["id"]}
        number, truncated = self.place(params.get("cursor"))
        heartbeat = self.faults.get("heartbeat_s", 0.3)

        held = []
        self.log(streams=number)

        def say(what, **more):
            held.append({"jsonrpc": "2.0", "method": f"notifications/events/{what}", "params": {**more, "_meta": me}})
            if what == "event" or not self.faults.get("joined"):
                write(*held)
                held.clear()

        say("active", **self.cursor(number), truncated=truncated)
        said = time.monotonic()
        while not closed.is_set():
            count = self.count()
            if self.faults.get("terminated"):
                say("terminated", error=self.faults.get("terminated"))
                write({"jsonrpc": "2.0", "id": request["id"], "result": {"_meta": {}}})
                return True
            if self.faults.happens("stall"):
                self.log(stalls=True)
                closed.wait(self.faults.get("stall_s", 60))
                return False
            if number < count:
                batch = list(range(number, min(count, number + 5)))
                sent = self.spoil(batch)
                done = set()
                for n in sent:
                    if self.faults.happens("drop"):
                        return False
                    done.add(n)
                    while number in done:
                        number += 1
                    say("event", **self.occurrence(n), **self.cursor(number))
                said = time.monotonic()
            elif time.monotonic() - said > heartbeat:
                if self.faults.happens("error"):
                    say("error", error={"code": -32603, "message": "upstream"})
                say("heartbeat", **self.cursor(number))
                said = time.monotonic()
            if self.faults.happens("close"):
                write({"jsonrpc": "2.0", "id": request["id"], "result": {"_meta": {}}})
                return True
            time.sleep(POLL_S)
        return True


# -- HTTP -----------------------------------------------------------------------------------------


def make_handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def refuse(self, status, **headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def begin_stream(self, **headers):
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()

        def write_event(self, message, **fields):
            text = "".join(f"{name}: {value}\n" for name, value in fields.items()) + f"data: {message}\n\n"
            self.wfile.write(text.encode())
            self.wfile.flush()

        def allowed(self):
            token = server.faults.get("token")
            if token and self.headers.get("Authorization") != f"Bearer {token}":
                return self.answered(401, {}, authorization=self.headers.get("Authorization"))
            status = server.faults.get("status")
            if status:
                after = server.faults.get("retry_after")
                return self.answered(status, {"Retry_After": str(after)} if after else {})
            return True

        def answered(self, status, headers, **more):
            """Refuses a request, and logs that afterwards, because a test may end the server as soon as it reads the line."""
            at = time.monotonic()
            self.refuse(status, **headers)
            server.log(refused=status, at=at, **more)
            return False

        def check_headers(self, request):
            """Checks the headers that the era demands."""
            meta = request.get("params", {}).get("_meta", {})
            if META + "protocolVersion" in meta:
                assert self.headers["MCP-Protocol-Version"] == MODERN and self.headers["Mcp-Method"] == request["method"], self.headers
            elif request.get("method") not in ("initialize",):
                assert self.headers["Mcp-Session-Id"] == "session-1", self.headers

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.close_connection = True
            request = json.loads(body)
            if not self.allowed():
                return
            self.check_headers(request)
            if "method" not in request or "id" not in request:
                server.log(method=request.get("method"), answer="method" not in request)
                self.refuse(202)
                return
            answer = server.answer(request)
            if answer is None:
                self.do_stream(request)
                return
            if server.faults.happens("drop"):
                return
            text = json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode()
            if server.faults.happens("stall"):
                time.sleep(server.faults.get("stall_s", 60))
                return
            if server.faults.get("in_stream"):
                self.begin_stream(Mcp_Session_Id="session-1")
                self.write_event('{"jsonrpc":"2.0","id":99,"method":"ping"}')
                self.write_event(text.decode())
                return
            self.send_response(400 if "error" in answer and server.faults.get("error_status") else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            if request["method"] == "initialize":
                self.send_header("Mcp-Session-Id", "session-1")
            self.end_headers()
            self.wfile.write(text[: len(text) // 2] if server.faults.happens("truncate") else text)

        def do_stream(self, request):
            closed = threading.Event()

            def write(*messages):
                text = "\n\ndata: ".join(json.dumps(message) for message in messages)
                try:
                    if server.faults.happens("truncate"):
                        self.wfile.write(f"data: {text[:len(text) // 2]}".encode())
                        self.wfile.flush()
                        closed.set()
                    if not closed.is_set():
                        self.write_event(text)
                except OSError:
                    closed.set()

            self.begin_stream()
            server.stream(request, write, closed)

        def do_GET(self):
            """Sends a plain stream."""
            self.close_connection = True
            if not self.allowed():
                return
            last = self.headers.get("Last-Event-ID")
            server.log(method="GET", last=last)
            if server.faults.get("gone"):
                self.send_response(204)
                self.end_headers()
                return
            number = int(last) + 1 if last is not None else server.count()
            self.begin_stream()
            self.wfile.write(b": hello\nretry: 10\n\n")
            try:
                while True:
                    if number < server.count():
                        if server.cuts("drop_at", number):
                            return
                        kinds = {0: json.dumps({"message": f"number {number}."}), 1: f"number {number}."}
                        text = kinds[number % 2]
                        if server.cuts("truncate_at", number):
                            self.wfile.write(f"id: {number}\ndata: {text}\n".encode())
                            return
                        self.write_event(text, id=number)
                        number += 1
                    elif server.faults.happens("stall"):
                        time.sleep(server.faults.get("stall_s", 60))
                        return
                    else:
                        self.wfile.write(b":\n")
                        self.wfile.flush()
                        time.sleep(POLL_S)
            except OSError:
                return

    return Handler


class Listening(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        if isinstance(sys.exc_info()[1], OSError):
            return
        super().handle_error(*_)


def serve_http(server):
    http = Listening(("127.0.0.1", server.options.port), make_handler(server))
    print(http.server_address[1], flush=True)
    http.serve_forever()


# -- stdio ----------------------------------------------------------------------------------------


def serve_stdio(server):
    streams, lock = {}, threading.Lock()

    def write(*messages):
        text = "\n".join(json.dumps(message) for message in messages)
        with lock:
            if server.faults.happens("truncate"):
                os.write(1, text[: len(text) // 2].encode())
                os._exit(3)
            os.write(1, text.encode() + b"\n")

    def run(request):
        if not server.stream(request, write, streams[request["id"]]) and not server.faults.get("silent"):
            os._exit(4)

    server.log(started=os.getpid())
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("method") == "notifications/cancelled":
            server.log(cancelled=request["params"]["requestId"])
            stream = streams.get(request["params"]["requestId"])
            if stream:
                stream.set()
            continue
        if "id" not in request or "method" not in request:
            continue
        if server.faults.get("mute") == request["method"]:
            continue
        answer = server.answer(request)
        if answer is None:
            streams[request["id"]] = threading.Event()
            threading.Thread(target=run, args=(request,), daemon=True).start()
            if server.faults.get("list_changed"):
                write({"jsonrpc": "2.0", "method": "notifications/events/list_changed"})
        elif server.faults.happens("drop"):
            os._exit(5)
        else:
            write({"jsonrpc": "2.0", "id": request["id"], **answer})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--event", default="number.counted")
    for name in ("count", "faults", "log"):
        parser.add_argument(f"--{name}", required=True)
    server = Server(parser.parse_args())
    (serve_stdio if server.options.stdio else serve_http)(server)


if __name__ == "__main__":
    main()
