#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the server `tidings mcp`: both eras, its tools, and the errors of wrong calls."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import DEADLINE_S, gone, main, until  # pylint: disable=wrong-import-position

from host import Host  # pylint: disable=wrong-import-position

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def tool(host, name, arguments=None, meta=None):
    """Calls a tool, and returns the result."""
    params = {"name": name, **({"arguments": arguments} if arguments is not None else {}), **({"_meta": meta} if meta else {})}
    return json.loads(host.ask("tools/call", params))["result"]


def texts(result):
    return [block["text"] for block in result["content"]]


def shown(host):
    """Calls `news` until it shows something, and returns its texts; on a busy machine a call may show nothing."""
    return texts(json.loads(host.news("news"))["result"])


def session_of(place, host):
    assert tool(host, "news")["content"] == [{"type": "text", "text": "Nothing is pending."}]
    [session] = place.ok("sessions", "--json").json["sessions"]
    return session["session"]


def test_legacy(place):
    """initialize agrees on a version; tools are listed; ping is answered"""
    host = Host(place)
    for asked, agreed in (("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")):
        result = json.loads(host.ask("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}))["result"]
        assert result["protocolVersion"] == agreed and result["capabilities"] == {"tools": {}} and result["serverInfo"]["name"] == "tidings", result
    host.notify("notifications/initialized")
    assert json.loads(host.ask("ping")) == {"jsonrpc": "2.0", "id": host.next, "result": {}}
    tools = json.loads(host.ask("tools/list"))["result"]["tools"]
    assert [t["name"] for t in tools] == ["news", "run", "watch", "remind", "send", "reply"] and all(t["inputSchema"]["type"] == "object" for t in tools)
    assert host.end() == 0 and not os.path.exists(place.store), "nothing but a call opens the store"


def test_modern(place):
    """each request is complete in itself, without a handshake"""
    host = Host(place)
    found = json.loads(host.ask("server/discover", {"_meta": MODERN}))["result"]
    assert found["supportedVersions"] == ["2026-07-28"] and found["resultType"] == "complete" and found["ttlMs"] > 0 and found["cacheScope"] == "public", found
    listed = json.loads(host.ask("tools/list", {"_meta": MODERN}))["result"]
    assert listed["resultType"] == "complete" and listed["ttlMs"] > 0 and len(listed["tools"]) == 6
    assert tool(host, "news", meta=MODERN) == {"content": [{"type": "text", "text": "Nothing is pending."}], "resultType": "complete"}
    refused = json.loads(host.ask("tools/list", {"_meta": {**MODERN, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}}))["error"]
    assert refused["code"] == -32022 and refused["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}, refused
    for params in ({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}, {}):
        assert json.loads(host.ask("server/discover", params))["error"]["code"] == -32602
    for method in ("initialize", "ping", "logging/setLevel"):
        assert json.loads(host.ask(method, {"_meta": MODERN}))["error"]["code"] == -32601


def test_news(place):
    """news shows pending notifications, once; so does the result of any other tool"""
    host = Host(place)
    session = session_of(place, host)
    place.ok("push", "-s", session, "the build has failed")
    assert shown(host) == ["While you worked (not from the user):\n- [cli] the build has failed"]
    assert texts(tool(host, "news")) == ["Nothing is pending."]
    place.ok("push", "-s", session, "again")
    result = json.loads(host.news("reply", text="x"))["result"]
    assert result["isError"] and texts(result)[1] == "\n\nWhile you worked (not from the user):\n- [cli] again", result
    assert host.end() == 0 and not place.pending(session)


def test_no_store(place):
    """if the store cannot be opened, every tool says so, and news does not claim that nothing is pending"""
    with open(os.path.join(place.dir, "file"), "w", encoding="utf-8"):
        pass
    host = Host(place, options=("--store", os.path.join(place.dir, "file")))
    for name, arguments in (("news", {}), ("remind", {"text": "x", "in": "1h"})):
        result = tool(host, name, arguments)
        assert result["isError"] and "tidings cannot open its store" in texts(result)[0], (name, result)
    assert host.end() == 0


def test_run(place):
    """a command runs in the background, and a notification reports its end"""
    host = Host(place)
    session = session_of(place, host)
    result = tool(host, "run", {"command": "echo to-be-seen; exit 3", "name": "lint"})
    assert "isError" not in result and "handle" in texts(result)[0], result
    seen = texts(result)  # the run may have ended before the result was written
    until(lambda: "exit code 3" in " ".join(seen) or seen.extend(texts(tool(host, "news"))), "the notification")
    assert "lint" in " ".join(seen) and "to-be-seen" in " ".join(seen) and not place.pending(session), seen


def test_watch(place):
    """changes by other programs are notifications until the server ends, in whatever way"""
    host = Host(place)
    session = session_of(place, host)
    os.mkdir(os.path.join(place.work, "src"))
    assert "isError" not in tool(host, "watch", {"paths": ["src"]})
    [watcher] = until(lambda: [pid for pid in children(host.process.pid) if b"watch" in cmdline(pid) and b"mcp-child" not in cmdline(pid)], "the watcher")

    def changed():
        with open(os.path.join(place.work, "src", "a.c"), "a", encoding="ascii") as file:
            file.write("x")
        return place.pending(session)

    until(changed, "the change")
    assert "a.c" in shown(host)[0]
    host.process.send_signal(signal.SIGKILL)
    host.process.wait(DEADLINE_S)
    until(lambda: gone(watcher), "the watcher's end")


def test_remind(place):
    """a reminder is a notification when its time has come, and not before"""
    host = Host(place)
    session = session_of(place, host)
    assert "isError" not in tool(host, "remind", {"text": "-- look at the CI", "in": "1h"})
    assert "isError" not in tool(host, "remind", {"text": "-- look at the build", "in": "1s"})
    seen = []
    until(lambda: seen.extend(texts(tool(host, "news"))) or "look at the build" in " ".join(seen), "the reminder")
    assert "look at the CI" not in " ".join(seen), seen
    for arguments, says in (({"text": "x"}, "--in"), ({"text": "x", "in": "soon"}, "soon"), ({"in": "1s"}, "arguments.text: missing")):
        result = tool(host, "remind", arguments)
        assert result["isError"] and says in texts(result)[0] and "usage" not in texts(result)[0], result
    assert session


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_send_and_reply(place):
    """one agent sends a text to another, which replies"""
    one, other = Host(place, env={"CLAUDE_CODE_SESSION_ID": "one"}), Host(place, env={"CLAUDE_CODE_SESSION_ID": "two"})
    for host in (one, other):
        assert texts(tool(host, "news")) == ["Nothing is pending."]
    assert "isError" not in tool(one, "send", {"to": "session:two", "text": "-- is the schema ready?"})
    [text] = shown(other)
    assert "-- is the schema ready? (from session:one)" in text, text
    assert "isError" not in tool(other, "reply", {"text": "yes"})
    assert "yes (from session:two)" in shown(one)[0]
    for text in ("-", "long " * 40000):  # no argument of a process, which every user can read, and which may not be so long
        assert "isError" not in tool(one, "send", {"to": "box:all", "text": text})
    assert [message[:6] for message in place.messages("box:all")] == ["- (fro", "long l"]
    refused = tool(one, "send", {"to": "session:nobody", "text": "x"})
    assert refused["isError"] and "nobody" in texts(refused)[0], refused


def test_submitted(place):
    """a submitted message stays in the queue, also one that waited when a server opened the session: no result of a tool counts as its start"""
    place.ok("submit", "--to", f"folder:{place.work}", "--id", "m1", "waits in the mailbox")
    hosts = [Host(place)]
    session = session_of(place, hosts[0])
    said = place.ok("submit", "-s", session, "--id", "m2", "comes later").said
    assert "server_test, by MCP, starts no turns: the message stays in the queue" in said, said
    hosts.append(Host(place))
    place.event("session.opened", {"cwd": place.work, "host": "server_test, by MCP"}, session, os.getpid())  # another server of the agent is offered the turn
    for host in hosts:
        for _ in range(2):
            tool(host, "news")
    waiting = place.ok("queue", "-s", session, "--json").json["messages"]
    assert [message["id"] for message in waiting] == ["m1", "m2"], (waiting, place.ok("history", "-s", session).text)
    assert place.ok("status", "-s", session, "--json").json["state"] in ("idle", "starting")
    assert all(host.end() == 0 for host in hosts)


def test_wrong_calls(place):
    """an error names the argument, its value and what was expected"""
    host = Host(place)
    for name, arguments, says in (("send", {"to": "box:a"}, "arguments.text: missing; expected a text"),
                                  ("send", {"to": 7, "text": "x"}, "arguments.to: it is something else; expected a text"),
                                  ("send", {"to": "box:a", "text": "x", "level": "x"}, "arguments.level: there is no such argument; expected to, text"),
                                  ("run", {"command": ""}, "arguments.command"),
                                  ("watch", {"paths": "src"}, "expected a list of texts"),
                                  ("watch", {"paths": [""]}, "expected a list of texts"),
                                  ("news", {"x": 1}, "expected no arguments")):
        result = tool(host, name, arguments)
        assert result["isError"] and says in texts(result)[0], (name, arguments, result)
    assert json.loads(host.ask("tools/call", {"name": "none"}))["error"]["code"] == -32602
    assert "isError" in tool(host, "send", {"to": "nowhere", "text": "x"})


def test_wrong_lines(place):
    """a line that is no request gets an error, and the server continues"""
    host = Host(place)
    for line, code in ((b"{", -32700), (b"[]", -32600), (b"7", -32600), (b'{"id":{},"method":"ping"}', -32600), (b'{"id":1,"method":7}', -32600),
                       (b'{"id":1,"method":"ping","params":[]}', -32600), (b'{"id":"\\ud83d"x,"method":"ping"}', -32700)):
        host.write(line + b"\n")
        answer = json.loads(host.read())
        assert answer["error"]["code"] == code and answer["id"] == (1 if b'"id":1' in line else None), (line, answer)
    for line in (b'{"method":"notifications/none"}', b'{"id":1,"result":{}}', b"", b'{"id":1,"error":{}}'):
        host.write(line + b"\n")
    host.write(b'{"id":1.50,"method":"none"}\n')
    assert host.read().startswith(b'{"jsonrpc":"2.0","id":1.50,"error":{"code":-32601'), "the id as it was written"
    host.write(b'{"id":"' + b"x" * (17 << 20) + b'","method":"ping"}\n')
    assert json.loads(host.read())["error"]["code"] == -32600
    assert json.loads(host.ask("ping"))["result"] == {}


def test_non_blocking(place):
    """the server waits for the next line although its pipe does not block"""
    input_end, our_end = os.pipe()
    os.set_blocking(input_end, False)
    server = place.start("mcp", stdin=input_end)
    os.close(input_end)
    for number in range(50):  # it waits for some of them
        os.write(our_end, b'{"id":%d,"method":"ping"}\n' % number)
        assert json.loads(server.stdout.readline())["id"] == number
    os.close(our_end)
    assert server.wait() == 0


def test_hooks_deliver(place):
    """if hooks deliver, news shows nothing, and the other tools work"""
    place.event("session.opened", {"cwd": place.work, "host": "Claude Code"}, "c-1", os.getpid())
    place.ok("push", "-s", "c-1", "by the hooks")
    host = Host(place, env={"CLAUDE_CODE_SESSION_ID": "c-1"})
    assert texts(tool(host, "news")) == ["Nothing is pending."]
    assert texts(tool(host, "send", {"to": "box:later", "text": "x"}))[0].startswith("tidings push: it waits in box:later")
    assert place.messages("c-1") == ["by the hooks"]


if __name__ == "__main__":
    sys.exit(main(globals()))
