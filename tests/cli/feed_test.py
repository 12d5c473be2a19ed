#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings feed`: recipes turn the lines of other programs into notifications."""
import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import jsonschema

from kit import Skip, end, main, until

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
BUILTIN = os.path.join(SOURCE, "recipes", "builtin")
SAMPLES = os.path.join(SOURCE, "tests", "cli", "feed")


def lines(*documents):
    return "".join(json.dumps(document) + "\n" for document in documents)


def test_schema(_place):
    """each built-in recipe fits the schema of recipes"""
    with open(os.path.join(SOURCE, "recipes", "recipe.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in os.listdir(BUILTIN):
        with open(os.path.join(BUILTIN, name), encoding="utf-8") as file:
            jsonschema.validate(json.load(file), schema)


def test_samples(place):
    """each recipe of lines turns the samples of its source into the expected notifications"""
    stems = [name.removesuffix(".jsonl") for name in sorted(os.listdir(SAMPLES)) if name.endswith(".jsonl")]
    assert {"any", "docker", "journald", "kubernetes", "otel"} <= set(stems)
    for stem in stems:
        with open(os.path.join(SAMPLES, f"{stem}.jsonl"), "rb") as file:
            got = place.ok("feed", "--recipe", stem, "--try", stdin=file.read()).text
        with open(os.path.join(SAMPLES, f"{stem}.txt"), encoding="utf-8") as file:
            assert got == file.read(), (stem, got)


def test_pushes(place):
    """fed lines are stored with kind, level and id; repeated lines are recognized; the others are counted"""
    broken = {"_SYSTEMD_UNIT": "web.service", "PRIORITY": "3", "MESSAGE": "it broke", "__CURSOR": "c1"}
    text = lines(broken, {"PRIORITY": "6", "MESSAGE": "fine", "__CURSOR": "c2"}) + "{no json\n\n"
    result = place.ok("feed", "--recipe", "journald", "--to", "box:ops", stdin=text)
    assert "1 pushed, 0 known, 1 not of interest, 1 bad lines" in result.said, result
    again = place.ok("feed", "--recipe", "journald", "--to", "box:ops", stdin=text)
    assert "0 pushed, 1 known" in again.said, again
    [item] = place.pending("box:ops")
    assert item["kind"] == {"source": "journal", "name": "message"} and item["level"] == "error", item
    assert item["message"] == "web.service: it broke", item


def test_odd_ids(place):
    """a record is stored once whatever its id has: the lines of a stack trace, a control character, very many bytes"""
    texts = ["Traceback:\n  in main\nValueError", "long " * 1000]
    records = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"severityNumber": 17, "timeUnixNano": "1", "body": {"stringValue": text}} for text in texts]}]}]}
    for says in ("2 pushed, 0 known", "0 pushed, 2 known"):
        result = place.ok("feed", "--recipe", "otel", "--to", "box:ops", stdin=lines(records))
        assert says in result.said, result
    assert "1 pushed" in place.ok("feed", "--recipe", "any", "--to", "box:any", stdin=lines({"message": "m", "id": "a\x1fb"})).said
    assert [item["message"][:13] for item in place.pending("box:ops")] == ["ERROR: Traceb", "ERROR: long l"]


def test_burst(place):
    """a burst is limited to a number a minute, and one more line says how many are left out"""
    text = lines(*({"message": f"m{number}"} for number in range(100)))
    place.ok("feed", "--recipe", "any", "--to", "box:a", "--per-minute", "10", stdin=text)
    messages = place.messages("box:a")
    assert messages[:10] == [f"m{number}" for number in range(10)], messages
    assert messages[10:] == ["90 more notifications of `any` in the last minute are left out."], messages


def test_repeated_burst(place):
    """a source that is started again may repeat any number of lines: only new ones count as a burst"""
    words = ("feed", "--recipe", "any", "--to", "box:a")
    old = [{"message": f"line {number}", "id": str(number)} for number in range(40)]
    place.ok(*words, "--per-minute", "0", stdin=lines(*old))
    result = place.ok(*words, stdin=lines(*old, {"message": "a new line", "id": "new"}))
    assert "1 pushed, 40 known" in result.said, result
    assert place.messages("box:a")[40:] == ["a new line"]


