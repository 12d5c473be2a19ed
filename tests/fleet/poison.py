# SPDX-License-Identifier: MIT
"""poison.py: much that waits, large or old, in one session or in many: a hook takes a portion and goes on, what nobody takes ends, and lists stay lists."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


def check_large(server, url):
    """A thousand legal messages of 60 KB: each hook takes a portion, and all are shown."""
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
    """Nobody opens the session: what was pushed to it ends by its ttl, and after the days of the store."""
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
    server.sql("UPDATE tidings.store SET inbox_days = 1; SELECT tidings.push('nobody', 'ci.failed', 'info', 'x'); " + old.format("25 hours") + "; " + keep)
    expect(server.sql(waits) == "0", "or after the days that the store's settings say")
    server.sql("UPDATE tidings.dead_letter SET ended = ended - interval '31 days'; " + keep)
    expect(server.sql("SELECT count(*) FROM tidings.dead_letters") == "0", "and the letters after those of the history")


def check_quota(server, url):
    """The store's settings count, whatever a client's configuration says."""
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
    expect("the store has more than 1 bytes" in again.stderr, f"a store that is full: {again.stderr.strip()}")
    server.sql("UPDATE tidings.store SET bytes = NULL; SELECT tidings.keep_days(30)")
    expect(not kit.tidings("push", "--create", "-S", url, "-s", "s", "x", check=False).returncode, "and is not any more")
    host.close()


def check_many(server, url):
    """Three hundred sessions are listed in fewer statements than there are sessions."""
    host = kit.Kit(url)
    for name in ("one", "two"):
        host.event("session.opened", name)
        host.event("session.closed", name)
    host.close()
    host = kit.Kit(url)
    for number in range(300):
        host.event("session.opened", f"many-{number}")
    host.close()
    before = int(server.sql("SELECT sum(calls) FROM pg_stat_statements"))
    for verb in (("sessions", "--json"), ("status", "-s", "many-1"), ("stats", "--prometheus")):
        done = kit.tidings(*verb, "-S", url)
        calls = int(server.sql("SELECT sum(calls) FROM pg_stat_statements")) - before
        before += calls
        expect(verb[0] == "stats" or calls < 150, f"{verb[0]} of {server.sql('SELECT count(*) FROM tidings.session')} sessions: {calls} statements")
        if verb[0] == "stats":
            expect("many-" not in done.stdout and len(done.stdout.splitlines()) < 400, f"metrics name no session: {len(done.stdout.splitlines())} lines")


def main():
    with kit.Server(shared_preload_libraries="pg_stat_statements", **kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE EXTENSION pg_stat_statements")
        check_large(server, url)
        check_unopened(server, url)
        check_quota(server, url)
        check_many(server, url)
    print(f"# sum: poison: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
