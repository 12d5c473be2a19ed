# SPDX-License-Identifier: MIT
"""figures.py [SECONDS]: measures the figures of docs/fleet.md on a server on this machine. It is not a test, and no test runs it.

Medians of one host and one producer, pushes of several producers beside raw inserts of pgbench with as many clients, and bytes a row.
"""
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

SECONDS = float(sys.argv[1]) if len(sys.argv) == 2 else 5
TEXT = "CI run 871 of the main branch has failed: the linter found 3 problems."


def producer(url):
    """Pushes until the time is over, and prints the number of pushes; runs in a child."""
    host, count, end = kit.Kit(url, role="producer", config={"limits": {"pending_per_session": 1000000}}), 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        host.call("push", session=f"s{os.getpid()}", kind="ci.failed", message=TEXT)
        count += 1
    print(count)


def microseconds(call):
    taken, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        began = time.monotonic()
        call()
        taken.append(time.monotonic() - began)
    return f"{statistics.median(taken) * 1e6:.0f} µs"


def deliver(host, number):
    for _ in range(10):
        host.call("push", session="s", kind="ci.failed", message=TEXT)
    began = time.monotonic()
    answer = host.call("tool_result", session="s", call_id=f"c{number}", tool="shell", content="ok")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    return time.monotonic() - began


def together(server, clients):
    children = [subprocess.Popen([sys.executable, __file__, "producer", server.url("many")], stdout=subprocess.PIPE, text=True) for _ in range(clients)]
    pushes = sum(int(child.communicate()[0]) for child in children) / SECONDS
    with open(os.path.join(server.folder, "raw.sql"), "w", encoding="utf-8") as file:
        file.write(f"INSERT INTO raw (name, body) VALUES ('s', '{TEXT}');\n")
    raw = subprocess.run([os.path.join(server.bin, "pgbench"), "-n", "-M", "prepared", "-h", server.folder, "-U", "fleet", "-c", str(clients), "-T", str(int(SECONDS)), "-f",
                          os.path.join(server.folder, "raw.sql"), "fleet"], capture_output=True, text=True, check=True).stdout
    print(f"{clients} producers: {pushes:.0f} pushes/s; pgbench, as many clients, one raw insert each: {raw.split('tps = ')[1].split('.')[0]}/s")


def main():
    with kit.Server() as server:
        server.sql("CREATE TABLE raw (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, body bytea)")
        url = kit.make_store(server, "figures")
        kit.make_store(server, "many")
        host = kit.Kit(url, config={"limits": {"pending_per_session": 1000000}})
        host.event("session.opened", "s")
        print("load", os.getloadavg()[0])
        print("a hook with nothing to say:", microseconds(lambda: host.call("tool_result", session="s", call_id="q", tool="shell", content="ok")))
        taken = [deliver(host, number) for number in range(int(SECONDS * 20))]
        print(f"a delivery of ten, with its settle: {statistics.median(taken) * 1e6:.0f} µs")
        print("a push:", microseconds(lambda: host.call("push", session="other", kind="ci.failed", message=TEXT)))
        rows = int(server.sql("SELECT count(*) FROM figures.history WHERE kind = 4"))
        size = int(server.sql("SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'figures.history'::regclass"))
        print(f"history: {rows} notifications, {size / max(rows, 1):.0f} bytes for each with its share of deliveries")
        for clients in (1, 4, 16):
            together(server, clients)


if sys.argv[1:2] == ["producer"]:
    producer(sys.argv[2])
else:
    main()
