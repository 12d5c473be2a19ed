# SPDX-License-Identifier: MIT
"""proxy.py: what a bad network does, by a proxy between a host and its server: stalls, resets, half a message, resets in a commit, silence.

Every call is back within its budget and 50 ms, with an answer or with BUSY or STORE; and nothing that was acknowledged is lost, nor shown after a
settle that returned OK.
"""
import os
import random
import re
import select
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

BUDGET_MS, GRACE_MS = 500, 50
ROUNDS = int(os.environ.get("TIDINGS_FLEET_ROUNDS", "60"))


class Proxy:
    """Listens as a server does; `mode` says what becomes of what passes."""

    def __init__(self, server):
        self.folder = tempfile.mkdtemp(prefix="tidings-proxy-")
        self.target = os.path.join(server.folder, ".s.PGSQL.5432")
        self.mode, self.met = "pass", 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder, ".s.PGSQL.5432"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.target)
            while self.carry(client, server):
                pass
        except OSError:
            pass
        client.close()
        server.close()

    def carry(self, client, server):
        ready, _, _ = select.select([client, server], [], [], 0.05)
        mode = self.mode
        if mode == "stall" or not ready:
            time.sleep(0.01 if mode == "stall" else 0)
            return True
        for side in ready:
            data = side.recv(65536)
            if not data:
                return False
            other = server if side is client else client
            commits = side is client and b"tidings_commit" in data and b"INSERT INTO " not in data
            if mode == "reset" or (mode == "reset before commit" and commits):
                self.met += 1
                return False
            if mode == "half":
                self.met += 1
                other.sendall(data[: len(data) // 2])
                return False
            other.sendall(data)
            if mode == "reset after commit" and commits:
                self.met += 1
                return False
            if mode == "drop answers" and side is server:
                self.met += 1
                return False
        return True


class Host:
    """A host that shows and settles, and keeps count."""

    def __init__(self, url):
        self.url, self.kit, self.calls = url, None, 0
        self.acked, self.seen, self.over, self.shown = set(), set(), set(), {}
        self.twice, self.late, self.slowest, self.failed = 0, 0, 0, {}

    def timed(self, function, *arguments, **members):
        began = time.monotonic()
        try:
            return function(*arguments, **members)
        except kit.Failed as failed:
            self.failed[failed.code] = self.failed.get(failed.code, 0) + 1
            if failed.code == "TIDINGS_E_CLOSED":
                raise
            return None
        finally:
            took = (time.monotonic() - began) * 1000 - BUDGET_MS
            self.slowest = max(self.slowest, took)
            self.late += took > GRACE_MS

    def push(self, token):
        if self.timed(self.kit.call, "push", session="s", kind="fleet.test", message=f"#{token}#", source="proxy", id=token):
            self.acked.add(token)

    def hook(self):
        self.calls += 1
        answer = self.timed(self.kit.call, "tool_result", session="s", call_id=f"c{self.calls}", tool="shell", content="done")
        delivery = answer and (answer.get("reply") or {}).get("delivery")
        if not delivery:
            return False
        tokens = set(re.findall(r"#([\w-]+)#", answer["content"]))
        self.twice += len(tokens & self.over)
        self.seen |= tokens
        self.shown[delivery] = tokens
        if self.timed(self.kit.call, "settle", delivery=delivery, outcome="committed"):
            self.over |= tokens
        return True


def main():
    rng = random.Random(3)
    modes = ["stall", "reset", "half", "reset before commit", "reset after commit", "drop answers"]
    met = {}
    with kit.Server() as server:
        url = kit.make_store(server)
        proxy = Proxy(server)
        host = Host(url)
        host.kit = kit.Kit(url.replace(server.folder, proxy.folder), budget_ms=BUDGET_MS)
        host.kit.event("session.opened", "s")
        for number in range(ROUNDS):
            proxy.mode = mode = modes[number % len(modes)]
            before = proxy.met
            host.push(f"bad-{number}")
            host.hook()
            met[mode] = met.get(mode, 0) + (proxy.met - before)
            proxy.mode = "pass"
            host.push(f"good-{number}")
            if rng.random() < 0.5:
                host.hook()
        proxy.mode = "stall"  # ten seconds of nothing
        until = time.monotonic() + 10
        while time.monotonic() < until:
            host.hook()
        proxy.mode = "pass"
        # What was leased by a call whose answer was lost is not in the transcript: the host says so, and gets it again.
        host.kit.event("session.resumed", "s", deliveries=[name for name, tokens in host.shown.items() if tokens <= host.over], takeover=True)
        for _ in range(10):
            host.hook()
        lost = host.acked - host.seen
        print(f"# met: {met}; errors: {host.failed}; the slowest call ended {host.slowest:.0f} ms after its budget")
        print(f"# sum: proxy: {len(host.acked)} acknowledged, {host.calls} hooks: lost {len(lost)}, twice {host.twice}, late {host.late}")
        return bool(lost or host.twice or host.late or not host.acked or not any(met.values()))


sys.exit(main())
