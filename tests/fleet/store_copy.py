# SPDX-License-Identifier: MIT
"""store_copy.py [STORE]: copies a store from a folder to a database and back, and from schema to schema: every query must return the same bytes, repeated ids must
be recognized, and hosts must be able to continue. An interrupted copy leaves nothing; a refused one says why and changes nothing.
"""
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

HOSTILE = ["\\.", "\\N\t\\x00\n\r\\", "'); DROP SCHEMA tidings CASCADE; --", "\u202e\u0007<system>&amp;\ufeff", "%s%n$1 \U0001f600", "x" * 60000]
OUTLINED = 140  # so many that a folder's store has a row that only it can use
SESSIONS = ["plain", "a'\"; DROP TABLE live; --", "ünï \\N {}", "closed", "pushed-only"]


def push(host, session, text, **data):
    extra = {key: data.pop(key) for key in ("id", "source") if key in data}
    host.call("event", event={"type": "notification", "session": session, **extra, "data": {"kind": "ci.failed", "level": "info", "message": text, **data}})


def deliver(host, session, call, outcome):
    answer = host.call("tool_result", session=session, call_id=call, tool="shell", content="ok")
    if outcome and "reply" in answer:
        host.call("settle", delivery=answer["reply"]["delivery"], outcome=outcome)


def fill(host):
    """Makes a store with rows of each kind. The host ends without closing it, so one delivery stays leased."""
    for session in SESSIONS[:-1]:
        host.event("session.opened", session)
    host.event("tools.declared", "plain", tool="ci", kinds=["failed", "passed"])
    for session in SESSIONS[:3]:
        for i, text in enumerate(HOSTILE):
            push(host, session, text, id=f"build-{i}", source="ci")
        deliver(host, session, "c1", "committed")
        push(host, session, "rolled back", id="build-7", source="ci", level="critical")
        deliver(host, session, "c2", "rolled_back")
        host.event("message.submitted", session, id="m1", content="a message that waits\n\\.")
        push(host, session, "leased", level="error")
    deliver(host, "plain", "c3", None)
    push(host, "closed", "before the end")
    host.event("session.closed", "closed")
    push(host, SESSIONS[-1], "nobody has opened this")
    for i in range(OUTLINED):
        push(host, SESSIONS[-1], f"one of many {i}")


def answers(store, outlines=0):
    """Returns the answers of all queries for all sessions. The rows of outlines do not count."""
    asked = {"check": json.loads(kit.tidings("store", "check", "-S", store, "--json").stdout)}
    for own in ("findings", "flushes", "layout"):  # these members depend on the engine
        asked["check"].pop(own, None)
    asked["check"]["rows"] -= outlines
    for session in SESSIONS:
        for verb in (["export"], ["pending", "--json"], *([["history", "--json"], ["queue", "--json"], ["log", "--json"]] if session == "plain" else [])):
            done = kit.tidings(*verb, "-S", store, "-s", session, check=False)
            asked[session, verb[0]] = (done.returncode, done.stdout)
    return asked


def copy(source, target, check=True):
    return kit.tidings("store", "copy", source, target, check=check)


def same(one, other, what):
    different = [key for key in one if one[key] != other[key]]
    expect(not different, f"{what}: all answers are the same: {different[:3]}")
    for key in different[:2]:
        print(f"# {key}: {str(one[key])[:600]}\n# and: {str(other[key])[:600]}")


def duplicate(store, session, name="build-7", source="ci"):
    producer = kit.Kit(store, role="producer")
    answer = producer.call("push", session=session, kind="ci.failed", message="again", source=source, id=name)
    producer.close()
    return answer["reply"]["duplicate"]


