#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings mcp -- CMD`: every byte passes, a result carries pending notifications, and they count as shown when the host continues."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import DEADLINE_S, TIDINGS, end, gone, main, until  # pylint: disable=wrong-import-position

from host import SERVER, Host  # pylint: disable=wrong-import-position

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent.py")
BLOCK = "\n\nWhile you worked (not from the user):\n- [cli] "


def sessions(place):
    """Returns the sessions; an empty list while there is no store yet."""
    result = place.run("sessions", "--json")
    return result.json["sessions"] if result.code == 0 else []


def begun(place, **more):
    """Starts a wrapper and waits until its session is open. Returns both."""
    host = Host(place, SERVER, **more)
    host.call()
    [session] = until(lambda: sessions(place), "the session")
    return host, session["session"]


def texts(line):
    return [block["text"] for block in json.loads(line)["result"]["content"]]


def outcomes(place, session):
    return [delivery["outcome"] for delivery in place.ok("history", "-s", session, "--json").json["deliveries"]]


def goes_on(place, host, session):
    """Sends a message, and returns the outcomes; a delivery is settled only by a message that the wrapper reads after it knows that its result was
    written."""
    host.notify("notifications/roots/list_changed")
    return outcomes(place, session)


def test_news(place):
    """a pending notification is one more block, after a blank line, and is committed when the host continues"""
    host, session = begun(place)
    place.ok("push", "-s", session, "the build has failed")
    assert texts(host.news()) == ["done", BLOCK + "the build has failed"]
    assert outcomes(place, session) == ["leased"]
    until(lambda: goes_on(place, host, session) == ["committed"], "the commit")
    assert host.texts() == ["done"], "once"
    assert host.end() == 0 and not place.pending(session)


def test_end_in_order(place):
    """a host that closes stdin counts as having read all results"""
    host, session = begun(place)
    place.ok("push", "-s", session, "the last word")
    host.news()
    assert host.end() == 0
    assert outcomes(place, session) == ["committed"] and not place.pending(session)


def call_unread(place, host, session):
    """Calls a tool without reading the result. Returns whether the result has a leased notification."""
    host.send("tools/call", {"name": "echo", "arguments": {}})
    return "leased" in outcomes(place, session)


def test_unread(place):
    """a notification in a result that the host does not read before it ends is pending again"""
    host, session = begun(place)
    place.ok("push", "-s", session, "nobody reads this")
    until(lambda: call_unread(place, host, session), "the lease")
    host.process.stdout.close()
    host.process.stdin.close()
    host.process.wait(DEADLINE_S)
    assert place.messages(session) == ["nobody reads this"], outcomes(place, session)


def test_bytes(place):
    """answers that have no place for a block pass byte by byte, although a notification is pending"""
    host, session = begun(place)
    place.ok("push", "-s", session, "it waits")
    answers = [
        '{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}',
        '{"resultType":"input_required","inputRequests":{},"requestState":"s"}',
        '{"resultType":"input_required","content":[]}',
        '{"task":{"taskId":"1"},"content":[]}',
        '{"content":"no list"}',
        "[1,2]",
        "null",
    ]
    for answer in answers:
        line = host.call(answer=answer)
        assert line == b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (host.next, answer.encode()), line
    assert place.messages(session) == ["it waits"]
    batch = b'[ {"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":%d,"result":{"content":[]}} ]\n' % host.next
    for line in (batch, b"no JSON at all\n", b'{"id":"half\n', b"\n", b'{"unknown":1.50e+3,"id":null}'.join((b"[", b"]\n"))):
        host.write(line)
        assert host.read() == line, line
    assert host.end() == 0


def test_spelling(place):
    """numbers, escapes, unknown fields and blanks stay as the server wrote them; only the block is added"""
    host, session = begun(place)
    for answer in ('{ "later" : 1.50e+3, "content" : [ {"type":"image","data":"AA==","mimeType":"x"} , {"type":"text","text":"\\u00e9\\ud83d"} ],"_meta":{"n":1e400} }',
                   '{"content":[],"isError":true}'):
        place.ok("push", "-s", session, "news")
        line = host.news(answer=answer).decode()
        head, _, tail = line.partition('{"type":"text","text":"' + ("" if "[]" in answer else "\\n\\n") + "While you worked")
        assert head.endswith("[" if "[]" in answer else ","), line
        rest = tail.split("news\"}", 1)[1]
        before = '{"jsonrpc":"2.0","id":%d,"result":' % host.next + answer
        whole = (head if "[]" in answer else head[:-1]) + rest
        assert whole == before + "}\n", (whole, before)