def test_follows(place):
    """while a source continues, each line reaches the session in the folder at once; SIGTERM ends the command"""
    place.opened("s")
    feed = place.start("feed", "--recipe", "any", "--to", "folder:.", stdin=subprocess.PIPE)
    for number in range(3):
        feed.stdin.write(lines({"text": f"line {number}"}).encode())
        feed.stdin.flush()
        until(lambda count=number + 1: len(place.messages("s")) == count, "the line is there")
    assert end(feed, signal.SIGTERM) == 128 + signal.SIGTERM
    assert place.messages("s") == ["line 0", "line 1", "line 2"]


def test_forwarded_later(place):
    """a notification that a session cannot collect yet reaches it later, without another line; the reason is reported once"""
    host = place.start(command=["sleep", "600"])
    place.opened("s")
    box = f"folder:{place.work}"
    place.opened(box, cwd="/", owner=host.pid)
    feed = place.start("feed", "--recipe", "any", "--to", box, stdin=subprocess.PIPE)
    feed.stdin.write(lines({"text": "one"}).encode())
    feed.stdin.flush()
    said = feed.stderr.readline()
    assert f"it waits in {box}, and is tried again: " in said.decode(), said
    end(host, signal.SIGKILL)
    until(lambda: place.messages("s") == ["one"], "the session has it")
    assert end(feed, signal.SIGTERM) == 128 + signal.SIGTERM
    assert feed.stderr.read().count(b"\n") == 1, "the counts"


def small_limits(place):
    os.makedirs(os.path.join(place.dir, ".config", "tidings"))
    with open(os.path.join(place.dir, ".config", "tidings", "config.json"), "w", encoding="utf-8") as file:
        json.dump({"limits": {"pending_per_session": 2}}, file)


