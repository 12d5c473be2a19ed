# SPDX-License-Identifier: MIT
"""Tests the command line for people: colours, local times, short ids, suggestions for mistyped words, a closed pipe, the overview."""
import os
import pty
import re
import subprocess
import sys

from kit import DEADLINE_S, TIDINGS, main

HOUR = re.compile(r"^\d\d:\d\d:\d\d  ", re.MULTILINE)


def session(place):
    """Makes a session with deliveries, of which one has an error and a critical notification, and a notification that waits."""
    place.opened()
    place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "CI run 4812 failed.")
    place.ok("push", "-s", "s", "-k", "disk.full", "-l", "critical", "No space.")
    place.ok("deliver", "--at", "tool-result", "-s", "s", "--owner", str(os.getpid()), "--tool", "Bash", stdin="ok")
    place.ok("push", "-s", "s", "-k", "ci.passed", "CI run 4813 passed.")


def on_terminal(place, *words, env=None):
    """Returns what the command prints on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([TIDINGS, *words], stdin=theirs, stdout=theirs, stderr=theirs, cwd=place.work, env={**place.env, "TERM": "xterm", **(env or {})})
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side of the terminal is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert process.wait(DEADLINE_S) == 0, text
    return text.decode()


def test_colours(place):
    """levels and outcomes have colours on a terminal, unless NO_COLOR, TERM=dumb or --color says otherwise; in a pipe they have none"""
    session(place)
    for verb in ("tail", "history"):
        seen = on_terminal(place, verb, "-s", "s")
        assert "\x1b[31merror" in seen and "\x1b[1;7;31mcritical" in seen and "\x1b[32mdelivered" in seen, seen
        for env, words in (({"NO_COLOR": "1"}, ()), ({"TERM": "dumb"}, ()), ({}, ("--color", "never"))):
            assert "\x1b" not in on_terminal(place, verb, "-s", "s", *words, env=env)
        assert "\x1b" not in place.ok(verb, "-s", "s").text
        assert "\x1b[31merror" in place.ok(verb, "-s", "s", "--color", "always", env={"NO_COLOR": "1"}).text
    place.refused("tail", "-s", "s", "--color", "blue", code=2, says="'blue' is not one of auto, always, never")


def test_times(place):
    """times are local and to the second, below the date and the zone; --utc and --json use UTC; --since leaves out earlier entries"""
    session(place)
    there = {"TZ": "ZZZ-5:30"}
    for verb in ("tail", "history", "pending"):
        local, utc = (place.ok(verb, "-s", "s", *more, env=there).text for more in ((), ("--utc",)))
        day = re.search(r"^(\d{4}-\d\d-\d\d) ZZZ$", local, re.MULTILINE)
        assert day and re.search(r"^\d{4}-\d\d-\d\d UTC$", utc, re.MULTILINE) and HOUR.search(local), (local, utc)
        minutes = [int(text[:2]) * 60 + int(text[3:5]) for text in (HOUR.search(one)[0] for one in (local, utc))]
        assert (minutes[0] - minutes[1]) % 1440 == 330, (local, utc)
        assert HOUR.search(place.ok(verb, "-s", "s", "--since", "1h", env=there).text)
        assert not HOUR.search(place.ok(verb, "-s", "s", "--since", "2999-01-01", env=there).text)
        for wrong in ("soon", "2026-02-30"):
            place.refused(verb, "-s", "s", "--since", wrong, code=2, says=f"'{wrong}' is no time; expected 15:40")
    assert place.ok("pending", "-s", "s", "--json", env=there).json["items"][0]["time"].endswith("Z")


def test_ids(place):
    """people see short ids, which each verb accepts; the ids of messages may be shortened to a unique beginning"""
    session(place)
    assert re.search(r"outcome   2 delivered disk\.full \(critical\): No space\. \[shown to the assistant\]", place.ok("tail", "-s", "s").text)
    assert re.search(r":\d\d    3  info     ci\.passed", place.ok("pending", "-s", "s").text)
    assert place.ok("explain", "-s", "s", "1").text == place.ok("explain", "-s", "s", place.ok("history", "-s", "s", "--json").json["deliveries"][0]["items"][0]["id"]).text
    place.refused("explain", "-s", "s", "9", says="has no item 9")
    explained = place.ok("explain", "-s", "s", "2")
    assert re.search(r"in delivery [1-9]\d{0,9} with a tool result", explained.text), explained.text
    assert re.search(r"in delivery \d{11,} with a tool result", place.ok("explain", "-s", "s", "2", "--json").json["text"])
    place.ok("submit", "-s", "s", "this one is offered")
    for id_ in ("m-00112233aa", "m-00112233bb", "m-99"):
        place.ok("submit", "-s", "s", "--id", id_, f"message {id_}")
    listed = place.ok("queue", "-s", "s").text
    assert "m-00112233a " in listed and "m-00112233b " in listed and "m-99 " in listed, listed
    place.refused("queue", "-s", "s", "cancel", "m-0011", says="'m-0011' is the beginning of 2 messages' ids")
    place.ok("queue", "-s", "s", "cancel", "m-00112233b")
    place.ok("queue", "-s", "s", "move", "m-99", "m-00112233a")
    place.ok("submit", "-s", "s", "--edit", "m-00112", "other words")
    rest = place.ok("queue", "-s", "s", "--json").json["messages"][1:]
    assert sorted((one["id"], one["content"]) for one in rest) == [("m-00112233aa", "other words"), ("m-99", "message m-99")], rest


def test_more_short_ids(place):
    """explain accepts ids of messages, whole or short, waiting or ended; -s and log accept the unique beginning of a name"""
    session(place)
    place.ok("submit", "-s", "s", "--id", "m-0011aa", "one")
    place.ok("submit", "-s", "s", "--id", "m-0022bb", "two")
    place.ok("queue", "-s", "s", "cancel", "m-0022bb")
    for id_, words in (("m-0033cc", "three"), ("77", "digits")):
        place.ok("submit", "-s", "s", "--id", id_, words)
    for short, whole in (("m-0011", "m-0011aa"), ("m-0022", "m-0022bb"), ("m-0022bb", "m-0022bb")):
        assert place.ok("explain", "-s", "s", short).text == place.ok("explain", "-s", "s", "--message", whole).text, short
    place.refused("explain", "-s", "s", "m-00", says="'m-00' is the beginning of 2 messages' ids")
    place.refused("explain", "-s", "s", "77", says="has no item 77")
    assert "message" in place.ok("explain", "-s", "s", "--message", "77").text
    there = {"TZ": "ZZZ-5:30"}
    local, utc = (place.ok("explain", "-s", "s", "1", *more, env=there).text for more in ((), ("--utc",)))
    assert re.search(r"was received at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.", local) and re.search(r"\d\d:\d\d:\d\d UTC\.", utc), (local, utc)
    assert place.ok("explain", "-s", "s", "1", "--json").json["text"].count("Z.") >= 1
    place.opened("build-2")
    place.opened("5c1d2e9a-6f0b-4d0e")
    place.creates = False
    assert "5c1d2e9a-6f0b-4d0e" in place.ok("status", "-s", "5c1d").text
    assert place.ok("submit", "-s", "5c1d2e9a", "--print-session").text == "5c1d2e9a-6f0b-4d0e\n"
    place.refused("push", "-s", "build", "x", says="the store has no session 'build'")
    place.refused("push", "-s", "5c1d2", "x", says="the store has no session '5c1d2'")
    assert place.ok("pending", "-s", "buil", "--json").json["count"] == 0
    assert place.ok("queue", "-s", "buil", "--json").json["count"] == 0
    for verb in (["stop"], ["queue", "clear"], ["queue", "cancel", "m-1"], ["box", "collect"]):
        place.refused(*verb, "-s", "build", says="the store has no session 'build'")
    place.refused("pending", "-s", "bui", says="the store has no session 'bui'")
    place.opened("build-3")
    place.refused("pending", "-s", "build", says="the store has no session 'build'")
    place.run("run", "-s", "s", "--name", "tests", "--", "echo", "printed")
    assert place.ok("log", "-s", "s", "tests").text == "printed\n"
    handle = place.ok("log", "-s", "s", "--json", "tests-").json["handle"]
    assert re.fullmatch(r"tests-[0-9a-f]{6}", handle), handle
    place.run("run", "-s", "s", "--name", "tests", "--", "echo", "again")
    place.refused("log", "-s", "s", "tests", says=["no run has the handle 'tests'", handle])


# For each verb that takes -s: its other words, or why the test leaves it out. "meant": with --print-session it prints the session that it uses.
OWN = "5c1d2e9a-6f0b-4d0e-8f11-1c0ffee00123"
SHORT_SESSIONS = {
    "push": ("x",), "run": ("true",), "watch": "meant", "feed": "meant", "deliver": ("--at", "tool-result", "--owner", "PID"), "submit": ("--id", "m-5fd2a1c09b", "hello"),
    "remind": ("--in", "1h", "x"), "stop": (), "queue": (), "box": ("collect",), "event": (),
    "wait": ("--timeout", "1ms", "--owner", "PID"), "pending": (), "history": (), "explain": ("1",), "top": "screen", "timeline": ("-o", "page.html"), "tail": (), "status": (), "stats": (),
    "export": (), "subscribe": "it wants --to", "store": "what deletes wants the whole id", "config": ("show",), "log": ("tests-",),
}


EVENT = '{"type": "notification", "data": {"kind": "a.b", "message": "x"}}'  # also used as a carrier


def takes_session(place, verb):
    return re.search(r"^  -s, --session=", place.ok(verb, "--help").text, re.MULTILINE)


def test_short_session_everywhere(place):
    """each verb that takes -s, and --to, accept the first eight digits of an agent's session, and use that session"""
    place.opened(OWN)
    place.ok("push", "-s", OWN, "-k", "ci.failed", "the first")
    place.creates = False
    missing = {verb for verb in place.ok("help", "--names").text.split() if takes_session(place, verb)} ^ set(SHORT_SESSIONS)
    assert not missing, missing
    for verb, words in SHORT_SESSIONS.items():
        if words == "meant":
            assert place.ok(verb, "-s", OWN[:8], "--print-session").text.strip() == OWN, verb
        elif not isinstance(words, str):
            result = place.run(verb, "-s", OWN[:8], *(str(os.getpid()) if word == "PID" else word for word in words), stdin=EVENT)
            assert result.code in ((0, 1) if verb in ("wait", "log") else (0,)), (verb, result)
    assert place.run("store", "forget", "-s", OWN[:8], "--dry-run").code == 1
    place.ok("push", "--to", f"session:{OWN[:8]}", "by its address")
    assert [one["session"] for one in place.ok("sessions", "--json").json["sessions"]] == [OWN]
    assert "by its address" in place.messages(OWN)


