#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the input of `tidings push`, `event` and `submit`."""
import json
import os
import sys

from kit import main


def test_push(place):
    """a notification is stored with its kind, its level and its text"""
    place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "--tool", "lint", "--ttl", "10m", "--activate", "idle", "--data", '{"run": 7}', "It is red.")
    [item] = place.pending()
    assert item["kind"] == {"source": "ci", "name": "failed"} and item["level"] == "error" and item["message"] == "It is red.", item


def test_push_defaults(place):
    """without options it is information, of the kind cli.note"""
    place.ok("push", "-s", "s", "hello")
    [item] = place.pending()
    assert item["kind"] == {"source": "cli", "name": "note"} and item["level"] == "info", item


def test_push_stdin(place):
    """'-' reads stdin, without the line break at its end"""
    place.ok("push", "-s", "s", "-", stdin="two\nlines\n\n")
    assert place.messages() == ["two\nlines"]
    place.refused("push", "-s", "s", "-", stdin="", says="stdin: it is empty")
    place.refused("push", "-s", "s", "-", stdin=b"a\0b", says="NUL byte")
    place.refused("push", "-s", "s", "-", stdin=b"x" * (2 << 20), says="more than 1048576 bytes")
    assert len(place.messages()) == 1


def test_push_other_encodings(place):
    """a message that is not UTF-8 is stored with a mark for each wrong byte, and stderr says how to convert it"""
    says = "the message is not UTF-8: 1 byte was replaced by U+FFFD; to keep what is meant, convert it first, for example with iconv -f latin1 -t utf-8"
    assert says in place.ok("push", "-s", "s", "-", stdin="caf\xe9 closed\n".encode("latin1")).said
    assert says in place.ok("push", "-s", "s", b"caf\xe9").said
    assert "2 bytes were replaced" in place.ok("submit", "-s", "s", "--id", "m1", "-", stdin=b"a\xff\xfeb").said
    assert place.messages() == ["caf\ufffd closed", "caf\ufffd"]
    assert place.ok("queue", "-s", "s", "--json").json["messages"][0]["content"] == "a\ufffd\ufffdb"
    assert not place.ok("push", "-s", "s", "caf\xe9").said
    for option in ("--kind", "--key", "--tool", "--id"):
        place.refused("push", "-s", "s", option, b"\xe9", "m", code=2, says=f"{option}: '{{0xE9}}' is not UTF-8; expected text")


def test_push_cut(place):
    """stderr tells the pusher that a message was cut, not only the model"""
    said = place.ok("push", "-s", "s", "-k", "ci.log", "-", stdin="x" * 102400).said
    assert 'the message of a notification ("ci") has 102400 bytes; it was cut to 16384 (limits.message_bytes), and says so' in said, said
    assert place.messages()[0].endswith("(86016 more bytes)") or "more bytes" in place.messages()[0], place.messages()[0][-60:]
    assert "102400 bytes" in place.ok("push", "-s", "s", "--event", stdin=json.dumps({"type": "notification", "data": {"kind": "a.b", "message": "y" * 102400}})).said
    report = {"type": "config.changed", "data": {"summary": "z" * 102400}}
    assert '("config") has 1024' in place.ok("event", "-s", "s", stdin=json.dumps(report)).said
    assert not place.ok("push", "-s", "s", "x" * 16384).said


def test_push_key(place):
    """at the next delivery a newer notification replaces an older one with the same key"""
    for percent in (10, 90):
        place.ok("push", "-s", "s", "--key", "progress", f"{percent} %")
    told = place.ok("deliver", "-s", "s", "--at", "tool-result", stdin="x").text
    assert "90 %" in told and "10 %" not in told, told


def test_push_id(place):
    """a second push with the same id has no effect, and --json says so"""
    assert place.ok("push", "-s", "s", "--id", "a", "--json", "x").json["duplicate"] is False
    assert place.ok("push", "-s", "s", "--id", "a", "--json", "x").json["duplicate"] is True
    assert place.messages() == ["x"]


