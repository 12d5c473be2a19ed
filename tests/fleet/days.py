# SPDX-License-Identifier: MIT
"""days.py: tests the daily work: it removes the rows of closed sessions, ids and counters, keeps everything that is in use, and lets no client
wait."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

KEEP = "SELECT tidings.keep_days(30)"
A_DAY_LATER = "UPDATE tidings.session SET closed_ms = closed_ms - 86400001 WHERE closed_ms > 0; " + KEEP
NOW_MS = "floor(extract(epoch FROM now()) * 1000)::bigint"
NOTHING = "0|0"


def rows(server, session):
    """Counts the live rows, without the head, and those of history."""
    return server.sql(f"SELECT (SELECT count(*) FROM tidings.live JOIN tidings.session USING (session) WHERE name = '{session}' AND kind <> 3), "
                      f"(SELECT count(*) FROM tidings.history JOIN tidings.session USING (session) WHERE name = '{session}')")


def show(host, session, call):
    host.call("push", session=session, kind="ci.failed", message=f"for {call}")
    answer = host.call("tool_result", session=session, call_id=call, tool="shell", content="x")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    return answer


def work(host, session, closes=True):
    host.event("session.opened", session)
    answer = show(host, session, "c1")
    if closes:
        host.event("session.closed", session)
    return answer["reply"]["delivery"]


def check_closed(server, host):
    """The rows of a closed session are removed a day later, as in a folder, except its name and its head."""
    shown = [work(host, "closed"), work(host, "open", closes=False)]
    work(host, "pushed")
    server.sql(KEEP)
    expect(rows(server, "closed") != NOTHING, "its rows are there on the day it was closed")
    server.sql("SELECT tidings.push('pushed', 'ci.failed', 'info', 'nobody has seen this')")
    server.sql(A_DAY_LATER)
    expect(rows(server, "closed") == NOTHING, "and gone a day later")
    expect(rows(server, "open") != NOTHING, "those of an open one stay")
    expect(rows(server, "pushed") != NOTHING, "and those of one to which something was pushed")
    expect(server.sql(f"SELECT closed_ms > {NOW_MS} - 86400000 FROM tidings.session WHERE name = 'pushed'") == "t", "which is looked at again a day later")
    host.event("session.opened", "closed")
    answer = show(host, "closed", "c2")
    expect("for c2" in answer["content"] and answer["reply"]["delivery"] not in shown, "it can be opened again, and no id is given out twice")


def check_older_client(server, host):
    """A process of schema 1 that is still connected opens a closed session again, without writing closed_ms."""
    changed = {"reopened": "version = version + 1", "owned": "owner = '\\x01'", "waiting": "waiting = 1"}
    for session, what in changed.items():
        work(host, session)
        server.sql(f"UPDATE tidings.session SET {what} WHERE name = '{session}'")
    server.sql(A_DAY_LATER)
    for session, what in changed.items():
        expect(rows(server, session) != NOTHING, f"rows stay: it was closed, and then {what}")
    work(host, "reopened")
    server.sql(A_DAY_LATER)
    expect(rows(server, "reopened") == NOTHING, "they go when it was closed again")


def make_old(server, count, above=5000):
    server.sql(f"INSERT INTO tidings.session (session, name, version, closed_ms, closed_version) SELECT {above} + g, 'old-{above}-' || g, 1, 1, 1 "
               f"FROM generate_series(1, {count}) g; INSERT INTO tidings.live SELECT {above} + g, 4, 1, '\\x00' FROM generate_series(1, {count}) g")
    return lambda: int(server.sql(f"SELECT count(*) FROM tidings.live WHERE session BETWEEN {above + 1} AND {above + count}"))


def check_portions(server):
    """Each call removes a hundred sessions; the next client that opens the store continues. Only one client at a time does this, and the others do not wait
    for it."""
    left = make_old(server, 250)
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; SELECT FROM tidings.store FOR UPDATE;", kit.BEGUN)
    expect(server.sql("SET lock_timeout = '60s'; SELECT 'goes on' FROM tidings.keep_days(30)", check=False) == "goes on", "another client is at it: this one goes on")
    expect(left() == 250, "and leaves it to that")
    expect(holder.end() == 0, "which ends")
    server.sql(KEEP)
    expect(left() == 150, "a hundred go")
    for count in (50, 0):
        kit.tidings("sessions", "-S", server.url())
        kit.wait_for(lambda most=count: left() <= most, "the server drops what the client has sent it for when it closed the store")
        expect(left() == count, f"the next client that opens the store: {left()} are left, {count} expected")
    server.sql("INSERT INTO tidings.seen SELECT 'gone', '', g, 0, now() - interval '2 days' FROM generate_series(1, 10001) g; " + KEEP)
    ids = "SELECT count(*) FROM tidings.seen WHERE name = 'gone'"
    expect(server.sql(ids) == "1", "ten thousand ids go")
    kit.tidings("sessions", "-S", server.url())
    kit.wait_for(lambda: server.sql(ids) == "0", "the rest goes")


def check_long(server, url):
    """A client that stays does the work once an hour, beside its calls: it takes its connection back, and does the work again an hour later."""
    left, hours = make_old(server, 200, above=7000), os.path.join(server.folder, "hours")
    host = kit.Asked(url, {"LD_PRELOAD": os.path.join(kit.BUILD, "tests/fleet-clock-off.so"), "TIDINGS_TEST_HOURS": hours})
    expect("reply" in host.event("session.opened", "long"), "a client opens a session")
    expect(left() == 200, "it has just come")
    for count in (100, 0):
        with open(hours, "ab") as file:
            file.write(b"h")
        kit.wait_for(lambda most=count: "reply" in host.event("wake", "long") and left() <= most, "the client sends the work beside its calls")
        expect(left() == count, f"an hour later: {left()} are left, {count} expected")
    host.end()


def check_order(server):
    """While a push is being stored, its counter and its id are locked: the daily work does not wait for them, and leaves these two."""
    server.sql("INSERT INTO tidings.rate VALUES ('order', 'ci', 0, 1), ('other', 'ci', 0, 1); INSERT INTO tidings.seen VALUES ('order', '', 'once', 0, now() - interval '1 hour')")
    push = f"SELECT tidings.push_record('order', '', '%s', '\\x01', {NOW_MS}, 86400000, 10000, false, 'ci', 10, false, '', 'x');"
    pusher = kit.Sql(server, "pusher")
    pusher.say(f"BEGIN; {push % ''} {push % 'once'}", kit.BEGUN)
    server.sql(KEEP)
    expect(server.sql("SELECT count(*) FROM tidings.rate WHERE name = 'other'") == "0", "an old counter goes beside a push that is stored just now")
    expect(pusher.end("COMMIT;") == 0, "which is stored")
    left = server.sql("SELECT (SELECT count(*) FROM tidings.inbox WHERE name = 'order'), (SELECT count(*) FROM tidings.rate WHERE name = 'order'), (SELECT count(*) FROM tidings.seen WHERE name = 'order')")
    expect(left == "2|1|1", f"with its counter and its id: {left}")


def check_ids(server, host):
    """The ids of a closed session are forgotten when the time for recognizing duplicates has passed, which a host's configuration sets."""
    work(host, "ids")
    for name, ago, left in (("a year", 2, 363), ("yesterday", 2, -1), ("meanwhile", 0, 1)):
        server.sql(f"INSERT INTO tidings.seen VALUES ('ids', '', '{name}', {NOW_MS} - {ago} * 86400000, now() + {left} * interval '1 day')")
    server.sql(A_DAY_LATER)
    ids = server.sql("SELECT string_agg(id, ',' ORDER BY id) FROM tidings.seen WHERE name = 'ids'")
    expect(rows(server, "ids") == NOTHING and ids == "a year,meanwhile", f"a closed session's ids stay as long as they count: {ids}")


