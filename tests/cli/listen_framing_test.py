#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings listen` with requests whose end a proxy and the server could see at different places."""
import re
import sys

from kit import main
from listen_kit import SECRET, route, serve

BODY = '{"text":"x"}'
CHUNKS = f"c\r\n{BODY}\r\n0\r\n\r\n"
NEXT = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def head(lines, token=SECRET, path="/a", method="POST"):
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{lines}\r\n"


def statuses(server, text):
    """Sends a request and one more in the same connection; returns the statuses of the answers until the server closes it."""
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d+)", server.raw((text + NEXT).encode("latin-1"), close=False))]


def test_ambiguous(place):
    """a request whose end two readers could see at different places gets 400, and nothing after it is read"""
    server = serve(place, route("/a", to="box:a"))
    bad = ["Content-Length: 12\r\nContent-Length: 5\r\n", "Content-Length: 12\r\nContent-Length: 12\r\n", "Content-Length: 12, 12\r\n", "Content-Length: +12\r\n", "Content-Length: -1\r\n",
           "Content-Length: 0x0c\r\n", "Content-Length: 12\r\nContent-Length : 5\r\n", "Content-Length : 12\r\n", "Content-Length\t: 12\r\n", "Content-Length: 12\r\n: x\r\n",
           "Content-Length: 12\r\nno colon\r\n", "Content-Length: 12\r\nHost: other.example\r\n", "X: y\rContent-Length: 5\r\nContent-Length: 12\r\n", "Content-Length: 12\r\nX: y\r\n z: 1\r\n",
           "Content-Length: 12\r\nTransfer-Encoding: identity\r\n", "Content-Length: 12\r\nTransfer-Encoding: \r\n", "Content-Length: 12\r\nTransfer-Encoding : chunked\r\n"]
    chunked = ["Transfer-Encoding: chunked\r\nContent-Length: 12\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
               "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"]
    for lines, body in [*((lines, BODY) for lines in bad), *((lines, CHUNKS) for lines in chunked)]:
        assert {*statuses(server, head(lines) + body)} == {400}, lines
    assert statuses(server, head("Content-Length: 12\r\n").replace("Host", " X: y\r\nHost") + BODY) == [400]
    assert statuses(server, head("Content-Length: 30\r\nContent-Length: 0\r\n", path="/healthz", method="GET")) == [400]
    assert not place.pending("box:a")


def test_kept(place):
    """only a signed request that is answered with 200 keeps its connection, so a stranger's bytes never come before another sender's"""
    server = serve(place, route("/a", to="box:a"), route("/u", to="box:u", unsigned=True))
    length = "Content-Length: 12\r\n"
    assert statuses(server, head(length) + BODY) == statuses(server, head("Transfer-Encoding: chunked\r\n") + CHUNKS) == [200, 200]
    for token, lines, path, body, status in (("wrong", length, "/a", BODY, 401), (SECRET, length, "/a", "no JSON here", 400), (SECRET, length, "/u", BODY, 200)):
        assert statuses(server, head(lines, token, path) + body) == [status], (path, status)
    [status] = statuses(server, head(length.replace("\r\n", "\n"), "wrong") + BODY)
    assert status in (400, 401), "libmicrohttpd before 1.0 takes such a line"
    assert statuses(server, NEXT) == [200]


def test_large(place):
    """a sender of a large body reads why it is refused, and one that waits for 100 Continue need not send it"""
    server = serve(place, route("/a", to="box:a"))
    large = {"text": "x" * (8 << 20)}
    assert [server.post(path, large)[0] for path in ("/a", "/nowhere")] == [413, 404]
    assert statuses(server, head(f"Content-Length: {8 << 20}\r\nExpect: 100-continue\r\n")) == [413]


def test_path(place):
    """the code of a NUL does not end a path; the host of a whole URL counts instead of the header"""
    server = serve(place, route("/a", to="box:a"))
    assert statuses(server, head("Content-Length: 12\r\n", path="/a%00b") + BODY) == [404] and not place.pending("box:a")
    for path in ("/%61?b=%00", "http://localhost/a", "HTTP://LocalHost:80/a?b"):
        assert statuses(server, head("Content-Length: 12\r\n", path=path) + BODY) == [200, 200], path
    for path, status in (("http://other.example/a", 421), ("http:///a", 421), ("http://localhost", 404), ("http:/a", 404), ("a", 404), ("//a", 404)):
        assert statuses(server, head("Content-Length: 12\r\n", path=path) + BODY) == [status], path


if __name__ == "__main__":
    sys.exit(main(globals()))