def test_push_wrong(place):
    """a wrong call is refused, the error says what was expected, and nothing is stored"""
    wrong = [
        (["-l", "urgent", "x"], "--level: 'urgent' is not one of info, warning, error, critical"),
        (["--activate", "now", "x"], "--activate: 'now' is not one of passive, idle, interrupt"),
        (["--ttl", "soon", "x"], "--ttl: 'soon' is not a duration"),
        (["--ttl", "0", "x"], "--ttl: '0' is not a duration"),
        (["--data", "[1]", "x"], "--data: '[1]' is not a JSON object"),
        (["--data", '{"build": 12345678901234567890}', "x"], "--data: \"12345678901234567890\" is not a number of 64 bits"),
        ([], "the message is missing"),
        (["a", "b"], "unexpected argument 'b'"),
        (["--nonsense", "x"], "unknown option '--nonsense'"),
        (["--s", "x"], "ambiguous option '--s'"),
        (["-x", "m"], "unknown option '-x'"),
        (["-k"], "option '-k' needs an argument"),
        (["--kind"], "option '--kind' needs an argument"),
        (["--event=1"], "option '--event=1' takes no argument"),
        (["--event", "-l", "info"], "--event reads everything from stdin"),
    ]
    for words, says in wrong:
        result = place.refused("push", "-s", "s", *words, code=2, says=[says, "usage: tidings push"])
        assert not result.out, result
    place.refused("push", "-s", "s", "", says="data.message")
    place.refused("push", "-s", "s", "-k", "", "x", code=1, says="data.kind")
    place.refused("push", "-s", "", "x", code=2, says="not empty")
    place.refused("push", "-s", b"\xff", "m", says="not UTF-8")
    place.refused("push", "-s", "", "m", code=2, says="option '--session' needs an argument that is not empty")
    place.refused("push", "-s", "s" * 256, "m", says="session: it has 256 bytes; expected 1 to 255")
    place.refused("push", "-s", "a\nb", "m", says="U+000A")
    assert not os.path.exists(place.store) or place.ok("status", "--names").text == ""


def test_push_hostile(place):
    """text that would control a terminal is printed escaped"""
    place.ok("push", "-s", "s\u202e", "-k", "a.b", "\x1b[2Jgone\u202e")
    shown = place.ok("pending", "-s", "s\u202e").text
    assert "{U+001B}[2Jgone{U+202E}" in shown, shown
    listed = place.ok("status", "--all").text
    assert "s{U+202E}" in listed and "\u202e" not in listed, listed
    assert place.ok("status", "--names").text == "s{U+202E}\n"
    said = place.refused("explain", "-s", "\x1b]0;x\x07", "1").said
    assert "\x1b" not in said, said


def test_push_event(place):
    """--event pushes a CloudEvents object as it is"""
    place.ok("push", "--event", "-s", "s", stdin=json.dumps({"type": "handle.state", "data": {"handle": "h", "tool": "cc", "state": "failed", "exit_code": 2}}))
    place.ok("push", "--event", stdin=json.dumps({"type": "file.changed", "session": "s", "data": {"path": "a.c"}}))
    assert place.messages() == ["Tool `cc` (handle `h`) failed with exit code 2.", "`a.c` was modified externally."]
    place.refused("push", "--event", "-s", "other", stdin='{"type": "file.changed", "session": "s", "data": {"path": "a"}}', code=2, says="-s names 'other'")
    for text, says in ((b"", "expected a CloudEvents object"), (b"[]", "expected one JSON object"), (b"{}", "type"), (b'{"session": 1}', "session: expected"),
                       (b'{"type": "x", "type": "y"}', "twice"), (b'{"a":1}\0', "NUL byte"), (b'{"type": "no.such"}', "TIDINGS_E_UNSUPPORTED"),
                       (b'{"type": "file.changed", "data": {"path": 1}}', "data.path")):
        place.refused("push", "--event", "-s", "s", stdin=text, says=says)
    assert len(place.messages()) == 2


def test_event_session_added(place):
    """event adds the session that an event leaves out, and keeps the rest to the byte"""
    for text in ('  { "type" : "session.opened" }  ', '{"type":"notification","data":{"kind":"a.b","message":"\\u00e9 1.10"}}', "{ }"):
        words = ["event", "-s", "s \"quoted\""] + (["--owner", str(os.getpid())] if "opened" in text else [])
        result = place.run(*words, stdin=text)
        assert result.code == (1 if text == "{ }" else 0), result
    assert place.messages('s "quoted"') == ["\u00e9 1.10"]