def pushed_for(host, session, message, due_in_ms, **data):
    due = {} if due_in_ms is None else {"due_at": int(time.time() * 1000) + due_in_ms}
    host.call("event", event={"type": "notification", "session": session, "data": {"kind": "a.b", "message": message, **due, **data}})


def check_due(server, producer):
    """The ttl of a push, and the days that it waits for a host, begin when it is due."""
    pushed_for(producer, "lonely", "at once", None, ttl_ms=1)
    pushed_for(producer, "lonely", "in three days", 3 * 86400000, ttl_ms=1)
    pushed_for(producer, "lonely", "an hour ago", -3600000, ttl_ms=1)
    pushed_for(producer, "lonely", "without a ttl", None)
    ended = "SELECT string_agg(message, ', ' ORDER BY n) FROM tidings.dead_letter, tidings.record_read(body) WHERE name = 'lonely'"
    server.sql("UPDATE tidings.inbox SET pushed = pushed - interval '11 minutes' WHERE name = 'lonely'; " + KEEP)
    expect(server.sql(ended) == "at once, an hour ago", f"a ttl ends pushes that are due: {server.sql(ended)}")
    server.sql("UPDATE tidings.inbox SET pushed = pushed - interval '31 days' WHERE name = 'lonely'; " + KEEP)
    expect(server.sql(ended) == "at once, an hour ago, without a ttl", f"and so do the days: {server.sql(ended)}")
    listed = server.sql("SELECT string_agg(reason || coalesce(' ' || (due < now())::text, ''), ', ' ORDER BY message) FROM tidings.dead_letters WHERE session = 'lonely'")
    expect(listed == "its ttl was over true, its ttl was over, nobody took it", f"the view lists what was for a time too: {listed}")