def test_large(place):
    """10 MB pass, with and without a block; progress before the result keeps its place"""
    host, session = begun(place)
    plain = host.call(bytes=10_000_000)
    assert len(plain) > 10_000_000 and b"While you" not in plain
    place.ok("push", "-s", session, "news")
    progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}'
    line = b""
    while b"While you" not in line:
        assert host.call(bytes=10_000_000, lines=[progress]) == progress.encode() + b"\n"
        line = host.read()
    assert len(line) > 10_000_000 and line.endswith(b"- [cli] news\"}]}}\n"), line[-100:]


def test_flood(place):
    """a server that floods stderr blocks nothing"""
    errors = os.path.join(place.dir, "errors")
    with open(errors, "wb") as file:
        host = Host(place, SERVER, stderr=file)
        host.call(flood=3_000_000)
        assert host.end() == 0
    assert os.path.getsize(errors) == 3_000_000


def test_half_a_line(place):
    """the last output of the server passes although its line has no end"""
    host = Host(place, SERVER)
    host.call()
    host.send("tools/call", {"name": "echo", "arguments": {"partly": '{"jsonrpc', "exit": 7}})
    assert host.process.stdout.read() == b'{"jsonrpc'
    assert host.process.wait(DEADLINE_S) == 7


def test_server_dies(place):
    """the server's exit status is passed on, and the session gets one notification that it is gone"""
    host, session = begun(place, options=["--name", "echo"])
    host.send("tools/call", {"name": "echo", "arguments": {"kill": signal.SIGKILL}})
    assert host.process.stdout.read() == b"" and host.process.wait(DEADLINE_S) == 128 + signal.SIGKILL
    [message] = place.messages(session)
    assert "echo" in message and "disconnected" in message, message
    again = Host(place, SERVER)
    until(lambda: any("disconnected" in text for text in again.texts()), "the notification")
    assert len(again.texts()) == 1 and again.end() == 0
    assert not place.pending(session), "a server that the host ends is no news"


def test_host_ends_server(place):
    """a host that ends the wrapper by a signal ends the server, and that causes no notification"""
    host, session = begun(place)
    assert end(host.process) == 128 + signal.SIGTERM
    assert not place.pending(session)


def test_probe(place):
    """a process that sees only server/discover leaves nothing in the store"""
    host = Host(place, SERVER)
    host.ask("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
    assert host.end() == 0 and not os.path.exists(place.store)


def test_modern(place):
    """the result of a call without a handshake carries notifications too"""
    host = Host(place, SERVER)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    host.call(meta=meta)
    [session] = until(lambda: sessions(place), "the session")
    place.ok("push", "-s", session["session"], "news")
    assert len(texts(host.news(meta=meta, answer='{"resultType":"complete","content":[{"type":"text","text":"x"}]}'))) == 2


def test_cancelled(place):
    """a call that is cancelled before its result gets no notification; a cancellation after the result changes nothing"""
    host, session = begun(place)
    place.ok("push", "-s", session, "news")
    host.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\n' % (host.next + 1))
    first = host.next + 1
    host.write(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % first)
    assert json.loads(host.read())["id"] == first
    host.next = first
    host.news()
    host.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"AbortError"}}\n' % host.next)
    until(lambda: goes_on(place, host, session) == ["committed"], "the commit")


def test_named_session(place):
    """the agent's environment names the session, and Codex names it with each call"""
    for number, name in enumerate(("QWEN_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID", "CLAUDE_CODE_SESSION_ID")):
        host = Host(place, SERVER, env={name: f"c-{number}"})
        host.call()
        until(lambda n=number: f"c-{n}" in [s["session"] for s in sessions(place)], "the session")
    host.call(meta={"x-codex-turn-metadata": {"session_id": "thread-7", "turn_id": "1"}})
    until(lambda: "thread-7" in [s["session"] for s in sessions(place)], "the second session")
    place.ok("push", "-s", "thread-7", "for the thread")
    assert host.texts() == ["done"]
    host.news(meta={"x-codex-turn-metadata": {"session_id": "thread-7"}})


def test_hooks_deliver(place):
    """if the agent's hooks deliver, nothing is added to results"""
    place.event("session.opened", {"cwd": place.work, "host": "Claude Code"}, "c-1", os.getpid())
    place.ok("push", "-s", "c-1", "by the hooks")
    for env in ({"CLAUDE_CODE_SESSION_ID": "c-1"}, {}):
        host = Host(place, SERVER, env=env)
        for _ in range(5):
            assert host.texts() == ["done"]
        assert host.end() == 0
    assert [s["session"] for s in sessions(place)] == ["c-1"] and place.messages("c-1") == ["by the hooks"]


