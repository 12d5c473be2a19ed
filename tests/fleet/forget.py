# SPDX-License-Identifier: MIT
"""forget.py: tests that a session is forgotten, by the command and by SQL: completely and without any row of another session, in portions, and not
while its host lives. A client that knows its number starts again. Sessions that were closed a day ago are removed too.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

NOW_MS = "floor(extract(epoch FROM now()) * 1000)::bigint"
TABLES = (("live", "value"), ("history", "value"), ("inbox", "body"), ("dead_letter", "body"), ("seen", "''::bytea"), ("rate", "''::bytea"), ("session", "''::bytea"))


def words(server):
    """Returns the content of all tables as text."""
    return "".join(server.sql(f"SELECT coalesce(string_agg(t::text || encode({column}, 'escape'), ''), '') FROM tidings.{table} AS t") for table, column in TABLES)


def show(host, session, text):
    host.call("push", session=session, kind="ci.failed", message=text, id=text)
    answer = host.call("tool_result", session=session, call_id="c", tool="shell", content="x")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    return answer["content"]


def live(host, session, text):
    """Makes a closed session with rows of each kind, and with a push that no host has taken."""
    host.event("session.opened", session)
    for number in range(20):
        show(host, session, f"{text}{number}")
    host.event("session.closed", session)
    host.call("push", session=session, kind="ci.failed", message=f"{text} waits", id=f"{text}w")


def check_command(server, url):
    host = kit.Kit(url)
    live(host, "secret", "hunter")
    live(host, "beside", "neighbour")
    beside = words(server).count("neighbour")
    server.sql(f"INSERT INTO tidings.dead_letter SELECT name, 0, now(), now(), 'x', body FROM tidings.inbox WHERE name = 'secret'; INSERT INTO tidings.rate VALUES ('secret', 'ci', {NOW_MS}, 1)")
    counted = kit.tidings("store", "forget", "-S", url, "-s", "secret", "--dry-run").stdout
    expect(words(server).count("hunter") > 20, "--dry-run does nothing")
    gone = kit.tidings("store", "forget", "-S", url, "-s", "secret").stdout
    expect("22 notifications, " in gone and gone.replace("gone", "would go") == counted, f"it says what has gone: {gone.strip()}; {counted.strip()}")
    left = words(server)
    expect("hunter" not in left and "secret" not in left, "nothing of it is left")
    expect(left.count("neighbour") == beside, "and all of another")
    again = kit.tidings("store", "forget", "-S", url, "-s", "secret", check=False)
    expect("TIDINGS_E_NOT_FOUND" in again.stderr, f"a second time: {again.stderr.strip()}")
    for task in (["forget", "-S", server.url("absent"), "-s", "secret"], ["copy", server.url("absent"), server.url("another")]):
        absent = kit.tidings("store", *task, check=False).stderr
        expect("TIDINGS_E_NOT_FOUND" in absent, f"{task[0]} of a store that is not there: {absent.strip()}")
    host.event("session.opened", "beside")
    host.event("session.opened", "secret")  # this process knows the name and the number
    shown = show(host, "secret", "hunter1")
    expect("hunter1" in shown and "waits" not in shown, "a later session of the name begins with nothing, not even an id that it has seen")
    stats = kit.tidings("stats", "-S", url, "-s", "secret").stdout
    expect("pushed    1\n" in stats, f"and counts anew: {stats!r}")
    other = kit.tidings("push", "-S", url, "-s", "secret", "x", check=False)
    expect(not other.returncode, f"another client pushes to it: {other.stderr}")
    host.close()


def check_owned(server, url):
    """A session is not forgotten while its host lives, on any machine; a host that has ended does not prevent it."""
    host = kit.Asked(url, before=kit.apart() or ())
    host.event("session.opened", "owned")
    for dry in ((), ("--dry-run",)):
        refused = kit.tidings("store", "forget", "-S", url, "-s", "owned", *dry, check=False)
        expect("TIDINGS_E_STATE" in refused.stderr and "has a host that runs, pid" in refused.stderr, f"a session with a host: {refused.stderr.strip()}")
    sql = server.sql("SELECT tidings.forget('owned')", check=False)
    expect(sql == "" and server.sql("SELECT count(*) FROM tidings.session WHERE name = 'owned'") == "1", "by SQL neither")
    host.end()
    kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'tidings alive%'") == "0", "the host's connections to end")
    gone = kit.tidings("store", "forget", "-S", url, "-s", "owned", check=False)
    expect(not gone.returncode, f"of a dead host: {gone.stdout.strip()} {gone.stderr.strip()}")
    expect(server.sql("SELECT count(*) FROM tidings.session WHERE name = 'owned'") == "0", "its name is gone")


def check_portions(server, url):
    """A long history is forgotten in many short transactions, so that other clients wait only for one of them. A host that opens the session
    meanwhile keeps its waiting notifications."""
    host = kit.Kit(url)
    live(host, "long", "story")
    host.close()
    fill = "INSERT INTO tidings.history (session, kind, n, day, value) SELECT session, 4, g - 9000000000000000000, current_date - g % 2, '' FROM tidings.session, generate_series(1, 12000) g WHERE name = 'long'"
    server.sql(f"{fill}; INSERT INTO tidings.seen SELECT 'long', '', 'many' || g, {NOW_MS}, now() + interval '1 day' FROM generate_series(1, 7000) g")
    first = server.sql("SELECT done, notifications FROM tidings.forget_some('long', 5000, NULL)")
    expect(first == "f|5000", f"a portion is no more than was asked for: {first}")
    expect(server.sql("SELECT count(*) FROM tidings.inbox WHERE name = 'long'") == "1", "and takes nothing that waits")
    host = kit.Kit(url)
    host.event("session.opened", "long")
    refused = server.sql("SELECT FROM tidings.forget_some('long', 5000, NULL)", check=False)
    answer = host.call("tool_result", session="long", call_id="c", tool="shell", content="x")
    expect(refused == "" and "story waits" in answer["content"], "a host that opens it between two portions is shown what waits")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    host.event("session.closed", "long")
    host.close()
    before = int(server.sql("SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '%forget_some%'"))
    kit.tidings("store", "forget", "-S", url, "-s", "long")
    calls = int(server.sql("SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '%forget_some%'")) - before
    expect(calls >= 3 and "story" not in words(server), f"the rest of 19,000 rows goes in {calls} transactions")
    server.sql("SELECT tidings.push('never-opened', 'ci.failed', 'info', 'x')")
    expect(server.sql("SELECT tidings.forget('never-opened'), tidings.forget('never-opened')") == "t|f", "by SQL, also of a session that nobody has opened")


def check_colliding(server, url):
    """If another name of the same hash comes after this one, only this one's row stays, so that the other one is found."""
    host = kit.Kit(url)
    live(host, "first", "hash")
    server.sql("INSERT INTO tidings.live SELECT 0, 2, n + 1, '\\x00' FROM tidings.live WHERE session = 0 AND kind = 2 AND position('first'::bytea IN value) > 0")
    kit.tidings("store", "forget", "-S", url, "-s", "first")
    expect("hash" not in words(server).replace("hash_", ""), "nothing but its name is left")
    host.event("session.opened", "first")
    expect("again" in show(host, "first", "again"), "and it can be used again")
    host.close()