def test_short_ids_of_hosts(place):
    """deliver accepts the beginning of a message's id, and history the number of a delivery; an ambiguous id sends nothing"""
    place.opened()
    me = ("--owner", str(os.getpid()))
    for id_ in ("m-00112233aa", "m-00112233bb"):
        place.ok("submit", "-s", "s", "--id", id_, f"message {id_}")
    offered = ("deliver", "-s", "s", "--at", "chat-request", *me, "--message")
    assert place.refused(*offered, "m-0011", stdin="words", says="'m-0011' is the beginning of 2 messages' ids").out == b""
    assert place.ok(*offered, "m-00112233a", stdin="words").text == "words"
    assert place.ok("explain", "-s", "s", "m-00112233aa", "--json").json["state"] == "fired"
    for text in ("one", "two"):
        place.ok("push", "-s", "s", text)
        place.ok("deliver", "-s", "s", "--at", "tool-result", *me, stdin="ok")
    whole = place.ok("history", "-s", "s", "--json").json["deliveries"]
    number = re.search(r"  (\d+)  committed on tool_result", place.ok("history", "-s", "s").text)[1]
    for name in (number, next(one["id"] for one in whole if one["carrier"] == "tool_result")):
        text = place.ok("history", "-s", "s", name).text
        assert "one" in text and "two" not in text and "Turns" not in text, (name, text)
    assert len(place.ok("history", "-s", "s", "--json", number).json["deliveries"]) == 1
    place.refused("history", "-s", "s", "99", says="the session has no delivery 99")
    place.refused("history", "-s", "s", "abc", code=2, says="'abc' is not the id of a delivery")


