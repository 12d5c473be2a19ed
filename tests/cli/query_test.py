#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings pending`, `history`, `explain`, `status`, `stats`, `export`, `config`, and the choice of the session."""
import json
import os
import re
import sys

from kit import main


def test_pending(place):
    """pending lists the waiting notifications, --preview shows what the next carrier would get, and neither changes anything"""
    for i in range(3):
        place.ok("push", "-s", "s", f"news {i}")
    text = place.ok("pending", "-s", "s", "-n", "2").text
    assert "3 pending." in text and "news 1" in text and "news 2" not in text and "and 1 more" in text, text
    for carrier in ("tool-result", "chat-request"):
        assert "- news 2" in place.ok("pending", "-s", "s", "--preview", carrier).text
    new = {"env": {"TIDINGS_SESSION": "unheard of"}}
    assert "Nothing would be sent." in place.ok("pending", "--preview", "tool-result", **new).text
    assert place.ok("pending", **new).text == "Nothing is pending.\n"
    assert len(place.messages()) == 3
    place.refused("pending", "-n", "0", code=2, says="--limit: '0' is not a number from 1 to 10000")
    place.refused("pending", "--preview", "letter", code=2, says="not one of tool-result, chat-request")


def test_history_and_explain(place):
    """history and explain report the outcome of a notification"""
    place.ok("push", "-s", "s", "-k", "tool.failed", "-l", "error", "broke")
    identifier = place.pending()[0]["id"]
    assert "pending" in place.ok("explain", "-s", "s", identifier).text
    place.ok("deliver", "-s", "s", "--at", "tool-result", "--call", "c1", "--tool", "make", stdin="x")
    text = place.ok("history", "-s", "s").text
    assert "committed on tool_result of make, call c1" in text and "tool.failed (error): broke" in text, text
    assert "it was shown to the assistant" in place.ok("explain", "-s", "s", identifier).text
    assert place.ok("explain", "-s", "s", "--json", identifier).json["outcome"] == "delivered"
    assert place.ok("history", "-s", "s", "--json").json["total"] == 1
    place.refused("explain", "-s", "s", "999", says="TIDINGS_E_NOT_FOUND")
    place.refused("explain", "-s", "s", "abc", says="TIDINGS_E_NOT_FOUND")


def test_explain_message(place):
    """explain --message reports the outcome of a message with any id"""
    place.opened()
    place.ok("submit", "-s", "s", "--id", "42", "hello")
    assert "(message.submitted) the host was asked to start a turn with it" in place.ok("explain", "-s", "s", "--message", "42").text
    place.ok("submit", "-s", "s", "--cancel", "42")
    explanation = place.ok("explain", "-s", "s", "--json", "--message", "42").json
    assert explanation["state"] == "cancelled" and [step["state"] for step in explanation["steps"]] == ["offered", "cancelled"], explanation
    place.refused("explain", "-s", "s", "--message", "43", says="TIDINGS_E_NOT_FOUND")
    place.refused("explain", "-s", "s", "--message", code=2, says="the id of a notification or of a message")


