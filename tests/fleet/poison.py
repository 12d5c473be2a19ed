# SPDX-License-Identifier: MIT
"""poison.py: tests many, large or old waiting pushes, in one session or in many: a hook takes a portion and continues, pushes that no host takes end, and
lists stay fast."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


PAGE = 1000  # sessions on a page of the command's lists


def check_large(server, url):
    """A thousand valid messages of 60 KB: each hook takes a portion, and all are shown."""
    body = "'\\x01'::bytea || tidings.record_number(floor(extract(epoch FROM now()) * 1000)::bigint << 1) || '\\x000200'::bytea || tidings.record_text('ci') || tidings.record_text('failed')"
    server.sql(f"INSERT INTO tidings.inbox (name, body) SELECT 'large', {body} || tidings.record_text('#' || g || '#' || repeat('x', 60000)) || '\\x000000000000'::bytea "
               "FROM generate_series(1, 1000) g")
    host = kit.Kit(url, budget_ms=20000)
    host.event("session.opened", "large")
    portions, left = [], 1000
    for number in range(300):
        answer = host.call("tool_result", session="large", call_id=f"c{number}", tool="shell", content="x")
        delivery = (answer["reply"] or {}).get("delivery")
        if delivery:
            host.call("settle", delivery=delivery, outcome="committed")
        if not left:
            break
        now = int(server.sql("SELECT count(*) FROM tidings.inbox WHERE name = 'large'"))
        portions, left = portions + [left - now], now
    expect(max(portions) < 100, f"no call takes more than a few megabytes: {max(portions)} of 60 KB")
    expect(not left, f"a thousand of 60 KB are taken in, in {len([one for one in portions if one])} portions")
    host.close()


def check_unopened(server, url):
    """No host opens the session: pushes to it end by their ttl, or after the days of the store."""
    old = "UPDATE tidings.inbox SET pushed = pushed - interval '{}' WHERE name = 'nobody'"
    for text, ttl in (("with a ttl", ", ttl_ms => 1"), ("without", "")):
        server.sql(f"SELECT tidings.push('nobody', 'ci.failed', 'info', '{text}'{ttl})")
    keep, waits = "SELECT tidings.keep_days(30)", "SELECT count(*) FROM tidings.inbox WHERE name = 'nobody'"
    server.sql(keep)
    expect(server.sql(waits) == "2", "both wait")
    server.sql(old.format("11 minutes") + "; " + keep)
    expect(server.sql(waits) == "1", "the ttl of one is over")
    server.sql(old.format("31 days") + "; " + keep)
    expect(server.sql(waits) == "0", "and the other ends after thirty days")
    letters = server.sql("SELECT reason, message, level FROM tidings.dead_letters WHERE session = 'nobody' ORDER BY pushed DESC")
    expect(letters == "its ttl was over|with a ttl|info\nnobody took it|without|info", f"they can be listed: {letters!r}")
    listed = json.loads(kit.tidings("history", "--dead", "--json", "-S", url, "-s", "nobody").stdout)["dead_letters"]
    expect([(one["outcome"], one["message"], one["level"]) for one in listed] == [("expired", "with a ttl", "info"), ("dropped", "without", "info")], f"the command lists them too, though nobody has opened the session: {len(listed)}")
    server.sql("UPDATE tidings.store SET inbox_days = 1; SELECT tidings.push('nobody', 'ci.failed', 'info', 'x'); " + old.format("25 hours") + "; " + keep)
    expect(server.sql(waits) == "0", "or after the days that the store's settings say")
    server.sql("UPDATE tidings.dead_letter SET ended = ended - interval '31 days'; " + keep)
    expect(server.sql("SELECT count(*) FROM tidings.dead_letters") == "0", "and the letters after those of the history")


def check_quota(server, url):
    """The store's settings apply to all clients and their configurations."""
    server.sql("UPDATE tidings.store SET pending_per_session = 100")
    host = kit.Kit(url, role="producer", config={"limits": {"pending_per_session": 2000}})
    stored = 0
    try:
        for stored in range(200):
            host.call("push", session="quota", kind="ci.failed", message="x")
        expect(False, "a session takes no more than the store's settings say")
    except kit.Failed as failed:
        expect(failed.code == "TIDINGS_E_FULL" and stored == 95, f"{stored} pushes, and then: {failed}")
    server.sql("UPDATE tidings.store SET pending_per_session = NULL, bytes = 1; SELECT tidings.keep_days(30)")
    again = kit.tidings("push", "--create", "-S", url, "-s", "s", "x", check=False)
    expect(again.stderr.count("the store has more than 1 bytes") == 1, f"a store that is full: {again.stderr.strip()}")
    server.sql("UPDATE tidings.store SET bytes = NULL; SELECT tidings.keep_days(30)")
    expect(not kit.tidings("push", "--create", "-S", url, "-s", "s", "x", check=False).returncode, "and is not any more")
    host.close()