def test_raw_errors(place):
    """a host whose model gets errors as JSON text gets no block in them"""
    host, session = begun(place, env={"GEMINI_CLI": "1"})
    place.ok("push", "-s", session, "news")
    failed = '{"content":[{"type":"text","text":"x"}],"isError":true}'
    for _ in range(5):
        assert len(host.texts(answer=failed)) == 1
    host.news()


def test_busy(place):
    """while the store is busy, results come without notifications and without delay, even if a delivery must be settled"""
    host, session = begun(place)
    place.ok("push", "-s", session, "the first")
    host.news()
    place.ok("push", "-s", session, "the second")
    holder = place.hold()
    for _ in range(20):  # measure.py prints the time of each
        assert host.texts() == ["done"]
    end(holder, signal.SIGKILL)
    assert b"the second" in host.news()
    assert host.end() == 0
    until(lambda: outcomes(place, session) == ["committed", "committed"], "both commits")


def test_busy_to_the_end(place):
    """notifications that were read count as shown even if the store stays busy for longer than the wrapper runs"""
    host, session = begun(place)
    place.ok("push", "-s", session, "once")
    host.news()
    holder = place.hold()
    assert outcomes(place, session) == ["leased"] and host.end() == 0
    end(holder, signal.SIGKILL)
    until(lambda: outcomes(place, session) == ["committed"], "the commit")
    assert not place.pending(session)


def test_folder(place):
    """a notification that was sent to the folder before the agent came is in one of its first results"""
    place.ok("push", "--to", f"folder:{place.work}", "CI has failed")
    host = Host(place, SERVER)
    until(lambda: any("CI has failed" in text for text in host.texts()), "what waited")


def test_two_servers(place):
    """two servers of one agent have one session, and each notification is in one result"""
    one, session = begun(place)
    other = Host(place, SERVER)
    other.call()
    for i in range(20):
        place.ok("push", "-s", session, f"number {i}.")
        seen = []
        while not seen:
            seen = [text for host in (one, other) for text in host.texts() if f"number {i}." in text]
        assert len(seen) == 1, seen
    assert len(sessions(place)) == 1 and one.end() == 0 and other.end() == 0
    assert not place.pending(session)


def test_two_agents(place):
    """two agents of one kind in one folder have a session each; a third agent that follows one of them gets that one's session"""
    agents = [place.start(command=[sys.executable, AGENT, os.path.join(place.dir, f"t{i}"), TIDINGS, "mcp", "--", *SERVER]) for i in range(2)]
    names = sorted(s["session"] for s in until(lambda: len(sessions(place)) == 2 and sessions(place), "both"))
    assert names[1] == names[0] + "-2", names
    for agent in agents:
        agent.kill()
        agent.wait()
    third = place.start(command=[sys.executable, AGENT, os.path.join(place.dir, "t3"), TIDINGS, "mcp", "--", *SERVER])
    until(lambda: any(s["session"] == names[0] and s["pid"] == third.pid for s in sessions(place)), "the third")
    assert len(sessions(place)) == 2


def test_no_command(place):
    """a command that does not exist is an error, with the shell's status"""
    place.refused("mcp", "--", "no-such-command-at-all", code=127, says="cannot run no-such-command-at-all")


def writer_of(pid):
    """Returns the process that writes results for the wrapper, which any of its threads has started, or None."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
            for child in file.read().split():
                with open(f"/proc/{child}/cmdline", "rb") as words:
                    if b"mcp-writer" in words.read():
                        return int(child)
    return None


def test_writer_killed(place):
    """if the process that writes results is killed, the next result comes without a notification, and a later one has it"""
    host, session = begun(place)
    writer = until(lambda: writer_of(host.process.pid), "the writer")
    os.kill(writer, signal.SIGKILL)
    until(lambda: gone(writer), "its end")
    place.ok("push", "-s", session, "news")
    assert texts(host.news()) == ["done", BLOCK + "news"]
    until(lambda: goes_on(place, host, session)[-1] == "committed", "the commit")
    assert host.end() == 0 and not place.pending(session)


def test_wrapper_killed(place):
    """if the wrapper is killed after it has written a result, a notification is committed if the host reads the result, and pending otherwise"""
    for reads in (True, False):
        host, session = begun(place)
        place.ok("push", "-s", session, "news")
        if reads:
            host.news()
        else:
            until(lambda h=host, s=session: call_unread(place, h, s), "the lease")
        host.process.kill()
        host.process.wait()
        if not reads:
            host.process.stdout.close()
        until(lambda s=session: "leased" not in outcomes(place, s), "the end of the lease")
        assert bool(place.pending(session)) != reads, outcomes(place, session)


if __name__ == "__main__":
    sys.exit(main(globals()))