def check_looked_at(server, host, url):
    """Queries read the pushes to sessions that nobody has opened, and take none of them: one that a host opens gets them, those of another end."""
    for session in ("looked-at", "opened-then"):
        for number in range(40):
            pushed_for(host, session, f"fish {number}", None)
    waiting = "SELECT count(*) FROM tidings.inbox WHERE name IN ('looked-at', 'opened-then')"
    before = server.sql(waiting)
    listed = {one["session"]: one["pending"] for one in query(url, "sessions")["sessions"]}
    expect((listed.get("looked-at"), listed.get("opened-then")) == (40, 40), f"the list of all sessions counts them: {listed}")
    items = [[one["message"] for one in query(url, "pending", session, limit=1000)["items"]] for session in ("looked-at", "opened-then")]
    expect(items == [[f"fish {number}" for number in range(40)]] * 2, f"a query of one shows them: {items}")
    expect(server.sql(waiting) == before == "80", f"they wait as before: {server.sql(waiting)}")
    server.sql("SELECT tidings.push('many', 'a.b', 'info', 'fish ' || n) FROM generate_series(1, 3000) AS n")
    server.sql("SELECT tidings.push('large', 'a.b', 'info', repeat('fish', 4000), data => to_jsonb(repeat('x', 200000))) FROM generate_series(1, 40)")
    server.sql("SELECT tidings.push('one-of-many-' || n, 'a.b', 'info', 'fish') FROM generate_series(1, 300) AS n")
    count = sum(one["session"].startswith("one-of-many-") for one in query(url, "sessions", limit=1000)["sessions"])
    expect(count == 300, f"the list has all sessions: {count}")
    counted = [query(url, "stats", session)["pending"] for session in ("many", "large")]
    expect(counted == [3000, 40], f"a query counts all that waits: {counted}")
    host.event("session.opened", "opened-then")
    shown = ""
    while delivery := (answer := host.call("tool_result", session="opened-then", call_id=f"c{len(shown)}", tool="shell", content="x"))["reply"]["delivery"]:
        shown += answer["content"]
        host.call("settle", delivery=delivery, outcome="committed")
    expect(query(url, "stats", "opened-then")["outcomes"]["delivered"] == 40 and "fish 39" in shown, "a host that opens it shows all of them")
    server.sql("UPDATE tidings.inbox SET pushed = pushed - interval '31 days' WHERE name = 'looked-at'; " + KEEP)
    ended = server.sql("SELECT count(*), min(reason) FROM tidings.dead_letter WHERE name = 'looked-at'")
    left = query(url, "stats", "looked-at")["pending"]
    expect((ended, left) == ("40|nobody took it", 0), f"those that nobody takes end: {ended}, {left} left")