def test_closed(place):
    """a closed session is listed as closed until a host attaches again"""
    place.opened("over")
    place.event("session.closed", {}, "over", os.getpid())
    assert re.search(r"^closed +0 pending  session:over$", place.ok("sessions").text, re.MULTILINE), place.ok("sessions").text
    assert "host      none since the session was closed, " in place.ok("status", "-s", "over").text
    assert "over  (closed)" in place.refused("push", "--to", "session:ovr", "x").said
    assert place.ok("sessions", "--json").json["sessions"][0]["closed"].endswith("Z")
    place.opened("over")
    assert place.ok("sessions").text.startswith("running "), place.ok("sessions").text
    assert "closed" not in place.ok("sessions", "--json").json["sessions"][0]


def test_long_words(place):
    """an error quotes the beginning and the end of a long line, and status names twenty of many messages"""
    said = place.refused("status", "\u20ac" * 30000, code=2, says="unexpected argument '\u20ac").said
    assert len(said) < 3000 and "\ufffd" not in said and "\u2026" in said, said
    place.opened()
    for number in range(22):
        place.ok("submit", "-s", "s", "--id", f"m{number}", "x")
    assert "m19 (queued) and 2 more\n" in place.ok("status", "-s", "s").text, place.ok("status", "-s", "s").text