def check_round_trip(server, folder):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    if subprocess.run([sys.executable, __file__, first], check=False).returncode:
        raise SystemExit("the store cannot be filled")
    begin = answers(first, outlines=1)
    expect(any("build-7" in str(value) or "DROP SCHEMA" in str(value) for value in begin.values()), "the store has what is hostile")
    url, moved = server.url("moved"), server.url("again")
    done = copy(first, url)
    expect("each row was read back and is the same" in done.stdout and "5 sessions" in done.stdout, f"to a database: {done.stdout.strip()}")
    same(begin, answers(url), "to a database")
    expect(server.sql("SELECT count(*) FROM moved.history") != "0", "what has ended is history there")
    copy(url, moved)
    same(begin, answers(moved), "to another schema")
    done = copy(moved, second)
    expect("5 sessions" in done.stdout, f"back to a folder: {done.stdout.strip()}")
    same(begin, answers(second), "back to a folder")
    same(begin, answers(first, outlines=1), "the first one, as before")
    for store in (first, url, moved, second):
        expect(duplicate(store, "plain"), f"an id that was seen is seen in {store[:30]}")
    go_on(url, second)
    check_pushed_by_sql(server, folder, url)


def attach_again(host):
    host.event("session.opened", "plain")
    push(host, "plain", "after the copy")
    print(host.call("tool_result", session="plain", call_id="after", tool="shell", content="ok")["content"])
    host.close()


def go_on(*stores):
    """A host attaches to each store: the deliveries that its predecessor had leased are pending again, and both stores deliver the same."""
    shown = []
    for store in stores:
        done = subprocess.run([sys.executable, __file__, store, "again"], check=True, capture_output=True, text=True)
        shown.append(done.stdout)
    expect("after the copy" in shown[0] and "leased" in shown[0], "a host goes on with what was leased")
    expect(shown[0].split("\n")[1:] == shown[1].split("\n")[1:], f"both show the same: {shown[0][:80]}")


def check_pushed_by_sql(server, folder, url):
    """Tests a push that no host has seen, and its id, which only the database has."""
    server.sql("SELECT moved.push('plain', 'ci.failed', 'info', 'by SQL', id => 'sql-1', source => 'sql')")
    server.sql("SELECT moved.push('new by SQL', 'ci.failed', 'info', 'by SQL', id => 'sql-2', source => 'sql')")
    target = os.path.join(folder, "third")
    copy(url, target)
    done = kit.tidings("pending", "-S", target, "-s", "new by SQL")
    expect("by SQL" in done.stdout, "what only the inbox had is copied")
    for session, name in (("plain", "sql-1"), ("new by SQL", "sql-2")):
        expect(duplicate(target, session, name, "sql"), f"and so is its id {name}")


def damage_row(path, text):
    """Changes the text in the page that is in use, and in those that are not. A page of the newest commit may have it in the gap between its rows, where
    older bytes are: then its commit would be damaged, so the pages are changed one by one."""
    with open(path, "r+b") as file:
        pages = file.read()
        ones = (pages[:found.start()] + text.upper() + pages[found.end():] for found in re.finditer(text, pages))
        for changed in itertools.chain([pages.replace(text, text.upper())], ones):
            file.seek(0)
            file.write(changed)
            file.flush()
            checked = kit.tidings("store", "check", os.path.dirname(path), check=False)
            if "has a wrong checksum" in checked.stdout + checked.stderr:
                return
    raise SystemExit("no page in use has the text")


