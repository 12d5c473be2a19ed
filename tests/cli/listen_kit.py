# SPDX-License-Identifier: MIT
"""Shared by the tests of `tidings listen`: a server with routes, requests, and signatures of senders."""
import base64
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import re
import signal
import socket
import time

from kit import DEADLINE_S, end

SECRET = "an example of a secret"
KEY = b"a key of at least sixteen bytes"
STANDARD = "whsec_" + base64.b64encode(KEY).decode()


def mac(key, *parts):
    return hmac.new(key if isinstance(key, bytes) else key.encode(), b"".join(part if isinstance(part, bytes) else part.encode() for part in parts), hashlib.sha256)


def signed(scheme, body, secret=None, at=None, id_="msg_1"):
    """Returns the headers that a sender of the scheme adds."""
    stamp = str(int(time.time() if at is None else at))
    if scheme == "standard":
        key = base64.b64decode((secret or STANDARD).removeprefix("whsec_"))
        return {"webhook-id": id_, "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.b64encode(mac(key, id_, ".", stamp, ".", body).digest()).decode()}
    secret = secret or SECRET
    if scheme == "github":
        return {"X-Hub-Signature-256": "sha256=" + mac(secret, body).hexdigest()}
    if scheme == "stripe":
        return {"Stripe-Signature": f"t={stamp},v1={mac(secret, stamp, '.', body).hexdigest()},v0=00"}
    if scheme == "sentry":
        return {"Sentry-Hook-Signature": mac(secret, body).hexdigest()}
    if scheme == "gitlab":
        return {"X-Gitlab-Token": secret}
    return {"Authorization": f"Bearer {secret}"}


class Server:
    def __init__(self, place, process, address):
        self.place, self.process, self.address = place, process, address

    def connect(self):
        if self.address.startswith("/"):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(DEADLINE_S)
            connection.connect(self.address)
            return connection
        return socket.create_connection(self.peer, timeout=DEADLINE_S)

    @property
    def peer(self):
        host, port = re.fullmatch(r"http://\[?([\d.:a-f]+?)\]?:(\d+)", self.address).groups()
        return host, int(port)

    def request(self, method, path, body=None, headers=None):
        """Makes a request. Returns (status, headers, JSON or None)."""
        connection = http.client.HTTPConnection(*self.peer, timeout=DEADLINE_S)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, json.loads(text) if text else None

    def post(self, path, body, headers=None, scheme="bearer", **more):
        body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        signature = signed(scheme, body, **more) if scheme else {}
        return self.request("POST", path, body, {"Content-Type": "application/json", **signature, **(headers or {})})

    def raw(self, text, close=True):
        """Sends these bytes, and returns all bytes of the answer until the server closes."""
        with contextlib.closing(self.connect()) as connection:
            connection.sendall(text if isinstance(text, bytes) else text.encode())
            if close:
                connection.shutdown(socket.SHUT_WR)
            return read_all(connection)

    def stop(self, number=signal.SIGTERM):
        return end(self.process, number)


def read_all(connection):
    got = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            got += piece
    return got


def routes(place, *rows, hosts=None):
    """Writes the configuration with its secrets; returns the file."""
    for name, text in (("token", SECRET), ("standard", STANDARD)):
        with open(os.path.join(place.dir, name), "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text + "\n")
    path = os.path.join(place.dir, "listen.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"listen": {**({"hosts": hosts} if hosts else {}), "routes": list(rows)}}, file)
    return path


def route(path, recipe="any", **more):
    secret = {} if more.get("unsigned") else {"secret_file": "standard" if recipe == "standard" else "token"}
    return {"path": path, "recipe": recipe, **secret, **more}


def serve(place, *rows, hosts=None, words=("--bind", "127.0.0.1:0")):
    process = place.start("listen", "-c", routes(place, *rows, hosts=hosts), *words)
    line = process.stdout.readline().decode()
    found = re.match(r"listening on (\S+); (\d+) routes of ", line)
    assert found, (line, process.poll(), process.stderr.read() if process.poll() is not None else "")
    return Server(place, process, found[1])
