# SPDX-License-Identifier: MIT
"""costs.py: a measurement, not a test: the round trips, commits and bytes of WAL of each kind of call, and whether the tables can be partitioned by a hash."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

ROUNDS = 3
VERSION = "SELECT coalesce(sum(version), 0) * 1000 + (SELECT count(*) FROM tidings.inbox) FROM tidings.session"


def table(server, host, proxy):
    """Makes the calls of a turn with one tool call in the order of a host, ROUNDS times, and prints the costs of each kind."""
    sums, number = {}, 0

    def state():
        version, place = server.sql(f"SELECT ({VERSION}) || ' ' || (pg_current_wal_insert_lsn() - '0/0')").split()
        return int(version), int(place)

    last = [state()]

    def measured(name, function):
        trips = proxy.trips
        function()
        took, now = proxy.trips - trips, state()
        row = sums.setdefault(name, [0, 0, 0, 0])
        for i, more in enumerate((1, took, now[0] != last[0][0], now[1] - last[0][1])):
            row[i] += more
        last[0] = now

    for number in range(ROUNDS):
        call, answers = f"c{number}", []
        measured("turn.started", lambda: host.event("turn.started", "s"))
        measured("tools.started with a call", lambda: host.event("tools.started", "s", call_id=call, tool="shell"))
        measured("tool result, nothing pending", lambda: host.call("tool_result", session="s", call_id=call, tool="shell", content="x"))
        measured("tools.finished with a call", lambda: host.event("tools.finished", "s", call_id=call))
        measured("push", lambda: host.call("push", session="s", kind="ci.failed", message="the build is red"))
        measured("tool result that shows one", lambda: answers.append(host.call("tool_result", session="s", call_id=call, tool="shell", content="x")))
        measured("settle", lambda: host.call("settle", delivery=answers[0]["reply"]["delivery"], outcome="committed"))
        measured("turn.finished", lambda: host.event("turn.finished", "s"))
    for name, (count, trips, commits, wal) in sums.items():
        print(f"{name}: {trips / count:.1f} round trips, {commits / count:.1f} commits, {wal / count:.0f} bytes of WAL", flush=True)


def partitions(server):
    """Makes the same tables; those whose keys all begin with the session have eight partitions by a hash of it."""
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "plugin", "store", "db", "postgres", "schema.sql"), encoding="utf-8") as file:
        schema = file.read().replace("@schema@", "hashed")
    for name in ("live", "inbox", "seen", "session"):
        key = "session" if name in ("live", "session") else "name"
        text = re.search(rf"CREATE TABLE {name} \(\n.*?\n\)[^;]*;", schema, re.DOTALL)[0]
        text = re.sub(r"\) WITH \([^;]*\);", ");", text).replace("\n);", f"\n) PARTITION BY HASH ({key});")
        done = server.sql(f"CREATE SCHEMA IF NOT EXISTS hashed; SET search_path = hashed; {text} "
                          + " ".join(f"CREATE TABLE {name}_{n} PARTITION OF {name} FOR VALUES WITH (MODULUS 8, REMAINDER {n});" for n in range(8)) + " SELECT 'made'", check=False)
        print(f"PARTITION BY HASH ({key}), {name}: {done or 'refused'}")


def main():
    with kit.Server(full_page_writes="off", autovacuum="off") as server:
        url = kit.make_store(server)
        proxy = net.Proxy(server)
        host = kit.Kit(url.replace(server.folder, proxy.folder))
        host.event("session.opened", "s")
        table(server, host, proxy)
        host.close()
        partitions(server)


main()