def test_event_reply(place):
    """event prints the reply; turn events need --as-host"""
    reply = place.opened()
    assert reply["status"]["state"] == "idle", reply
    place.refused("event", stdin='{"type": "turn.started", "session": "s"}', says=["TIDINGS_E_UNSUPPORTED", "--as-host"])
    assert place.event("turn.started", owner=os.getpid())["status"]["state"] == "busy"
    place.refused("event", "--owner", "0", stdin="{}", code=2, says="not a process id")
    place.refused("event", "--owner", "4194304000", stdin="{}", code=2, says="not a process id")
    place.refused("event", "--owner", "4194303", stdin="{}", says="there is no process 4194303")


def test_submit(place):
    """a message is queued under an id that is printed, and can be edited, moved and cancelled while it waits"""
    place.opened()
    place.event("turn.started", owner=os.getpid())
    first = place.ok("submit", "-s", "s", "one").text.strip()
    assert first.startswith("m-") and len(first) == 18, first
    assert place.ok("submit", "-s", "s", "--id", "second", "-", stdin="two\n").text == "second\n"
    place.ok("submit", "-s", "s", "--edit", "second", "zwei")
    place.ok("submit", "-s", "s", "--move", "second", "--before", first)
    reply = place.event("turn.finished", owner=os.getpid())
    [action] = reply["actions"]
    assert [(m["id"], m["content"]) for m in action["messages"]] == [("second", "zwei")], reply
    place.ok("submit", "-s", "s", "--cancel", first)
    place.refused("submit", "-s", "s", "--cancel", "never", says="TIDINGS_E_NOT_FOUND")
    place.refused("submit", "-s", "s", "--edit", "second", "drei", says="TIDINGS_E_FIRED")
    trigger = place.ok("submit", "-s", "s", "--trigger", '{"hook": [1]}', "--steer", "--json", "three").json
    assert trigger["status"]["state"] == "starting", trigger


def test_submit_default(place):
    """turns.default_delivery decides for a message that says neither --steer nor --queue"""
    place.opened()
    place.event("turn.started", owner=os.getpid())
    config = os.path.join(place.dir, "steers.json")
    with open(config, "w", encoding="utf-8") as file:
        file.write('{"turns": {"default_delivery": "steer"}}')
    place.ok("submit", "-s", "s", "one")
    place.ok("submit", "-s", "s", "--config", config, "two")
    place.ok("submit", "-s", "s", "--config", config, "--queue", "three")
    assert [m["state"] for m in place.ok("queue", "-s", "s", "--json").json["messages"]] == ["queued", "steering", "queued"]


def test_submit_wrong(place):
    """options that exclude each other are refused"""
    for words, says in ((["--cancel", "a", "--edit", "b", "x"], "exclude each other"), (["--move", "a"], "--before"), (["--before", "a", "x"], "--move"),
                        (["--cancel", "a", "x"], "unexpected argument"), (["--edit", "a"], "the message is missing"), (["--cancel", "a", "--steer"], "for a new message"), (["--cancel", "a", "--queue"], "for a new message"),
                        (["--steer", "--queue", "x"], "exclude each other"),
                        (["--trigger", "1", "x"], "--trigger: '1' is not a JSON object")):
        place.refused("submit", "-s", "s", *words, code=2, says=says)
    place.refused("submit", "-s", "s", "--id", "tidings:1", "x", says="tidings:")
    place.refused("submit", "-s", "s", "", says="data.content")
    place.ok("submit", "-s", "s", "--id", "m1", "x")
    place.refused("submit", "-s", "s", "--id", "m1", "x", says="was submitted before")


def test_folder_of_bytes(place):
    """in a folder whose path is not UTF-8, run and push find the session or the mailbox of the folder, with U+FFFD for each such byte"""
    folder, mailbox = os.path.join(os.fsencode(place.dir), b"caf\xe9"), f"folder:{place.dir}/caf\ufffd"
    os.mkdir(folder)
    assert mailbox in place.ok("run", "--", "true", cwd=folder).said
    place.ok("push", "--to", "folder:.", "x", cwd=folder)
    assert len(place.pending(mailbox)) == 2
    place.opened(cwd=f"{place.dir}/caf\ufffd")
    place.run("run", "--", "false", cwd=folder)
    assert len(place.pending()) == 3


if __name__ == "__main__":
    sys.exit(main(globals()))
