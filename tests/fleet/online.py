# SPDX-License-Identifier: MIT
"""online.py: tests that a long read of the history delays no other client: the partitions of days are made beside it, and an upgrade waits for it without making others
wait. Today's build uses tables of the previous number, and builds of that number use upgraded tables.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

BUDGET_MS = 5000
DAYS = "SELECT count(*) FROM pg_inherits WHERE inhparent = '{}.history'::regclass"
COLUMNS = "SELECT string_agg(attname || ' ' || atttypid, ',' ORDER BY attname) FROM pg_attribute WHERE attrelid = '{}'::regclass AND attnum > 0 AND NOT attisdropped"
FUNCTIONS = "SELECT string_agg(proname || md5(replace(replace(prosrc, 'tidings', ''), 'older', '')), ',' ORDER BY proname) FROM pg_proc WHERE pronamespace = '{0}'::regnamespace"


def work(url, session, rounds=80):
    """Does a host's work of a day; enough rows end to become history."""
    host = kit.Kit(url, budget_ms=BUDGET_MS)
    host.event("session.opened", session)
    for number in range(rounds):
        host.call("push", session=session, kind="ci.failed", message=f"number {number}")
        answer = host.call("tool_result", session=session, call_id=f"c{number}", tool="shell", content="x")
        if f"number {number}" not in answer["content"]:
            expect(False, f"{session}: {number} is shown")
        host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    host.event("session.closed", session)
    host.close()


def check_midnight(server, url):
    """A client reads the history, and there is no partition for today."""
    work(url, "before")
    server.sql("DO $$ DECLARE part record; BEGIN FOR part IN SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = 'tidings.history'::regclass LOOP "
               "EXECUTE 'DROP TABLE ' || part.name; END LOOP; END $$; SELECT tidings.make_day(current_date - 40)")
    reader = kit.Sql(server, "reader")
    reader.say("BEGIN; SELECT count(*) FROM tidings.history;", kit.BEGUN)
    for number in range(4):
        work(url, f"midnight-{number}")
    kit.wait_for(lambda: server.sql(DAYS.format("tidings")) == "10", "days from yesterday to a week from now, beside the old one")
    work(url, "after")
    expect(server.sql("SELECT count(*) > 0 FROM tidings.history") == "t", "what ends goes to its day")
    old = "SELECT to_regclass('tidings.history_' || to_char(current_date - 40, 'YYYYMMDD')) IS NOT NULL"
    expect(server.sql("SELECT tidings.keep_days(30); " + old) == "t", "the old day stays while somebody reads it")
    expect(reader.end() == 0, "who reads was not disturbed")
    server.sql("SELECT tidings.keep_days(30)")
    expect(server.sql(old) == "f", "and goes then")
    server.sql("UPDATE tidings.store SET history_days = 5; SELECT tidings.make_day(current_date - 6), tidings.make_day(current_date - 5); SELECT tidings.keep_days(30)")
    kept = server.sql("SELECT to_regclass('tidings.history_' || to_char(current_date - n, 'YYYYMMDD')) IS NOT NULL FROM generate_series(5, 6) AS n ORDER BY n")
    expect(kept == "t\nf", f"history is kept for as many days as the store's settings say: {kept!r}")
    server.sql("UPDATE tidings.store SET history_days = 30")


def make_old(server, schema):
    """Makes the tables of an earlier build (schema_2.sql)."""
    with open(os.path.join(os.path.dirname(__file__), "schema_2.sql"), encoding="utf-8") as file:
        server.sql("BEGIN; " + file.read().replace("@schema@", schema) + "COMMIT")
    return server.url(schema)


def check_older_tables(server):
    """Tests today's build on the tables of an earlier number."""
    url = make_old(server, "older")
    work(url, "s")
    kit.tidings("push", "-S", url, "-s", "s", "before the upgrade")
    expect(server.sql("SELECT count(*) > 0 FROM older.history") == "t", "tables of the number before are used as they are")
    server.sql("INSERT INTO older.history SELECT 99, 4, n, current_date - 2, '\\x00' FROM generate_series(1, 20) n")
    expect(server.sql("SELECT count(*) FROM older.history_other") == "20", "rows without a day of their own")
    return url


def head_after_a_declined_turn(server, schema):
    """Returns the number of bytes of the session's head."""
    host = kit.Kit(server.url(schema), budget_ms=BUDGET_MS)
    host.event("session.opened", "late")
    host.call("event", event={"type": "notification", "session": "late", "data": {"kind": "a.b", "message": "x", "activation": "idle"}})
    host.event("turn.declined", "late")
    host.close()
    return int(server.sql(f"SELECT octet_length(value) FROM {schema}.live JOIN {schema}.session s USING (session) WHERE kind = 3 AND s.name = 'late'"))