def read_all(place):
    return place.ok("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()), stdin="").text


def test_full_mailbox(place):
    """lines that neither the session nor the mailbox has room for reach the session as it reads, without a restart"""
    small_limits(place)
    place.opened("s")
    texts = [f"line {number}" for number in range(8)]
    feed = place.start("feed", "--recipe", "any", "--to", "folder:.", stdin=subprocess.PIPE)
    feed.stdin.write(lines(*({"text": text} for text in texts)).encode())
    feed.stdin.flush()
    assert b"is tried again" in feed.stderr.readline()
    seen = []

    def reads():
        seen.extend(re.findall("line [0-9]", read_all(place)))
        return len(seen) >= len(texts)

    until(reads, "all lines", 0.1)
    assert sorted(seen) == texts, seen
    assert end(feed, signal.SIGTERM) == 128 + signal.SIGTERM


def test_ended_while_full(place):
    """when a signal ends it while the mailbox is full, the session still gets what it has room for"""
    small_limits(place)
    place.opened("s")
    feed = place.start("feed", "--recipe", "any", "--to", "folder:.", stdin=subprocess.PIPE)
    feed.stdin.write(lines(*({"text": f"line {number}"} for number in range(8))).encode())
    feed.stdin.flush()
    assert b"is tried again" in feed.stderr.readline()
    before = place.messages("s") + place.messages(f"folder:{place.work}")
    read_all(place)
    assert end(feed, signal.SIGTERM)
    assert place.messages("s"), before


def test_ended_at_once(place):
    """a signal ends it while it works on lines that it has read, although its input stays open"""
    place.opened("s")
    feed = place.start("feed", "--recipe", "any", "--per-minute", "0", "--to", "session:s", stdin=subprocess.PIPE)
    feed.stdin.write(lines(*({"text": f"line {number}"} for number in range(2000))).encode())
    feed.stdin.flush()
    until(lambda: place.messages("s"), "the first line")
    assert end(feed, signal.SIGTERM) == 128 + signal.SIGTERM


def test_kept_lock(place):
    """while another process keeps the lock of the orders, a line that has an order waits, and says so"""
    path = os.path.join(place.dir, "recipe.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"kind": "a.b", "text": "{/text}", "key": "k", "order": "{/n}"}]}, file)
    words = ("feed", "--recipe", path, "--to", "box:a")
    place.ok(*words, stdin=lines({"text": "first", "n": 1}))
    with open(os.path.join(place.store, "recipes", "orders.lock"), "r+", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        feed = place.start(*words, stdin=subprocess.PIPE)
        feed.stdin.write(lines({"text": "second", "n": 2}).encode())
        feed.stdin.close()
        assert b"another process keeps recipes/orders.lock; it is tried again" in feed.stderr.readline()
    assert feed.wait() == 0 and place.messages("box:a")[-1] == "second"


def test_paths_of_recipe(place):
    """an id is known however the recipe's path is written; other recipes have ids of their own"""
    rules = {"rules": [{"kind": "a.b", "text": "{/text}", "id": "{/id}"}]}
    for name in ("one.json", "two.json"):
        with open(os.path.join(place.work, name), "w", encoding="utf-8") as file:
            json.dump(rules, file)
    for path, says in (("one.json", "1 pushed"), ("./one.json", "1 known"), (os.path.join(place.work, "one.json"), "1 known"), ("two.json", "1 pushed"), ("any", "1 pushed")):
        assert says in place.ok("feed", "--recipe", path, "--to", "box:a", stdin=lines({"text": "x", "id": "1"})).said, path


def test_odd_input(place):
    """odd input does no harm: an incomplete last line, a line that is too long, bytes that are no text, no line break"""
    text = b'{"message":"' + b"x" * (3 << 20) + b'"}\n' + b'{"message":"\xff"}\n' + b'{"message":"last"}'
    result = place.ok("feed", "--recipe", "any", "--to", "box:a", stdin=text)
    assert "2 bad lines" in result.said and place.messages("box:a") == ["last"], result


def test_wrong_line(place):
    """a line that breaks a limit of the store is named and counted, and those after it are pushed; an id may have any length"""
    path = os.path.join(place.dir, "recipe.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"kind": "a.{/name}", "text": "{/text}", "id": "{/id}"}]}, file)
    text = lines({"text": "first", "name": "n"}, {"text": "long id", "id": "y" * 3000, "name": "n"}, {"text": "x", "name": "n" * 5000}, {"text": "last", "name": "n"})
    result = place.ok("feed", "--recipe", path, "--to", "box:a", stdin=text)
    assert "line 3 became no notification: data.kind.name: 5000 bytes are over the limit of " in result.said, result
    assert "3 pushed, 0 known, 0 not of interest, 1 bad lines" in result.said and place.messages("box:a") == ["first", "long id", "last"], result


def test_long_key(place):
    """a key may have any length: it counts by its digest, so what has this key, and nothing else, is withdrawn"""
    path = os.path.join(place.dir, "recipe.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rules": [{"kind": "a.b", "text": "{/text}", "key": "{/key}", "withdraw-when": {"/over": True}}]}, file)
    rows = [{"text": "stays", "key": "k" * 5000}, {"text": "goes", "key": "l" * 5000}, {"text": "odd", "key": "a\x1fb"}]
    for more, count in (({}, 3), ({"over": 1}, 2)):
        result = place.ok("feed", "--recipe", path, "--to", "box:a", stdin=lines(*({**row, **more} for row in rows[-count:])))
        assert f"{count} pushed, 0 known, 0 not of interest, 0 bad lines" in result.said, result
    seen = place.ok("pending", "--preview", "tool-result", env={"TIDINGS_SESSION": "box:a"}).text
    assert "stays" in seen and "goes" not in seen and "odd" not in seen, seen


def test_long_text(place):
    """a line below 1 MiB is a notification, whose text is cut as any other long one, though its event would be over limits.event_bytes"""
    texts = ["t" * 300000, "\u00e4\x01\"" * 70000, "last"]
    result = place.ok("feed", "--recipe", "any", "--to", "box:a", stdin=lines(*({"text": text, "id": str(number)} for number, text in enumerate(texts))))
    assert "3 pushed, 0 known, 0 not of interest, 0 bad lines" in result.said, result
    result = place.ok("feed", "--recipe", "any", "--to", "box:a", stdin=lines({"text": texts[0], "id": "0"}))
    assert "0 pushed, 1 known" in result.said, result
    first, second, last = place.messages("box:a")
    assert first.startswith("t" * 16000) and second.startswith("\u00e4") and last == "last", (first[:40], second[:40], last)


def test_failed_unit(place):
    """the unit of systemd for OnFailure= pushes which unit failed, and how"""
    with open(os.path.join(SOURCE, "packaging", "systemd", "tidings-failed@.service"), encoding="utf-8") as file:
        [command] = [line.removeprefix("ExecStart=") for line in file.read().splitlines() if line.startswith("ExecStart=")]
    for status in ("1", "2"):
        values = {"TIDINGS_TO": "box:systemd", "MONITOR_SERVICE_RESULT": "exit-code", "MONITOR_EXIT_STATUS": status}
        words = [re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], word.replace("%i", "a b.service")) for word in shlex.split(command)]
        assert words[:2] == ["/usr/bin/env", "tidings"], words
        place.ok(*words[2:])
    items = place.pending("box:systemd")
    assert [item["message"] for item in items] == [f"The unit `a b.service` failed (exit-code {status})." for status in "12"], items
    assert {item["level"] for item in items} == {"error"}, items


def test_failing_disk(place):
    """whichever write of the store fails, a line is stored once, or the command fails"""
    if "TIDINGS_CLI_KILL_AT" not in os.environ:
        raise Skip("a library cannot be preloaded under this sanitizer")
    place.opened()
    number, failed = 0, True
    while failed:
        number += 1
        env = {"LD_PRELOAD": os.environ["TIDINGS_CLI_KILL_AT"], "FAIL_AT": str(number)}
        result = place.run("feed", "--recipe", "any", "--to", "session:s", stdin=lines({"message": f"line {number}", "id": str(number)}), env=env)
        stored, failed = place.messages().count(f"line {number}"), result.said.count("\n") > 1
        assert stored <= 1 and (stored or result.code), (number, stored, result)
    assert number > 2


def test_other_store(place):
    """when the store's folder is moved away, nothing more is read until there is another store, which then gets the lines"""
    place.opened()
    process = place.start("feed", "--recipe", "any", "--to", "session:s", stdin=subprocess.PIPE)
    process.stdin.write(lines({"message": "before"}).encode())
    process.stdin.flush()
    until(place.messages, "the first line", 0.1)
    os.rename(place.store, place.store + ".old")
    process.stdin.write(lines({"message": "after"}).encode())
    process.stdin.close()
    assert b"is gone; it is tried again" in process.stderr.readline()
    place.opened()
    assert process.wait() == 0 and place.messages() == ["after"]


def test_followed(place):
    """after /clear the lines reach the session that follows in the window, or their own one if that is resumed"""
    place.opened()
    process = place.start("feed", "--recipe", "any", "-s", "s", stdin=subprocess.PIPE)

    def reaches(session, word):
        process.stdin.write(lines({"message": word}).encode())
        process.stdin.flush()
        until(lambda: word in place.messages(session), f"{word} is there", 0.1)

    reaches("s", "one")
    place.followed()
    reaches("next", "two")
    place.followed("third", "next")
    reaches("third", "three")
    place.opened()
    reaches("s", "four")
    process.stdin.close()
    assert process.wait() == 0 and [place.messages(session) for session in ("s", "next", "third")] == [["one", "four"], ["two"], ["three"]]


def test_newer_store(place):
    """when a newer version has changed the store, the command fails, and takes no line for a wrong one"""
    place.opened()
    process = place.start("feed", "--recipe", "any", "--to", "session:s", stdin=subprocess.PIPE)
    process.stdin.write(lines({"message": "before"}).encode())
    process.stdin.flush()
    until(place.messages, "the first line", 0.1)
    place.trick("newer", place.store)
    process.stdin.write(lines({"message": "after"}).encode())
    process.stdin.close()
    said = process.stderr.read().decode()
    assert process.wait() == 1 and "0 bad lines" in said, said


def test_hung_up(place):
    """when its terminal is closed, it says how many notifications were left out, as with other signals"""
    place.opened()
    process = place.start("feed", "--recipe", "any", "--to", "session:s", "--per-minute", "1", stdin=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    process.stdin.write(lines(*({"message": f"line {i}"} for i in range(3))).encode())
    process.stdin.flush()

    def reads_again():
        with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
            return place.messages() and file.read().split()[0] in ("7", "73", "271")  # poll or ppoll, after the lines

    until(reads_again, "the lines", 0.1)
    assert end(process, signal.SIGHUP) == 128 + signal.SIGHUP
    assert place.messages() == ["line 0", "2 more notifications of `any` in the last minute are left out."]


def test_wrong(place):
    """a recipe with a mistake is refused with its line before anything is read"""
    path = os.path.join(place.dir, "bad.json")
    with open(path, "w", encoding="ascii") as file:
        file.write('{"rules": [\n  {"kind": "a.b",\n   "text": "{/x"}]}\n')
    place.refused("feed", "--recipe", path, "--to", "box:a", says=[path, "line 3", "rules[0].text"])
    place.refused("feed", "--recipe", "nonsense", "--to", "box:a", says=["cannot read the recipe 'nonsense'", "journald"])
    place.refused("feed", "--to", "box:a", code=2, says="--recipe is missing")
    place.refused("feed", "--recipe", "any", "--per-minute", "x", code=2, says="--per-minute")
    assert not os.path.exists(place.store)


if __name__ == "__main__":
    sys.exit(main(globals()))
