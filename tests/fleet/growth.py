# SPDX-License-Identifier: MIT
"""growth.py [COUNT]: makes a million pushes and settles, or COUNT, and prints the size of the tables meanwhile. It is not a test, and no test runs it.
Ended rows are in the partitions of history, which are dropped after some days; all other tables must keep the size that they had after the first
tenth.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

COUNT = int(sys.argv[1]) if len(sys.argv) == 2 else 1000000
PARTS, AT_ONCE = 10, 20
WORK = "SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_stat_user_tables WHERE schemaname = 'growth' AND relname !~ '^history'"
HISTORY = "SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_stat_user_tables WHERE schemaname = 'growth' AND relname ~ '^history'"


def work(host, count, call):
    for i in range(count // AT_ONCE):
        for number in range(AT_ONCE):
            host.call("push", session="s", kind="ci.failed", message=f"{i}, {number}: CI run 871 of the main branch has failed: the linter found 3 problems.")
        answer = host.call("tool_result", session="s", call_id=f"{call}-{i}", tool="shell", content="ok")
        host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")


def main():
    with kit.Server(fsync="off", autovacuum_naptime="5s") as server:
        host = kit.Kit(kit.make_store(server, "growth"), budget_ms=60000, config={"delivery": {"max_items": AT_ONCE}})
        host.event("session.opened", "s")
        sizes = []
        for part in range(PARTS):
            began = time.monotonic()
            work(host, COUNT // PARTS, part)
            sizes.append(int(server.sql(WORK)))
            print(f"{COUNT // PARTS * (part + 1)} pushes and settles: {sizes[-1] / 1e6:.1f} MB, history {int(server.sql(HISTORY)) / 1e6:.1f} MB, {time.monotonic() - began:.0f} s",
                  flush=True)
        host.close()
    print(f"# sum: growth: {sizes[-1] / sizes[0]:.2f} times the size after the first tenth")


main()
