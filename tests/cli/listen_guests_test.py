#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings listen` with senders that have their own key, and with slow and silent connections."""
import base64
import contextlib
import http.client
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time

from kit import Skip, main, until
from listen_kit import SECRET, read_all, route, routes, serve, signed


def ed25519_key(folder):
    """Makes a pair of keys. Returns the file of the private one, and the public one in the form of Standard Webhooks."""
    path = os.path.join(folder, "private.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
    public = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
    return path, "whpk_" + base64.b64encode(public[-32:]).decode()


def ed25519_signed(path, body, id_="msg_1"):
    stamp, text = str(int(time.time())), f"{path}.text"
    with open(text, "wb") as file:
        file.write(f"{id_}.{stamp}.".encode() + body)
    signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", path, "-rawin", "-in", text], check=True, capture_output=True).stdout
    return {"webhook-id": id_, "webhook-timestamp": stamp, "webhook-signature": "v1a," + base64.b64encode(signature).decode()}


def test_ed25519(place):
    """a request that a private key has signed (v1a) is accepted with its public key; without libcrypto the status is 401, and the answer says why"""
    if not shutil.which("openssl") or b"-rawin" not in subprocess.run(["openssl", "pkeyutl", "-help"], capture_output=True, check=False).stderr:
        raise Skip("there is no openssl that signs with Ed25519")
    path, public = ed25519_key(place.dir)
    secret = os.path.join(place.dir, "public")
    body = b'{"text":"by a private key"}'
    for text in (public + "x", "whpk_" + base64.b64encode(b"short").decode()):
        with open(secret, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text + "\n")
        place.refused("listen", "-c", routes(place, route("/s", signature="standard", to="box:s", secret_file="public")), says="32 bytes in base64")
    with open(secret, "w", encoding="ascii") as file:
        file.write(public + "\n")
    place.refused("listen", "-c", routes(place, route("/s", signature="github", to="box:s", secret_file="public")), says="is a public key")
    server = serve(place, route("/s", signature="standard", to="box:s", secret_file="public"))
    right = ed25519_signed(path, body)
    assert server.post("/s", body, right, scheme=None)[0] == 200
    assert place.messages("box:s") == ["by a private key"]
    other, _ = ed25519_key(place.work)
    for wrong, sent in ((right, body + b" "), (ed25519_signed(other, body), body), ({**right, "webhook-signature": "v1a," + "A" * 86 + "=="}, body),
                        (signed("standard", body, secret="whsec_" + public.removeprefix("whpk_")), body)):
        status, _, answer = server.post("/s", sent, wrong, scheme=None)
        assert status == 401 and answer["error"] == "the signature is wrong", (wrong, answer)
    assert server.stop() == 0
    lacking = os.path.join(place.dir, "lacking")  # no libcrypto can be loaded from here
    os.mkdir(lacking)
    for name in ("libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"):
        with open(os.path.join(lacking, name), "wb") as file:
            file.write(b"\x7fELF no library")
    place.env["LD_LIBRARY_PATH"] = lacking
    server = serve(place, route("/s", signature="standard", to="box:s", secret_file="public"))
    status, _, answer = server.post("/s", body, ed25519_signed(path, body), scheme=None)
    assert status == 401 and "libcrypto" in answer["error"], answer

def test_captured(place):
    """where a vendor's signature covers the body alone, a captured request is known whichever id it claims; each route takes an event once"""
    rows = [route(f"/{name}", "sentry", to=f"box:{name}") for name in ("one", "two")]
    server = serve(place, *rows)
    body = b'{"action":"created","data":{"issue":{"id":"1","title":"a title"}}}'
    claims = ({}, {"X-GitHub-Delivery": "1"}, {"X-GitHub-Delivery": "2"}, {"webhook-id": "3"}, {"Idempotency-Key": "4"}, {"X-Gitlab-Event-UUID": "5"})

    def taken(path, text):
        return [server.post(path, text, {"sentry-hook-resource": "issue", **claim}, scheme="sentry")[2]["accepted"] for claim in claims]

    assert taken("/one", body) == [1, 0, 0, 0, 0, 0] and taken("/two", body) == [1, 0, 0, 0, 0, 0]
    assert taken("/one", body.replace(b"a title", b"another")) == [1, 0, 0, 0, 0, 0]


def test_own_sender(place):
    """a person's own sender may sign equal bodies in a vendor's way: each id is an event, as with a token"""
    schemes = ("github", "sentry", "stripe", "gitlab")
    server = serve(place, *(route(f"/{name}", "any", signature=name, to=f"box:{name}") for name in schemes))
    for name in schemes:
        answers = [server.post(f"/{name}", b'{"text":"the backup failed"}', {"Idempotency-Key": key}, scheme=name)[2] for key in ("1", "2", "1")]
        assert [answer["accepted"] for answer in answers] == [1, 1, 0], (name, answers)


def test_file_in_the_way(place):
    """a file at the path of the Unix socket that is no socket stays, also when a symbolic link names it"""
    file, link = os.path.join(place.dir, "listen.json"), os.path.join(place.dir, "link")
    routes(place, route("/a", to="box:a"))
    os.symlink(file, link)
    for path in (file, link):
        place.refused("listen", "-c", file, "--unix", path, says="Address already in use")
        assert os.path.getsize(file) and os.path.islink(link)


def test_slow(place):
    """a client that sends a head or a body too slowly gets 408 and is disconnected; others are served meanwhile"""
    if "TIDINGS_LISTEN_SLOW" not in os.environ:
        raise Skip("it takes 15 s; cli-listen-deep runs it, and unit-listen tests the limits with a clock of its own")
    server = serve(place, route("/a", to="box:a"))
    head, body, silent = server.connect(), server.connect(), server.connect()
    begin = f"POST /a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n".encode()
    body.sendall(begin)
    silent.sendall(begin)
    idle = [server.connect(), server.connect()]
    idle[1].sendall(begin + b'{"text":"' + b"k" * 79 + b'"}')
    begun, waiting = time.monotonic(), {head: b"GET /a HTTP/1.1\r\nX-Slow: ", body: b'{"text":"'}
    for connection, text in waiting.items():
        connection.sendall(text)
        connection.settimeout(0.2)
    ended = {}
    while len(ended) < 2:
        for connection in [one for one in waiting if one not in ended]:
            try:
                connection.sendall(b"x")
                answer = connection.recv(4096)
            except socket.timeout:
                continue
            except ConnectionError:
                answer = b""
            ended[connection] = (time.monotonic() - begun, answer)
        assert server.post("/a", {"text": "served meanwhile"})[0] == 200
    for connection, least in ((head, 9), (body, 14)):
        assert ended[connection][0] >= least and ended[connection][1].startswith(b"HTTP/1.1 408 "), ended
        connection.close()
    silent.settimeout(20)
    assert silent.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert [read_all(one).count(b"HTTP/1.1 ") for one in idle] == [0, 1], "where no request has begun, the end is no answer"
    assert place.messages("box:a") == ["k" * 79, "served meanwhile"]


def is_taken(server, body):
    """Sends a request, and ignores a failure, because a sender repeats unanswered requests."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return server.post("/a", body)[0] == 200
    return False


def test_crowd(place):
    """silent connections give way to others, also with a complete head and no body: a request is answered long before their time is over, and a body may come slowly"""
    count = int(os.environ.get("TIDINGS_LISTEN_IDLE", "600"))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], min(limits[1], count + 200)), limits[1]))
    server = serve(place, route("/a", to="box:a"))
    head = f"POST /a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {SECRET}\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    body, blanks = server.connect(), 1 << 17  # it may take 15 s
    body.sendall((head % (17 + blanks)).encode())
    over = threading.Event()

    def send_blanks():
        for left in range(blanks, 0, -1):
            body.sendall(b" " * (left if over.wait(0.05) else 1))
            if over.is_set():
                return

    slowly = threading.Thread(target=send_blanks)
    slowly.start()
    silent = []
    for number in range(count):
        connection = socket.socket()
        connection.settimeout(0 if number >= 250 else None)
        connection.connect_ex(server.peer)
        if number < 250:
            connection.sendall((head % 17).encode())
        silent.append(connection)
    begun = time.monotonic()
    until(lambda: is_taken(server, {"text": "through the crowd"}), "an answer")
    print(f"# beside {count} silent connections a request was answered after {time.monotonic() - begun:.1f} s")
    over.set()
    slowly.join()
    body.sendall(b'{"text":"slowly"}')
    assert body.recv(4096).startswith(b"HTTP/1.1 200 ")
    assert place.messages("box:a") == ["through the crowd", "slowly"]
    for connection in [body, *silent]:
        connection.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
