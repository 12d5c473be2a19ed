#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings listen` with kills between commit and answer and during hand-overs, with hostile bytes, and with a real Alertmanager.

TIDINGS_LISTEN_KILLS, TIDINGS_LISTEN_FUZZ and TIDINGS_LISTEN_REPEATS make the tests longer.
"""
import collections
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading

from kit import Skip, end, main, until
from listen_kit import SECRET, Server, route, routes, serve

KILLS = int(os.environ.get("TIDINGS_LISTEN_KILLS", "6"))
FUZZ_ROUNDS = int(os.environ.get("TIDINGS_LISTEN_FUZZ", "400"))


class Sender(threading.Thread):
    """Sends events one after the other, and repeats each until it is answered with 200."""

    def __init__(self, server, name, path):
        super().__init__()
        self.server, self.name, self.path = server, name, path
        self.sent, self.ending, self.tries = 0, threading.Event(), 0

    def is_taken(self, body):
        self.tries += 1
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            return self.server.post(self.path, body)[0] == 200
        return False

    def run(self):
        while not self.ending.is_set():
            body = json.dumps({"text": f"{self.name} {self.sent}"})
            while not self.is_taken(body):
                self.ending.wait(0.005)  # the pace of a sender that repeats
            self.sent += 1


def test_kills(place):
    """when the server is killed at random moments, also between commit and answer and while a session collects, nothing is lost or there twice"""
    folders = {name: os.path.join(place.dir, name) for name in "abc"}
    for name, folder in folders.items():
        os.mkdir(folder)
        if name != "c":  # no session works in that folder
            place.opened(name, cwd=folder)
    rows = tuple(route(f"/{name}", to=f"folder:{folder}") for name, folder in folders.items())
    config = os.path.join(place.dir, "config.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"limits": {"pending_per_session": 1000000}}, file)
    server = serve(place, *rows, words=("--bind", "127.0.0.1:0", "--config", config))
    words = ("--bind", server.address.removeprefix("http://"), "--config", config)
    senders = [Sender(server, name, f"/{name}") for name in folders]
    chance = random.Random(7)
    for sender in senders:
        sender.start()
    for _ in range(KILLS):
        wanted = chance.randrange(1, 30)
        begun = sum(sender.tries for sender in senders)
        until(lambda: sum(sender.tries for sender in senders) >= begun + wanted, "so many were sent")  # pylint: disable=cell-var-from-loop
        assert end(server.process, signal.SIGKILL) == -signal.SIGKILL
        server.process = serve(place, *rows, words=words).process
    for sender in senders:
        sender.ending.set()
    for sender in senders:
        sender.join()
    assert server.stop() == 0
    for sender in senders:  # a list has at most 10,000 entries
        found = collections.Counter(place.messages(f"folder:{folders[sender.name]}"))
        if sender.name != "c":
            found.update(place.messages(sender.name))
        wanted = collections.Counter(f"{sender.name} {number}" for number in range(sender.sent))
        assert found == wanted, (sender.name, sum(wanted.values()), list((wanted - found).items())[:9], list((found - wanted).items())[:9])
    repeated = sum(sender.tries - sender.sent for sender in senders)
    print(f"# {KILLS} kills, {sum(sender.sent for sender in senders)} events, {repeated} attempts that were not answered")


def test_redelivered(place):
    """an event that is delivered many times is stored once"""
    server = serve(place, route("/a", to="box:a"))
    body = json.dumps({"text": "once"}).encode()
    answers = collections.Counter()
    connection = http.client.HTTPConnection(*server.peer)
    with contextlib.closing(connection):
        for _ in range(int(os.environ.get("TIDINGS_LISTEN_REPEATS", "300"))):
            connection.request("POST", "/a", body, {"Content-Type": "application/json", "Authorization": f"Bearer {SECRET}"})
            answers[connection.getresponse().read()] += 1
    assert answers[b'{"accepted":1,"repeated":0}\n'] == 1 and len(answers) == 2, answers
    assert place.messages("box:a") == ["once"]


def mutate(chance, text):
    data = bytearray(text)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data) + 1)
        how = chance.randrange(5)
        if how == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif how == 1:
            del data[at:at + chance.randrange(1, 20)]
        elif how == 2:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 12)))
        elif how == 3:
            data[at:at] = data[:chance.randrange(1, 60)]
        else:
            data[at:at] = chance.choice((b"\r\n", b"\r\n\r\n", b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 99999999999999999999\r\n", b"\0", b"{" * 300))
    return bytes(data)


def test_hostile(place):
    """after bytes that are nearly requests the server still works, and nothing is stored that is not signed"""
    server = serve(place, route("/a", to="box:a"), route("/s", "standard", to="box:s"), route("/c", "cloudevents", to="box:c"), route("/g", "github"))
    chance = random.Random(os.environ.get("TIDINGS_LISTEN_SEED", "11"))
    bodies = ['{"text":"x"}', '[{"specversion":"1.0","id":"1","source":"s","type":"t"}]', '{"type":"verification","challenge":"c"}']
    for _ in range(FUZZ_ROUNDS):
        body = chance.choice(bodies)
        path, token = chance.choice(("/a", "/s", "/c", "/g", "/healthz")), chance.choice(("wrong", SECRET[:-1]))
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nX-GitHub-Event: ping\r\n"
        text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}" if chance.random() < 0.7 else f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        with contextlib.suppress(OSError):
            got = server.raw(mutate(chance, text.encode()))
            assert b"accepted" not in got, got
    assert server.process.poll() is None and server.request("GET", "/healthz")[0] == 200
    assert not any(place.pending(f"box:{box}") for box in "asc")
    assert server.post("/a", {"text": "still there"})[0] == 200


def test_alertmanager(place):
    """Prometheus' own Alertmanager delivers an alert that fires and is resolved, even if nobody listens for a time"""
    program = os.environ.get("TIDINGS_ALERTMANAGER") or shutil.which("prometheus-alertmanager")
    if not program:
        raise Skip("there is no prometheus-alertmanager")
    server = serve(place, route("/alerts", "alertmanager", to="box:ops"))
    config = os.path.join(place.dir, "alertmanager.yml")
    with open(config, "w", encoding="ascii") as file:
        file.write("route: {receiver: t, group_wait: 0s, group_interval: 1s, repeat_interval: 1h, group_by: [alertname]}\nreceivers:\n- name: t\n  webhook_configs:\n"
                   f"  - {{url: '{server.address}/alerts', send_resolved: true, http_config: {{authorization: {{credentials: '{SECRET}'}}}}}}\n")
    process = place.start(command=[program, f"--config.file={config}", f"--storage.path={place.dir}/am", "--web.listen-address=127.0.0.1:0", "--cluster.listen-address="],
                          stderr=subprocess.PIPE, text=True)
    port = next(int(line.rsplit(":", 1)[1].strip(' "\n')) for line in process.stderr if "Listening on" in line)
    threading.Thread(target=process.stderr.read, daemon=True).start()

    def alert(name, **more):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        with contextlib.closing(connection):
            connection.request("POST", "/api/v2/alerts", json.dumps([{"labels": {"alertname": name, "severity": "critical"}, "annotations": {"summary": f"{name} is bad"}, **more}]),
                               {"Content-Type": "application/json"})
            assert connection.getresponse().status == 200

    alert("Latency")
    until(lambda: place.messages("box:ops") == ["Alert `Latency` is firing: Latency is bad"], "it fires")
    alert("Latency", endsAt="2026-01-01T00:00:00Z", startsAt="2025-01-01T00:00:00Z")
    until(lambda: len(place.messages("box:ops")) == 2, "it is resolved")
    assert place.messages("box:ops")[1] == "Alert `Latency` is resolved: Latency is bad"
    assert server.stop() == 0
    alert("Disk")
    Server(place, place.start("listen", "-c", routes(place, route("/alerts", "alertmanager", to="box:ops")), "--bind", server.address.removeprefix("http://")), server.address)
    until(lambda: len(place.messages("box:ops")) == 3, "Alertmanager tries again")
    assert place.messages("box:ops")[2] == "Alert `Disk` is firing: Disk is bad"


if __name__ == "__main__":
    sys.exit(main(globals()))