def check_in_time(server, url):
    """Queries answer with what half of their time is enough for: a list with a session that has a name yet, a count with the first portion."""
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; SELECT FROM tidings.name_lock FOR UPDATE;", kit.BEGUN)
    server.sql("SELECT tidings.push('has-no-name', 'a.b', 'info', 'fish')")
    brief = kit.Kit(url, role="producer", budget_ms=6000)
    listed = [one["session"] for one in brief.call("query", query={"name": "sessions", "limit": 1000})["answer"]["sessions"]]
    expect("many" in listed and "has-no-name" not in listed, "a list does not wait for all of its time until a session gets its name")
    holder.end("ROLLBACK;")
    server.sql("ALTER TABLE tidings.inbox RENAME TO inbox_itself; "
               "CREATE VIEW tidings.inbox AS SELECT * FROM tidings.inbox_itself WHERE (SELECT pg_sleep(3.2)) IS NOT NULL")
    counted = brief.call("query", query={"name": "stats", "session": "many"})["answer"]["pending"]
    expect(counted == 1024, f"a count of a slow inbox has its first portion: {counted}")
    server.sql("DROP VIEW tidings.inbox; ALTER TABLE tidings.inbox_itself RENAME TO inbox")
    brief.close()


A_MONTH_LATER = ("SELECT tidings.make_day(current_date - 32); UPDATE tidings.history SET day = current_date - 32 WHERE session = "
                 "(SELECT session FROM tidings.session WHERE name = '{}'); " + KEEP)


def query(url, name, session=None, **more):
    """Asks in another process, which has read nothing of the session before."""
    asked = kit.Asked(url)
    answer = asked.ask("query", query={"name": name, **({"session": session} if session else {}), **more})
    asked.end()
    return answer["answer"]


def check_rewound(server, host, url):
    """A rewind makes notifications pending again, which stay longer than the day on which they were shown."""
    host.event("session.opened", "rewound")
    for number in range(12):
        for part in range(7):
            host.call("push", session="rewound", kind="ci.failed", message=f"part {part}")
        show(host, "rewound", f"c{number}")
    expect(rows(server, "rewound").split("|")[1] != "0", "what was shown is history")
    host.event("session.rewound", "rewound", deliveries=[])
    server.sql(A_MONTH_LATER.format("rewound"))
    left = [len(query(url, "pending", "rewound", limit=1000)["items"]), query(url, "stats", "rewound")["pending"]]
    expect(left == [96, 96], f"a month later all that is pending again is there: {left}")
    shown = 0
    while delivery := host.call("tool_result", session="rewound", call_id=f"again-{shown}", tool="shell", content="x")["reply"]["delivery"]:
        host.call("settle", delivery=delivery, outcome="committed")
        shown += 1
    stats = query(url, "stats", "rewound")
    expect((stats["pending"], stats["outcomes"]["delivered"]) == (0, 96), f"and is shown again, in {shown} deliveries: {stats['outcomes']}")


def check_explained(server, host, url):
    """An old notification waits, so those after it stay, and the deliveries that showed them go with their day."""
    host.event("session.opened", "waits")
    pushed_for(host, "waits", "for next year", 365 * 86400000)
    for number in range(70):
        show(host, "waits", f"c{number}")
    server.sql(A_MONTH_LATER.format("waits"))
    answers = [query(url, "explain", "waits", id=number) for number in ("1", "2", "71")]
    outcomes = [answer["outcome"] for answer in answers]
    expect(outcomes == ["pending", "ended", "delivered"] and "no longer stored" in answers[1]["text"], f"explain says of what was shown that it ended: {outcomes}, {answers[1]['text']}")


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        host = kit.Kit(url)
        check_closed(server, host)
        check_older_client(server, host)
        check_ids(server, host)
        check_due(server, host)
        check_looked_at(server, host, url)
        check_rewound(server, host, url)
        check_explained(server, host, url)
        host.close()
        check_in_time(server, url)
        check_portions(server)
        check_long(server, url)
        check_order(server)
    print(f"# sum: days: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