def check_refused(server, folder):
    first = os.path.join(folder, "first")
    full = server.url("moved")

    def refused(source, target, words, what):
        done = copy(source, target, check=False)
        expect(done.returncode == 1 and words in done.stderr and "password" not in done.stderr, f"{what}: {done.stderr.strip()}")

    refused(first, full, "is not empty", "a database that has sessions")
    refused(full, os.path.join(folder, "second"), "is not empty", "a folder that has a store")
    refused(os.path.join(folder, "absent"), server.url("none"), "there is no such folder", "no folder")
    refused(server.url("absent"), os.path.join(folder, "none"), "the schema is not", "no schema")
    damaged = os.path.join(folder, "damaged")
    shutil.copytree(first, damaged)
    damage_row(os.path.join(damaged, "data.mdb"), b"nobody has opened this")
    refused(damaged, server.url("none"), "1 rows have a wrong checksum; make it anew with 'tidings store salvage' first", "a store with a damaged row")
    for source, target in ((first, server.url("none")), (full, os.path.join(folder, "none"))):
        host = kit.Worker("host.py", source, "plain", os.path.join(folder, "transcript"))
        kit.wait_for(lambda host=host: any(words[0] == "resumed" for words in host.read()), "a host")
        refused(source, target, "is in use", "a store that a host uses")
        host.kill()
    expect(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'none'") == "0" and not os.path.exists(os.path.join(folder, "none")), "nothing was made")
    row = "WHERE (session, kind, n) = (SELECT session, kind, n FROM moved.live WHERE kind = 4 ORDER BY session LIMIT 1)"
    server.sql(f"UPDATE moved.live SET value = value || '\\x00' {row}")
    refused(full, os.path.join(folder, "none"), "wrong checksum (kind 4", "a database with a damaged row")
    server.sql(f"UPDATE moved.live SET value = substr(value, 1, length(value) - 1) {row}")
    kit.make_store(server, "numbers")
    for change, words in (("UPDATE numbers.store SET schema = 2, revision = 2", "'tidings store upgrade URL'"), ("UPDATE numbers.store SET schema = 99", "use a newer tidings"),
                          ("DELETE FROM numbers.store", "the schema is no store's")):
        server.sql(change)
        refused(server.url("numbers"), os.path.join(folder, "none"), words, f"after {change}")
    for words, instead in ((("backup", "-S", full), "pg_dump"), (("salvage", full), "the backup of its server"), (("migrate", full), "'tidings store upgrade URL'")):
        done = kit.tidings("store", *words, os.path.join(folder, "none"), check=False)
        expect(done.returncode == 1 and f"is in a database: use {instead}" in done.stderr, f"{words[0]} of a database: {done.stderr.strip()}")
        expect(not os.path.exists(os.path.join(folder, "none")), "nothing was made")
    kit.make_store(server, "empty")
    server.sql("SELECT empty.keep_days(30)")
    copy(first, server.url("empty"))
    expect(server.sql("SELECT count(*) FROM empty.session") != "1", "a store without a session takes a copy")


def check_interrupted(server, folder):
    """The server lets the copy wait after its rows were sent; then the copy is killed."""
    server.sql("CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$")
    kit.make_store(server, "held")
    server.sql("CREATE TRIGGER hold AFTER UPDATE ON held.session FOR EACH STATEMENT EXECUTE FUNCTION public.hold()")
    lock = subprocess.Popen([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", "fleet", "-d", "fleet"], stdin=subprocess.PIPE, text=True)
    lock.stdin.write("SELECT pg_advisory_lock(42);\n")
    lock.stdin.flush()
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND {} granted"

    def until(text, wanted):
        deadline = time.monotonic() + 120
        while server.sql(text) != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        return server.sql(text) == wanted

    expect(until(waiting.format(""), "1"), "the lock is held")
    command = subprocess.Popen([kit.TIDINGS, "store", "copy", os.path.join(folder, "first"), server.url("held")], stdout=subprocess.DEVNULL)
    expect(until(waiting.format("NOT"), "1"), "the copy waits")
    command.send_signal(signal.SIGKILL)
    command.wait(120)
    lock.stdin.close()
    lock.wait(120)
    expect(until("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidings store'", "0"), "its connection is gone")
    expect(server.sql("SELECT count(*) FROM held.session") == "1" and server.sql("SELECT count(*) FROM held.live") == "0", "nothing is there")
    server.sql("DROP TRIGGER hold ON held.session")
    copy(os.path.join(folder, "first"), server.url("held"))
    expect(server.sql("SELECT count(*) FROM held.live") != "0", "the next one is whole")


def main():
    folder = tempfile.mkdtemp(prefix="tidings-copy-")
    try:
        with kit.Server() as server:
            check_round_trip(server, folder)
            check_refused(server, folder)
            check_interrupted(server, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"# sum: copies: {len(failures)} failures")
    return bool(failures)


if len(sys.argv) > 2:
    attach_again(kit.Kit(sys.argv[1]))
    sys.exit(0)
if len(sys.argv) > 1:
    fill(kit.Kit(sys.argv[1]))
    os._exit(0)
sys.exit(main())
