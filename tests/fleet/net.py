# SPDX-License-Identifier: MIT
"""Stands between a host and its server: a network with faults that a test controls, and a pooler."""
import os
import select
import socket
import struct
import tempfile
import threading
import time


def refuse(client, words, severity="FATAL", state="08P01"):
    """Sends the client an error, as pgbouncer does unless another is named, and raises OSError."""
    fields = f"S{severity}\0V{severity}\0C{state}\0M{words}\0\0".encode()
    client.sendall(b"E" + struct.pack("!I", 4 + len(fields)) + fields)
    raise OSError(words)


class Listener:
    """Listens like a server, in a folder of its own."""

    def __init__(self, server):
        self.folder = tempfile.mkdtemp(prefix="tidings-proxy-")
        self.target = os.path.join(server.folder, ".s.PGSQL.5432")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder, ".s.PGSQL.5432"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.guarded, args=(client,), daemon=True).start()

    def guarded(self, client):
        try:
            self.serve(client)
        except OSError:
            pass
        client.close()

    def serve(self, client):
        raise NotImplementedError

    def connected(self):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        return server


class Proxy(Listener):
    """Passes messages between clients and a server. `mode`: the fault that it makes. `trips`: how often a client has asked for the answers to all its messages."""

    def __init__(self, server):
        self.mode, self.met, self.trips = "pass", 0, 0
        self.goes_on, self.answered = threading.Event(), threading.Event()
        self.last_words = "FATAL", "08P01"  # the severity and the state of the error with which the server is lost
        self.hold_from, self.held = None, threading.Event()  # after so many trips, messages are held back from the server
        super().__init__(server)

    def serve(self, client):
        server = self.connected()
        try:
            while self.carry(client, server):
                pass
        finally:
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
            if side is client and self.hold_from is not None and self.trips >= self.hold_from:
                return self.hold()
            if not self.forward(mode, data, client, server, side is client):
                return False
        return True

    def commit_late(self, data, client, server, breaks):
        """Passes the client's messages to the server only after the client has given up. Breaks its connection first, unless the client is to wait in
        vain for an answer."""
        self.mode, answer = "pass", b""
        self.met += 1
        if breaks:
            client.shutdown(socket.SHUT_RDWR)
        self.goes_on.wait(120)
        server.sendall(data)
        while b"Z\0\0\0\x05" not in answer:
            answer += server.recv(65536)
        self.answered.set()
        return False

    def hold(self):
        self.held.set()
        while self.hold_from is not None:
            time.sleep(0.005)
        return False

    def lose_server(self, data, client, server):
        """Acts like a pgbouncer that has lost its server, or like a server that dies with `last_words`: the messages are executed, but the client gets an
        error instead of the answer."""
        server.sendall(data)
        answer = b""
        while not answer.endswith(b"Z\0\0\0\x05I"):
            for side in select.select([client, server], [], [])[0]:
                data = side.recv(65536)
                if not data:
                    return
                if side is client:
                    server.sendall(data)
                else:
                    answer += data
        refuse(client, "server conn crashed?", *self.last_words)

    def forward(self, mode, data, client, server, from_client):
        other = server if from_client else client
        commits = from_client and b"\0tidings_commit" in data  # where the statement is used, not where it is prepared
        self.trips += from_client and data.endswith(b"S\0\0\0\x04")
        if mode in ("late commit", "delay commit") and commits:
            return self.commit_late(data, client, server, mode == "late commit")
        if mode == "lose server" and commits:
            self.met += 1
            return self.lose_server(data, client, server)
        if mode == "reset" or (mode == "reset before commit" and commits):
            self.met += 1
            return False
        if mode == "half":
            self.met += 1
            other.sendall(data[: len(data) // 2])
            return False
        if mode == "old" and not from_client:
            data = data.replace(b"server_version\x0015", b"server_version\x0014").replace(b"server_version\x0016", b"server_version\x0014").replace(
                b"server_version\x0017", b"server_version\x0014")
        other.sendall(data)
        if mode == "drop answers after commit" and commits:  # also the answers to the question whether it was committed
            self.mode, self.met = "drop answers", self.met + 1
            return False
        if (mode == "reset after commit" and commits) or (mode == "drop answers" and not from_client):
            self.met += 1
            return False
        return True


class Pooler(Listener):
    """A pooler: with `pool_mode=transaction` each transaction gets a connection to the server, with `pool_mode=statement` each statement. Like pgbouncer it
    accepts few connection parameters."""

    def __init__(self, server, statements=False):
        self.lock, self.spare, self.start, self.statements = threading.Lock(), [], b"", statements
        super().__init__(server)

    @staticmethod
    def read(side, count):
        data = b""
        while len(data) < count:
            more = side.recv(count - len(data))
            if not more:
                raise OSError("closed")
            data += more
        return data

    def message(self, side):
        head = self.read(side, 5)
        return head[:1], head + self.read(side, struct.unpack("!I", head[1:])[0] - 4)

    def begin(self, client):
        """Returns a server's greeting to a new client, with a process number of the pooler."""
        head = self.read(client, 4)
        self.start = head + self.read(client, struct.unpack("!I", head)[0] - 4)
        if b"\0options\0" in self.start:
            refuse(client, "unsupported startup parameter: options")
        return self.more(client)

    def more(self, client=None):
        """Opens one more connection to the server."""
        server, kind = self.connected(), b""
        server.sendall(self.start)
        while kind != b"Z":
            kind, data = self.message(server)
            if client:
                client.sendall(data if kind != b"K" else data[:5] + struct.pack("!II", 1, 1))
        return server

    def serve(self, client):
        server = self.begin(client)
        with self.lock:
            if self.spare:
                server.close()
            else:
                self.spare.append(server)
        while True:
            kind, data = self.message(client)
            if kind == b"X":
                return
            if self.statements and kind == b"P" and b"\0BEGIN\0" in data:
                refuse(client, "transaction blocks not allowed in statement pooling mode")
            with self.lock:
                server = self.spare.pop() if self.spare else None
            self.transaction(client, server or self.more(), data)

    def transaction(self, client, server, data):
        """Sends the data, and passes answers until the server is idle again."""
        server.sendall(data)
        while True:
            for side in select.select([client, server], [], [])[0]:
                kind, data = self.message(side)
                ends = side is server and kind == b"Z" and data[5:6] == b"I"
                if ends:  # before the client gets the answer, so that its next transaction gets this connection
                    with self.lock:
                        self.spare.append(server)
                (server if side is client else client).sendall(data)
                if ends:
                    return


class Lateness:
    """Measures how late an idle thread wakes up, in ms; on this machine, at this time, a call cannot be more punctual."""

    def __init__(self):
        self.worst = 0.0
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            began = time.monotonic()
            time.sleep(0.005)
            self.worst = max(self.worst, (time.monotonic() - began) * 1000 - 5)

    def since(self):
        worst, self.worst = self.worst, 0.0
        return worst