def check_closed(server, url):
    """The name and the head of a session that was closed a day ago go as well; in upgraded tables, whose older clients remember numbers, they stay."""
    host = kit.Kit(url)
    keep = "UPDATE tidings.session SET closed_ms = closed_ms - 86400001 WHERE closed_ms > 0; SELECT tidings.keep_days(30)"
    for schema, left in ((2, "1"), (4, "0")):
        host.event("session.opened", "old")
        show(host, "old", f"before{schema}")
        host.event("session.closed", "old")
        server.sql(f"UPDATE tidings.store SET schema = {schema}; {keep}")
        rows = server.sql("SELECT count(*) FROM tidings.session WHERE name = 'old'"), server.sql("SELECT count(*) FROM tidings.live WHERE session = 0 AND position('old'::bytea IN value) > 0")
        expect(rows == (left, left), f"a closed session, a day later, in tables of number {schema}: {rows}")
    host.event("session.opened", "old")
    expect("after" in show(host, "old", "after"), "it is opened again")
    host.close()


def main():
    with kit.Server(shared_preload_libraries="pg_stat_statements", **kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE EXTENSION pg_stat_statements")
        check_command(server, url)
        check_owned(server, url)
        check_portions(server, url)
        check_colliding(server, url)
        check_closed(server, url)
    print(f"# sum: forget: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