def check_older_heads(server):
    """In tables that an older build may use, a head does not have the time of the last request for a turn, because such a build would call it damaged."""
    older, newer = head_after_a_declined_turn(server, "older"), head_after_a_declined_turn(server, "tidings")
    expect(older + 5 <= newer, f"it is not in tables that such a build may use: {older} bytes, {newer} in new tables")


def check_upgrade(server, url):
    """An upgrade beside a reader waits, and no client waits for it."""
    host = kit.Kit(url, budget_ms=BUDGET_MS)
    host.event("session.opened", "meanwhile")
    reader = kit.Sql(server, "reader")
    reader.say("BEGIN; SELECT count(*) FROM older.history;", kit.BEGUN)
    upgrade = subprocess.Popen([kit.TIDINGS, "store", "upgrade", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_attribute WHERE attrelid = 'older.store'::regclass AND attname = 'revision'") == "1", "the upgrade has begun")
    for number in range(20):
        if number % 5 == 0:
            kit.tidings("push", "-S", url, "-s", "meanwhile", "from another process")
        host.call("push", session="meanwhile", kind="ci.failed", message=f"number {number}")
        answer = host.call("tool_result", session="meanwhile", call_id=f"c{number}", tool="shell", content="x")
        host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    expect(upgrade.poll() is None, "it waits for who reads the history; twenty deliveries did not wait for it")
    expect(reader.end() == 0, "who reads was not disturbed")
    words = upgrade.communicate(timeout=120)[1]
    expect(upgrade.returncode == 0, f"then it is done {words}")
    expect(server.sql("SELECT to_regclass('older.history_other') IS NULL AND (SELECT count(*) = 20 FROM older.history WHERE session = 99)") == "t", "each row has a day")
    for table in ("store", "session", "live", "history", "inbox", "seen", "rate", "waiter"):
        expect(server.sql(COLUMNS.format(f"tidings.{table}")) == server.sql(COLUMNS.format(f"older.{table}")), f"its table {table} is that of a new one")
    new, upgraded = (set(server.sql(FUNCTIONS.format(schema)).split(",")) for schema in ("tidings", "older"))
    expect(new == upgraded, f"and its functions are {sorted(new ^ upgraded)}")
    content = host.call("tool_result", session="meanwhile", call_id="last", tool="shell", content="x")["content"]
    expect(content == "x", "a host of before goes on")
    host.close()


def check_nothing_to_do(server, url):
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; LOCK TABLE older.history, older.session, older.inbox;", kit.BEGUN)
    expect(kit.tidings("store", "upgrade", url, check=False).returncode == 0, "up to date: no table is touched")
    expect(holder.end() == 0, "whoever has them")


def check_gives_up(server):
    """An upgrade does not wait for ever: its completed steps stay, and its error names the client that it waits for."""
    url = make_old(server, "held")
    reader = kit.Sql(server, "someone")
    reader.say("BEGIN; SELECT count(*) FROM held.history;", kit.BEGUN)
    done = kit.tidings("store", "upgrade", url, check=False)
    expect(done.returncode and "of someone" in done.stderr and "run this again" in done.stderr, f"it gives up: {done.stderr.strip()}")
    reader.end()
    expect(kit.tidings("store", "upgrade", url, check=False).returncode == 0, "and goes on later")


def check_older_build(server):
    """Upgraded tables have everything that a build of the number before reads: its number, its days, and the tables for ended rows."""
    expect(server.sql("SELECT schema FROM older.store") == "2", "a build of the number before finds its number")
    keep = ("SELECT older.keep_days(30) WHERE to_regclass('older.history_' || to_char(current_date + 1, 'YYYYMMDD')) IS NULL OR EXISTS (SELECT FROM older.session "
            "WHERE closed_ms > 0 AND closed_ms < floor(extract(epoch FROM now()) * 1000)::bigint - 86400000) OR EXISTS (SELECT FROM older.seen WHERE until < now() - interval '1 day')")
    server.sql(keep)
    for zone in ("Pacific/Honolulu", "Pacific/Auckland"):
        server.sql(f"SET timezone = '{zone}'; INSERT INTO older.history (session, kind, n, value) VALUES (98, 4, {len(zone)}, '\\x00')")
    expect(server.sql("SELECT count(*) FROM older.history WHERE session = 98") == "2", "a day for each time zone")


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        check_midnight(server, url)
        older = check_older_tables(server)
        check_older_heads(server)
        check_upgrade(server, older)
        check_nothing_to_do(server, older)
        check_older_build(server)
        check_gives_up(server)
    print(f"# sum: online: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