def test_limits_said(place):
    """if a limit leaves something out, the text says how much there is, and the newest is listed; a wrong limit is refused"""
    for number in range(3):
        place.ok("push", "-s", "s", "--ttl", "1ms", f"late {number}")
        place.ok("push", "-s", "s", f"shown {number}")
        place.ok("deliver", "-s", "s", "--at", "tool-result", stdin="x")
    for words, wanted, count in ((["--limit", "2"], "shown", "There are 3 deliveries; --limit shows more."), (["--dead", "--limit", "2"], "late", "There are 3; --limit shows more.")):
        text = place.ok("history", "-s", "s", *words).text
        assert count in text and all((f"{wanted} {number}" in text) == bool(number) for number in range(3)), text
    for words, cut in ((["--limit", "2"], True), (["--limit", "2", "--json"], True), ([], False), (["--since", "2999-01-01", "--limit", "2"], False)):
        errors = place.ok("history", "-s", "s", "--since", "1h", *words).said
        assert errors == ("tidings history: older ones of that time are left out; --limit is 2\n" if cut else ""), (words, errors)
    place.event("turn.started", {}, "s", os.getpid())
    place.event("turn.finished", {}, "s", os.getpid())
    assert "older ones of that time are left out; --limit is 1" in place.ok("history", "-s", "s", "--since", "1h", "--limit", "1").said
    place.refused("history", "-s", "s", "--limit", "1", place.ok("history", "-s", "s", "--json").json["deliveries"][0]["id"], says="is not among the newest 1 deliveries")
    for limit in ("0", "10001", "x"):
        place.refused("history", "-s", "s", "--limit", limit, code=2, says=f"--limit: '{limit}' is not a number from 1 to 10000")
    place.refused("pending", "-s", "s", "--limit", "3", "--preview", "tool-result", code=2, says="--limit and --preview exclude each other")
    for words in (["--listen", "--all"], ["--subscribe", "--prometheus"], ["--listen", "-s", "s"]):
        place.refused("stats", *words, code=2, says="--listen and --subscribe exclude --all, --prometheus and -s")


def test_history_of_turns(place):
    """history lists turns with their messages"""
    place.opened()
    place.ok("submit", "-s", "s", "--id", "m1", "hello")
    text = place.ok("history", "-s", "s").text
    assert re.search(r"message\.submitted: idle to starting; m1 \w+", text), text


def test_status(place):
    """status shows the state, the turn's messages, the queue and the host; --all lists the sessions"""
    place.opened(cwd="/somewhere")
    place.ok("submit", "-s", "s", "--id", "m1", "hello")
    place.ok("push", "-s", "s", "x")
    text = place.ok("status", "-s", "s").text
    for piece in ("session   s", "state     starting", "turn      m1", "messages  m1 (offered)", "pending   1", "host      test, pid", "running, attached since", "folder    /somewhere"):
        assert piece in text, (piece, text)
    whole = place.ok("status", "-s", "s", "--json").json
    assert whole["session"] == "s" and whole["state"] == "starting" and whole["pending"] == {"count": 1, "leased": 0}, whole
    place.ok("push", "-s", "other", "x")
    text = place.ok("status", "-a").text
    assert re.search(r"^running +1 pending  session:s  of test  in /somewhere$", text, re.M) and re.search(r"^not running +1 pending  session:other$", text, re.M), text
    assert place.ok("status", "--names").text == "s\nother\n"
    assert place.ok("status", "-a", "--json").json["total"] == 2
    place.refused("status", "-a", "-s", "s", code=2, says="exclude -s")