def test_since(place):
    """--since leaves out earlier entries, in JSON too"""
    session(place)
    lists = {"history": "deliveries", "pending": "items", "sessions": "sessions"}
    for verb, name in lists.items():
        words = [verb] + (["-s", "s"] if verb != "sessions" else [])
        assert place.ok(*words, "--json", "--since", "1h").json[name] == place.ok(*words, "--json").json[name] != [], verb
        assert place.ok(*words, "--json", "--since", "2999-01-01").json[name] == [], verb
    [delivery] = place.ok("history", "-s", "s", "--json").json["deliveries"]
    assert place.ok("history", "-s", "s", "--json", "--since", delivery["time"]).json["deliveries"] == [delivery], delivery
    for wrong in (delivery["time"] + "x", "2026-99-01T00:00:00.000Z"):
        place.refused("history", "-s", "s", "--since", wrong, code=2, says="is no time")
    assert "No session was used since then." in place.ok("sessions", "--since", "2999-01-01").text
    assert "1 of them were pushed before that." in place.ok("pending", "-s", "s", "--since", "2999-01-01").text
    assert "Nothing was delivered since then." in place.ok("history", "-s", "s", "--since", "2999-01-01").text
    assert place.ok("export", "-s", "s", "--since", "2999-01-01").json == [] != place.ok("export", "-s", "s", "--since", "1h").json
    page = place.ok("timeline", "-s", "s", "-o", "-", "--since", "2026-11-23 15:40").text.split('id="data"')[1]
    assert '"from":' in page and '"from":' not in place.ok("timeline", "-s", "s", "-o", "-").text.split('id="data"')[1]
    place.refused("timeline", "-s", "s", "-o", "-", "--trace", "--since", "1h", code=2, says="--since is for the page")


def test_meant(place):
    """the error for a mistyped verb or option suggests the right one"""
    place.refused("psuh", code=2, says="unknown verb 'psuh'; did you mean 'push'?")
    place.refused("histroy", code=2, says="did you mean 'history'?")
    place.refused("push", "--levle=error", "x", code=2, says="unknown option '--levle=error'; did you mean '--level'?")
    far = place.refused("xyzzy", code=2, says="unknown verb 'xyzzy'; 'tidings help' lists the verbs")
    assert "did you mean" not in far.said


def test_pipe(place):
    """a reader that goes away is no error; a full disk is one"""
    session(place)
    for number in range(40):
        place.event("message.submitted", {"id": f"m{number}", "content": "x" * 5000})
    process = place.start("queue", "-s", "s")
    process.stdout.read(1)
    process.stdout.close()
    assert process.wait(DEADLINE_S) == 141 and process.stderr.read() == b""
    with open("/dev/full", "wb") as full:
        result = place.run("queue", "-s", "s", stdout=full)
    assert result.code == 1 and "cannot write to stdout" in result.said, result


def test_overview(place):
    """without a verb, tidings prints the running sessions and the next commands, and makes no store"""
    alone = place.ok()
    assert "no store yet" in alone.text and "tidings setup" in alone.text, alone
    assert not os.path.exists(place.store)
    place.opened("mine")
    place.ok("push", "-s", "mine", "hello")
    seen = place.ok().text
    assert "running          1 pending  session:mine  of test" in seen and "Here, without -s: mine" in seen, seen


if __name__ == "__main__":
    sys.exit(main(globals()))
