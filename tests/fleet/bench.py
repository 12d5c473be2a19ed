# SPDX-License-Identifier: MIT
"""bench.py [ROUNDS]: measures calls on a database beside hand-written SQL for the same work, alternately in one run (bench/fleet.c).

Not part of the tests: ./dev bench --fleet
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

ROUNDS = int(sys.argv[1]) if len(sys.argv) == 2 else 300
SESSIONS, SLICE_MS, SLICES = 10000, 1500, 5
GOALS = {"push": 1.2, "push() in SQL": 1.3, "lease + settle of ten": 1.25, "quiet hook": 1.2, "quiet hook, one row": 1.2, "16 clients": 0.8, "64 clients": 0.8}
TABLES = """CREATE SCHEMA raw;
CREATE TABLE raw.session (name text PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE raw.inbox (name text, n bigint GENERATED ALWAYS AS IDENTITY, body bytea NOT NULL, pushed timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (name, n));
CREATE TABLE raw.live (name text, n bigint, value bytea NOT NULL, PRIMARY KEY (name, n));
CREATE TABLE raw.history (name text, n bigint, value bytea NOT NULL, PRIMARY KEY (name, n));
INSERT INTO raw.session VALUES ('one', 0);"""


def measure(server, *what):
    """Returns {row: (time of tidings, time by hand, processor time of tidings, processor time by hand)}."""
    command = [os.path.join(kit.BUILD, "tidings-bench-fleet"), os.path.join(kit.BUILD, "tidings-postgres.so"), server.url(), f"host={server.folder} user=fleet dbname=fleet"]
    done = subprocess.run([*command, *map(str, what)], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.returncode}")
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {row[0]: [float(value) for value in row[1:]] for row in rows}


def show(rows, unit):
    for name, (ours, floor, our_cpu, floor_cpu) in rows.items():
        if name == "push() in SQL":  # the plugin's push is the first column, and push() in SQL the second
            ours, floor, our_cpu, floor_cpu = floor, ours, floor_cpu, our_cpu
        print(f"{name:24} {ours:8.0f} {floor:8.0f} {unit:3} {ours / floor:6.2f} {GOALS[name]:6.2f} {our_cpu:8.0f} {floor_cpu:8.0f} {our_cpu / floor_cpu:6.2f}")


def main():
    # The defaults of a server, with more memory and WAL.
    with kit.Server(shared_buffers="128MB", max_wal_size="2GB") as server:
        kit.make_store(server)
        server.sql(TABLES)
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {kit.BUILD}")
        print(f"{'':24} {'ours':>8} {'by hand':>8}     {'ratio':>6} {'goal':>6} {'cpu ours':>8} {'by hand':>8} {'ratio':>6}")
        before = measure(server, "calls", ROUNDS)
        show(before, "µs")
        show(measure(server, "clients", 16, SLICE_MS, SLICES), "/s")
        show(measure(server, "clients", 64, SLICE_MS, SLICES), "/s")
        # Adds SESSIONS sessions, each with the rows of session 1.
        server.sql("INSERT INTO tidings.session (session, name) SELECT g, 'copy-' || g FROM generate_series(1000, %d) g;"
                   "INSERT INTO tidings.live SELECT g, kind, n, value FROM tidings.live, generate_series(1000, %d) g WHERE session = 1;"
                   "ANALYZE" % (SESSIONS + 1000, SESSIONS + 1000))
        after = measure(server, "calls", ROUNDS)
        for name, (ours, floor, our_cpu, floor_cpu) in after.items():
            was = before[name]
            print(f"{name + f', {SESSIONS} sessions more':44} {ours / was[0]:6.2f} x what it was, of the processor {our_cpu / was[2]:.2f} x; by hand {floor / was[1]:.2f} x, {floor_cpu / was[3]:.2f} x   goal 1.2")


main()