def test_status_held(place):
    """status says that urgent notifications wait because too many turns in a row were started for notifications"""
    path = os.path.join(place.dir, "few.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"turns": {"max_auto_turns": 0}}')
    place.opened()
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full", env={"TIDINGS_CONFIG": path})
    for held in (True, False):
        more = {"env": {"TIDINGS_CONFIG": path}} if held else {}
        text = place.ok("status", "-s", "s", **more).text
        assert ("waits     urgent notifications too, for the next prompt or message" in text and "(turns.max_auto_turns)" in text) == held, text
        assert place.ok("status", "-s", "s", "--json", **more).json["held"] == held


def samples_of(text):
    """Checks the text format: HELP and TYPE precede a family, and its samples stand together. Returns the samples by name, each with its labels."""
    families, samples = {}, {}
    for line in text.splitlines():
        assert re.fullmatch(r'# HELP \w+ .+|# TYPE \w+ (gauge|histogram)|(\w+)(\{(\w+="([^"\\\n]|\\["\\n])*",?)+\})? [0-9.e+]+', line), line
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split()
            assert name not in families, name
            families[name] = kind
        elif not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
            family = re.sub(r"_(bucket|sum|count)$", "", name)
            assert list(families)[-1] in (name, family), line
            samples.setdefault(name, []).append((dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    return samples


def test_stats(place):
    """stats prints counts, and --prometheus prints metrics for Prometheus, of all sessions together and without their names"""
    nasty = 'a"b\\c'
    place.ok("push", "-s", nasty, "-k", "ci.failed", "-l", "error", "x")
    place.ok("push", "-s", "t", "y")
    place.ok("deliver", "-s", "t", "--at", "tool-result", stdin="z")
    place.ok("submit", "-s", "t", "Go on.")
    text = place.ok("stats", "-s", "t").text
    assert "pushed    1" in text and "ended     delivered 1" in text, text
    assert set(place.ok("stats", "--all", "--json").json) == {nasty, "t"}
    text = place.ok("stats", "--prometheus").text
    samples = samples_of(text)
    one = {name: rows[0][1] for name, rows in samples.items() if not rows[0][0]}
    assert (one["tidings_pushed"], one["tidings_pending"], one["tidings_leased"], one["tidings_queued_messages"]) == (2, 1, 0, 1), one
    assert 0 < one["tidings_oldest_pending_seconds"] < 3600 and one["tidings_store_bytes"] > 4096, one
    by = {name: {next(iter(labels.values())): value for labels, value in rows} for name, rows in samples.items() if rows[0][0]}
    assert by["tidings_ended"]["delivered"] == 1 and by["tidings_pending_by_level"]["error"] == 1 and by["tidings_pending_by_source"] == {"ci": 1}, by
    assert sum(by["tidings_sessions"].values()) == 2 and set(by["tidings_sessions"]) == {"idle", "starting", "busy", "retrying", "waiting", "error", "not_running", "damaged"}, by
    buckets = samples["tidings_delivery_latency_seconds_bucket"]
    counts = [value for _, value in buckets]
    assert counts == sorted(counts) and counts[-1] == 1 == one["tidings_delivery_latency_seconds_count"] and buckets[-1][0]["le"] == "+Inf", buckets
    assert [float(labels["le"]) for labels, _ in buckets] == sorted(float(labels["le"]) for labels, _ in buckets)
    assert "session=" not in text and nasty not in text
    alone = samples_of(place.ok("stats", "--prometheus", "-s", "t").text)
    assert alone["tidings_pushed"] == [({}, 1.0)] and set(alone) <= set(samples), alone


# Only a store in a database has these; the test fleet-poison checks them.
ONLY_OF_A_DATABASE = {"tidings_inbox": {}, "tidings_dead_letters": {"reason": ""}, "tidings_connections": {"role": ""}, "tidings_standby_waits": {}}
def test_dead_letters(place):
    """history --dead lists notifications that expired or were dropped, also when their delivery was undone, but none that was shown, taken back, filtered or taken over by another session"""
    place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "shown")
    place.ok("push", "-s", "s", "-k", "ci.failed", "--ttl", "1ms", "too late")
    place.ok("push", "-s", "s", "-k", "ci.state", "--key", "k", "older")
    place.ok("push", "-s", "s", "-k", "ci.state", "--key", "k", "newer")
    assert "No notification" in place.ok("history", "-s", "s", "--dead").text
    place.ok("deliver", "-s", "s", "--at", "tool-result", stdin="z")
    answer = place.ok("history", "-s", "s", "--dead", "--json").json
    assert [(one["outcome"], one["message"]) for one in answer["dead_letters"]] == [("expired", "too late")] and answer["total"] == 1, answer
    assert "had passed" in place.ok("history", "-s", "s", "--dead").text
    place.event("session.rewound", {"deliveries": []}, "s", os.getpid())
    assert [one["message"] for one in place.ok("history", "-s", "s", "--dead", "--json").json["dead_letters"]] == ["too late"]
    place.refused("history", "-s", "s", "--dead", "1", code=2, says="exclude each other")
    place.refused("history", "-s", "other", "--dead", says="no session 'other'")
    for name in ("box", "closed"):
        place.ok("push", "-s", name, "x")
    place.event("session.collected", {"from": ["box"]}, "s", os.getpid())
    place.event("session.closed", {}, "closed", os.getpid())
    [moved] = place.ok("history", "-s", "box", "--json").json["deliveries"][0]["items"]
    assert moved["outcome"] == "closed" and moved["moved"] is True and moved["message"] == "x", moved
    assert place.ok("history", "-s", "box", "--dead", "--json").json["dead_letters"] == []
    [closed] = place.ok("history", "-s", "closed", "--dead", "--json").json["dead_letters"]
    assert closed["outcome"] == "closed" and "moved" not in closed, closed


FUNCTIONS = {"sum", "max", "by", "delta", "clamp_min", "histogram_quantile", "topk"}


def test_dashboard(place):
    """each query of the Grafana dashboard uses metrics and labels that stats prints"""
    place.ok("push", "-s", "s", "-k", "ci.failed", "x")
    place.ok("deliver", "-s", "s", "--at", "tool-result", stdin="z")
    place.ok("push", "-s", "s", "-k", "ci.failed", "y")
    samples = samples_of(place.ok("stats", "--prometheus").text) | {name: [(labels, 0)] for name, labels in ONLY_OF_A_DATABASE.items()}
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "grafana", "tidings.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(queries) > 12 and len({panel["id"] for panel in panels}) == len(panels)
    used = set()
    for query in queries:
        bare = re.sub(r'"[^"]*"', "", query)
        assert all(bare.count(a) == bare.count(b) for a, b in ("()", "[]", "{}")), query
        names = set(re.findall(r"tidings_\w+", bare))
        labels = set(re.findall(r"(\w+)!?=~?", bare)) | {label.strip() for list_ in re.findall(r"by \(([^)]*)\)", bare) for label in list_.split(",")}
        words = set(re.findall(r"[a-z_]\w*", re.sub(r"\[\w+\]", "", bare))) - names - labels
        assert names and names <= set(samples) and words <= FUNCTIONS, (query, names - set(samples), words - FUNCTIONS)
        assert all(any(label in found for name in names for found, _ in samples[name]) for label in labels), query
        used |= names
    assert {re.sub("_(bucket|count|sum)$", "", name) for name in used} == {re.sub("_(bucket|count|sum)$", "", name) for name in samples}, "a metric that no panel shows"


HIDDEN = "a\x7f\x9b31m\u202e\u200b\U000e0041b"  # DEL, C1, bidi, zero-width, a tag


def test_what_terminals_obey(place):
    """JSON and the text for Prometheus contain no DEL, C1 or bidi characters, and the JSON still has the stored text"""
    place.ok("push", "-s", "s", "-k", "a\u202eb.failed", HIDDEN)  # a kind holds no controls
    place.ok("submit", "-s", "s", HIDDEN)
    for words in (("pending", "--json"), ("explain", "--json", "4294967297"), ("stats", "--json"), ("queue", "--json"),
                  ("stats", "--prometheus"), ("export",), ("export", "--lines"), ("wait", "--now", "--json"),
                  ("deliver", "--json", "--at", "tool-result", "--call", "c"), ("history", "--json")):
        stdin = {"stdin": HIDDEN} if words[0] == "deliver" else {}
        done = place.run(*words, "-s", "s", **stdin)
        assert done.code == 0 or words[0] in ("wait", "explain"), (words, done)
        assert not any(c in done.text for c in HIDDEN if not c.isascii() or c == "\x7f"), (words, done.text)
        assert words[0] in ("wait", "explain") or "202e" in done.text.lower(), (words, done.text)
    assert HIDDEN in json.dumps(place.ok("history", "-s", "s", "--json").json, ensure_ascii=False)


def test_many_sources(place):
    """--prometheus counts 50 sources by their names; the others, and one that is called other, are one sample"""
    for source in ["other", *(f"s{number}" for number in range(52))]:
        place.ok("push", "-s", "s", "-k", f"{source}.failed", "x")
    rows = samples_of(place.ok("stats", "--prometheus").text)["tidings_pending_by_source"]
    assert len(rows) == 51 and [value for labels, value in rows if labels == {"source": "other"}] == [3], rows


def test_labels_for_prometheus(place):
    """each label for Prometheus, even of a hostile source, shows control and invisible characters as escapes; DEL and C1 are refused"""
    hostile = "s\u202e\u2066\u200b\U000e0041\u2028t"
    place.ok("push", "-s", hostile, "-k", "a\u202e\u200b.failed", "x")
    text = place.ok("stats", "--prometheus").text
    assert 'tidings_pending_by_source{source="a{U+202E}{U+200B}"} 1' in text, text
    assert all(c.isascii() and (c.isprintable() or c == "\n") for c in text), text
    for control in "\x7f\x80\x9b\x9f\x1b\n":
        for words in (("-s", f"s{control}t"), ("-s", "s", "-k", f"a{control}b.failed")):
            place.refused("push", *words, "x", says=f"has the control character U+{ord(control):04X}")
    again = place.ok("stats", "--prometheus").text
    assert [line.split(" ")[0] for line in again.splitlines()] == [line.split(" ")[0] for line in text.splitlines()]


def test_export(place):
    """export prints the events of a conversation stream, as a list or as lines"""
    place.ok("push", "-s", "s", "-l", "warning", "news")
    place.ok("deliver", "-s", "s", "--at", "tool-result", "--call", "c1", stdin="x")
    queued, carrier = place.exported()
    assert queued["type"] == "system_notification_queued" and queued["level"] == "warning" and queued["message"] == "news", queued
    assert carrier["type"] == "tool_call_response" and carrier["id"] == "c1" and carrier["notifications"][0]["message"] == "news", carrier
    lines = place.ok("export", "-s", "s", "--lines").text.splitlines()
    assert [json.loads(line) for line in lines] == [queued, carrier]


def test_no_store(place):
    """queries make no store"""
    verbs = (["pending", "-s", "s"], ["history", "-s", "s"], ["explain", "-s", "s", "1"], ["status", "-a"], ["stats", "--all"], ["export", "-s", "s"],
             ["box"], ["box", "show", "ci"], ["stop", "-s", "s"], ["queue", "-s", "s"])
    for verb in verbs:
        place.refused(*verb, says="there is no store at")
    assert not os.path.exists(place.state)
    empty = os.path.join(place.dir, "empty")
    os.mkdir(empty, 0o700)
    for verb in verbs:
        place.refused(*verb, "-S", empty, says="there is no store at")
    assert os.listdir(empty) == []


def test_session_choice(place):
    """without -s and TIDINGS_SESSION the session of a running host is chosen whose folder holds the current one and is the nearest"""
    inside = os.path.join(place.work, "deep", "er")
    os.makedirs(inside)
    os.mkdir(place.work + "-not")
    os.symlink(place.work, os.path.join(place.dir, "link"))
    place.opened("outer", cwd=place.dir)
    place.opened("old", cwd=place.work)
    place.opened("neighbour", cwd=os.path.join(place.dir, "wor"))
    host = place.start(command=["sleep", "1000"])
    place.opened("dead", cwd=inside, owner=host.pid)
    host.kill()
    host.wait()

    def chosen(**more):
        return re.search("session   (.*)", place.ok("status", **more).text)[1]

    assert chosen(cwd=inside) == "old"
    place.opened("new", cwd=os.path.join(place.dir, "link"))
    assert chosen(cwd=inside) == "new"
    assert chosen(cwd=place.work + "-not") == "outer"
    assert chosen(cwd=inside, env={"TIDINGS_SESSION": "dead"}) == "dead"
    assert re.search("session   (.*)", place.ok("status", "-s", "outer", cwd=inside, env={"TIDINGS_SESSION": "dead"}).text)[1] == "outer"


def test_session_nearest(place):
    """a newer agent in a folder above gets no push from a nearer folder; in one folder the session that was used last is chosen, not the one that was attached last"""
    inside = os.path.join(place.work, "sub")
    os.makedirs(inside)
    place.opened("below", cwd=inside)
    place.opened("above", cwd=place.work)

    def meant(cwd, why):
        result = place.ok("push", "--print-session", cwd=cwd)
        assert why in result.said and not place.exported(), result
        told = place.ok("sessions", "--json", cwd=cwd).json["here"]
        assert told["session"] == result.text.strip() and told["why"] in result.said, (told, result)
        assert f"Here, without -s: {told['session']}; {told['why']}." in place.ok("sessions", cwd=cwd).text
        return told["session"]

    assert meant(inside, "of 2 running sessions, its folder is the nearest") == "below"
    assert meant(place.work, "the only running session of this folder or one above") == "above"
    place.opened("second", cwd=place.work)
    assert meant(place.work, "attached last, and none was used yet") == "second"
    place.event("turn.started", session="above", owner=os.getpid())
    place.opened("third", cwd=place.work)
    assert meant(place.work, "of 3 running sessions in the nearest folder, it was used last") == "above"
    place.event("turn.finished", session="above", owner=os.getpid())
    place.event("turn.started", session="second", owner=os.getpid())
    assert meant(place.work, "was used last") == "second"
    place.ok("push", "-s", "third", "x")
    place.ok("deliver", "-s", "third", "--owner", str(os.getpid()), "--at", "tool-result", stdin="y")
    assert meant(place.work, "was used last") == "third"


def test_session_said(place):
    """verbs that report print which session they chose: with --json always, on stderr if there was a choice"""
    place.opened("one", cwd=place.work)
    result = place.ok("push", "--json", "x")
    assert result.json["session"] == "one" and not result.said, result
    place.opened("two", cwd=place.work)
    line = f"session two in {place.work}: of 2 running sessions in the nearest folder, it was attached last, and none was used yet"
    assert place.ok("push", "x").said == f"tidings push: {line}\n"
    result = place.ok("submit", "--json", "x")
    assert result.json["session"] == "two" and line in result.said, result
    assert place.ok("submit", "-s", "two", "--cancel", result.json["id"], "--json").json["id"] == result.json["id"]
    assert line in place.ok("run", "true").said
    result = place.ok("run", "--detach", "--json", "true")
    assert result.json["session"] == "two", result
    assert place.ok("run", "--print-session", "--json").json["session"] == "two"
    assert not place.ok("push", "-s", "one", "x").said
    assert not place.ok("pending").said


def test_session_mistyped(place):
    """an unknown session is an error that lists the others; --create makes it, and hosts make theirs"""
    place.creates = False
    place.refused("push", "-s", "first", "x", says="the store has no session 'first'; --create makes it.")
    place.opened("known", cwd="/somewhere")
    mark = os.path.join(place.dir, "mark")
    event = json.dumps({"type": "notification", "data": {"kind": "a.b", "message": "x"}})
    for words, text in ((["push", "-s", "knwon", "x"], ""), (["submit", "-s", "knwon", "x"], ""), (["run", "-s", "knwon", "touch", mark], ""),
                        (["watch", "-s", "knwon"], ""), (["event", "-s", "knwon"], event), (["push", "-s", "knwon", "--event"], event)):
        place.refused(*words, stdin=text, says=["the store has no session 'knwon'; --create makes it. Did you mean 'known'? The sessions are:",
                                                "known  (running, in /somewhere, of test)"])
    assert not os.path.exists(mark) and place.ok("status", "--names").text == "known\n"
    place.ok("push", "-s", "known", "x")
    place.ok("push", "-s", "new", "--create", "x")
    place.ok("push", "-s", "new", "x")
    place.ok("push", "x", env={"TIDINGS_SESSION": "exported"})
    place.event("session.closed", session="known", owner=os.getpid())
    place.ok("push", "-s", "known", "x")
    assert sorted(place.ok("status", "--names").text.split()) == ["exported", "known", "new"]


def test_session_mistyped_asking(place):
    """verbs that query or change waiting entries refuse an unknown session too; nothing is made, and the nearest names come first"""
    place.opened("known", cwd="/somewhere")
    for name in ("0", "5c1d2e9a-6f0b", "known-better"):
        place.ok("push", "-s", name, "x")
    page = os.path.join(place.dir, "page")
    for words in (["tail"], ["tail", "-f"], ["pending"], ["pending", "--preview", "tool-result"], ["history"], ["explain", "1"], ["queue"], ["queue", "clear"],
                  ["queue", "cancel", "m1"], ["status"], ["stats"], ["stats", "--prometheus"], ["export"], ["timeline", "-o", page], ["top"],
                  ["wait", "--alert"], ["config", "check"]):
        said = place.refused(words[0], "-s", "knwon", *words[1:], says="").said
        if words[0] != "top":  # top first checks that there is a terminal
            assert said.startswith(f"tidings {words[0]}: the store has no session 'knwon'. Did you mean 'known'? The sessions are:\n  known  ("), said
    assert not os.path.exists(page)
    said = place.refused("status", "-s", "5c1").said
    assert "Did you mean '5c1d2e9a-6f0b'? The sessions are:\n  5c1d2e9a-6f0b  (" in said, said
    assert "has no session 'another'. The sessions are:\n  known  (" in place.refused("status", "-s", "another").said
    assert sorted(place.ok("status", "--names").text.split()) == ["0", "5c1d2e9a-6f0b", "known", "known-better"]
    assert "session 'knwon' is new; did you mean 'known'?" in place.ok("deliver", "-s", "knwon", "--at", "tool-result", stdin="x").said
    assert not place.ok("deliver", "-s", "the script's", "--at", "tool-result", stdin="x").said


def test_session_none(place):
    """if no session can be chosen, the error lists the sessions, those of running hosts first"""
    place.refused("push", "x", says="the store has no session yet")
    place.opened("elsewhere", cwd="/somewhere")
    place.ok("push", "-s", "nobody's", "x")
    said = place.refused("push", "y", cwd=place.work, says=["no running session works in " + place.work, "The sessions are:"]).said
    assert said.index("elsewhere  (running, in /somewhere, of test)") < said.index("nobody's  (not running)"), said


def test_config(place):
    """config checks a file and names the wrong key, shows the effective configuration and prints the schema"""
    path = os.path.join(place.dir, "c.json")
    assert "the defaults are in force" in place.ok("config", "check").text
    for text, says in (('{"delivery": {"preset": "x"}}', "delivery.preset"), ('{"deliver": {}}', "deliver"), ("{", "not JSON"), ("[]", "is not an object"), ("", "is empty")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        place.refused("config", "check", path, says=[path, says])
        place.refused("push", "-s", "s", "--config", path, "x", says=path)
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"delivery": {"preset": "xml-batch", "max_items": 3}}')
    assert place.ok("config", "check", path).text == path + ": ok\n"
    shown = place.ok("config", "show", "--json", env={"TIDINGS_CONFIG": path}).json["config"]
    assert shown["delivery"]["format"] == "xml-batch" and shown["delivery"]["max_items"] == 3, shown
    place.ok("push", "-s", "s", "x")
    assert "<notifications" in place.ok("pending", "-s", "s", "--preview", "tool-result", "--config", path).text
    place.refused("config", "check", "/nowhere", says="/nowhere: No such file")
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "abi", "schema", "config.schema.json"), encoding="utf-8") as file:
        assert place.ok("config", "schema").text == file.read()
    for words, says in (([], "missing"), (["chekc"], "not one of check, show, schema"), (["show", "x"], "unexpected"), (["check", path, "--config", path], "twice")):
        place.refused("config", *words, code=2, says=says)


def test_config_default(place):
    """~/.config/tidings/config.json is read, but XDG_CONFIG_HOME takes precedence"""
    home = os.path.join(place.dir, ".config", "tidings")
    other = os.path.join(place.dir, "other", "tidings")
    for folder, most in ((home, 7), (other, 8)):
        os.makedirs(folder)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"delivery": {"max_items": most}}, file)
    assert place.ok("config", "show", "--json").json["config"]["delivery"]["max_items"] == 7
    assert place.ok("config", "show", "--json", env={"XDG_CONFIG_HOME": os.path.dirname(other)}).json["config"]["delivery"]["max_items"] == 8


if __name__ == "__main__":
    sys.exit(main(globals()))