def check_many(server, url, count):
    """Many sessions are listed, and their metrics printed, in a few statements."""
    server.sql("DELETE FROM tidings.inbox")
    host = kit.Kit(url)
    for name in ("one", "two"):
        host.event("session.opened", name)
        host.event("session.closed", name)
    host.close()
    host = kit.Kit(url)
    for number in range(count):
        host.event("session.opened", f"many-{number}")
        host.call("push", session=f"many-{number}", kind="ci.failed", level="error" if number % 3 else "info", message="x")
        if number % 4 == 0:
            reply = host.call("tool_result", session=f"many-{number}", call_id="c", tool="shell", content="x")["reply"]
            host.call("settle", delivery=reply["delivery"], outcome="committed")
    host.event("turn.started", "many-1")
    server.sql("INSERT INTO tidings.dead_letter (name, n, pushed, reason, body) SELECT 'x', g, now(), 'nobody took it', '\\x01' FROM generate_series(1, 2) AS g")
    before = int(server.sql("SELECT sum(calls) FROM pg_stat_statements"))
    for verb in (("sessions", "--json"), ("status", "-s", "many-1"), ("stats", "--prometheus")):
        done = kit.tidings(*verb, "-S", url)
        calls = int(server.sql("SELECT sum(calls) FROM pg_stat_statements")) - before
        before += calls
        pages = -(-count // PAGE) if verb[0] == "sessions" else 1 + count // 2048
        expect(calls < 30 + 4 * pages, f"{verb[0]} of {count} sessions: {calls} statements, whatever waits in them")
        if verb[0] == "sessions":
            listed = {session["session"]: session["pending"] for session in json.loads(done.stdout)["sessions"]}
            expect(all(listed[f"many-{number}"] == (number % 4 > 0) for number in range(count)), f"{len(listed)} sessions are listed, with what waits in each")
    check_metrics(server, done.stdout, count)
    check_pages(host, count)
    host.close()


def check_metrics(server, text, count):
    """The figures are right, no metric names a session, and the dashboard shows each metric."""
    expect("many-" not in text, "metrics name no session")
    values = {name: float(value) for name, value in re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE)}
    delivered, waits = -(-count // 4), int(server.sql("SELECT (SELECT sum(waiting) FROM tidings.session) + (SELECT count(*) FROM tidings.inbox)"))
    expect(values["tidings_pending"] == waits == sum(value for name, value in values.items() if name.startswith("tidings_pending_by_level")), f"{waits} wait, in the inbox too")
    expect(values["tidings_inbox"] == int(server.sql("SELECT count(*) FROM tidings.inbox")), f"of them in the inbox: {values['tidings_inbox']:.0f}")
    levels = [len([n for n in range(count) if n % 4 and (n % 3 > 0) == error]) for error in (False, True)]
    expect(values['tidings_pending_by_level{level="error"}'] == levels[1] and values['tidings_pending_by_level{level="info"}'] == levels[0] + waits - sum(levels), f"by level: {levels}")
    idle, busy = values['tidings_sessions{state="idle"}'], values['tidings_sessions{state="busy"}']
    expect((idle, busy) == (count, 1), f"running sessions: {idle:.0f} idle, one of a host of this process before, and {busy:.0f} busy")
    expect(values['tidings_pending_by_source{source="ci"}'] == 1, "what a host has read is counted by its source")
    expect(values["tidings_delivery_latency_seconds_count"] >= delivered and values['tidings_ended{outcome="delivered"}'] >= delivered, f"delivered: at least {delivered}")
    expect(values["tidings_oldest_pending_seconds"] > 0 and values["tidings_store_bytes"] > 100000 and values['tidings_connections{role="fleet"}'] >= 2, "age, size and connections")
    expect(values['tidings_dead_letters{reason="nobody took it"}'] == 2, "dead letters by reason")
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "grafana", "tidings.json"), encoding="utf-8") as file:
        shown = set(re.findall(r"tidings_\w+", " ".join(target["expr"] for panel in json.load(file)["panels"] for target in panel["targets"])))
    printed = {re.sub(r"\{.*", "", name) for name in values}
    bare = {re.sub("_(bucket|sum|count)$", "", name) for name in printed}
    expect(shown <= printed and bare == {re.sub("_(bucket|sum|count)$", "", name) for name in shown}, f"the dashboard and the metrics agree: {sorted(bare ^ {re.sub('_(bucket|sum|count)$', '', name) for name in shown})}")


def check_pages(host, count):
    """Each session is on one page once, while other sessions come and go."""
    after, names, pages = "", [], 0
    while after is not None:
        page = host.call("query", query={"name": "sessions", "limit": 100, "after": after})["answer"]
        names += [session["session"] for session in page["sessions"]]
        after, pages = page["next"], pages + 1
        if pages == 1:
            expect(len(page["sessions"]) <= 100 and "total" not in page, f"the first page has {len(page['sessions'])}")
        host.event("session.opened", f"late-{pages}")
    expect(len(names) == len(set(names)) and {f"many-{number}" for number in range(count)} <= set(names), f"{len(names)} names in {pages} pages, each once")
    for wrong in ("x", "-1", "99999999999999999999"):
        try:
            host.call("query", query={"name": "sessions", "after": wrong})
            expect(False, f"after {wrong} is refused")
        except kit.Failed as failed:
            expect(failed.code == "TIDINGS_E_SCHEMA", f"after {wrong} is refused: {failed}")


def main():
    with kit.Server(shared_preload_libraries="pg_stat_statements", **kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE EXTENSION pg_stat_statements")
        check_large(server, url)
        check_unopened(server, url)
        check_quota(server, url)
        check_many(server, url, 10000 if "deep" in sys.argv else 300)
    print(f"# sum: poison: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
