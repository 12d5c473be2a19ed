# SPDX-License-Identifier: MIT
"""bench.py: what calls cost on a database, beside SQL that does the same work by hand over the same connection type, interleaved in one run. Medians.

Ours goes through hostkit's flat functions, so it has JSON on top. Not part of the tests: TIDINGS_BUILD_DIR=build/release python3 tests/fleet/bench.py
"""
import ctypes
import ctypes.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

ROUNDS = int(os.environ.get("TIDINGS_FLEET_ROUNDS", "200"))
SESSIONS, CLIENTS, SECONDS = 10000, 16, 5
MESSAGE = "x" * 200


class Raw:
    """SQL by hand, over libpq."""

    def __init__(self, server):
        self.pq = ctypes.CDLL(ctypes.util.find_library("pq"))
        for name in ("PQconnectdb", "PQexec"):
            getattr(self.pq, name).restype = ctypes.c_void_p
        self.pq.PQexec.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.pq.PQclear.argtypes = [ctypes.c_void_p]
        self.pq.PQresultStatus.argtypes = [ctypes.c_void_p]
        self.pg = self.pq.PQconnectdb(f"host={server.folder} user=fleet dbname=fleet".encode())
        self.run("CREATE SCHEMA raw; CREATE TABLE raw.session (session bigint PRIMARY KEY, version bigint NOT NULL);"
                 "CREATE TABLE raw.live (session bigint, n bigint GENERATED ALWAYS AS IDENTITY, value bytea NOT NULL, PRIMARY KEY (session, n));"
                 "INSERT INTO raw.session VALUES (1, 0)")
        self.run(f"PREPARE push AS INSERT INTO raw.live (session, value) VALUES (1, '\\x{'78' * 240}')")
        self.run("PREPARE lock AS SELECT version FROM raw.session WHERE session = 1 FOR UPDATE")
        self.run("PREPARE load AS SELECT n, value FROM raw.live WHERE session = 1")
        self.run("PREPARE lease AS UPDATE raw.live SET value = value || '\\x01' WHERE session = 1")
        self.run("PREPARE settle AS DELETE FROM raw.live WHERE session = 1")
        self.run("PREPARE grow AS UPDATE raw.session SET version = version + 1 WHERE session = 1")
        self.run("PREPARE look AS SELECT version FROM raw.session WHERE session = 1")

    def run(self, sql):
        result = self.pq.PQexec(self.pg, sql.encode())
        if self.pq.PQresultStatus(result) not in (1, 2):
            raise SystemExit(f"raw SQL: {sql[:80]}")
        self.pq.PQclear(result)

    def push(self):
        self.run("EXECUTE push")

    def deliver(self):
        for change in ("lease", "settle"):
            self.run("BEGIN; EXECUTE lock; EXECUTE load")
            self.run(f"EXECUTE {change}; EXECUTE grow; COMMIT")

    def quiet(self):
        self.run("EXECUTE look")


class Ours:
    """The same by the plugin."""

    def __init__(self, url):
        self.kit, self.calls = kit.Kit(url, budget_ms=20000), 0
        self.kit.event("session.opened", "s")

    def push(self):
        self.kit.call("push", session="s", kind="bench.push", message=MESSAGE)

    def hook(self):
        self.calls += 1
        return self.kit.call("tool_result", session="s", call_id=f"c{self.calls}", tool="shell", content="done")["reply"].get("delivery")

    def deliver(self):
        self.kit.call("settle", delivery=self.hook(), outcome="committed")

    def quiet(self):
        self.hook()


def timed(function):
    began = time.monotonic()
    function()
    return (time.monotonic() - began) * 1e6


def compare(ours, raw):
    took = {}
    for _ in range(ROUNDS):
        for name, side in (("ours", ours), ("raw", raw)):
            took.setdefault(("push", name), []).extend(timed(side.push) for _ in range(10))
            took.setdefault(("lease + settle of ten", name), []).append(timed(side.deliver))
            took.setdefault(("quiet hook", name), []).append(timed(side.quiet))
    return {key: statistics.median(values) for key, values in took.items()}


def rates(server, url):
    """Pushes a second of many processes, and inserts a second of as many clients of pgbench."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(f"INSERT INTO raw.live (session, value) VALUES (2 + :client_id, '\\x{'78' * 240}');\n")
        script.flush()
        os.chmod(script.name, 0o644)
        done = subprocess.run([os.path.join(server.bin, "pgbench"), "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2",
                               "-T", str(SECONDS), "-f", script.name, "-h", server.folder, "-U", "fleet", "fleet"], capture_output=True, text=True, check=False)
    raw = float(done.stdout.split("tps = ")[1].split()[0]) if "tps = " in done.stdout else 0
    workers = [kit.Worker("producer.py", url, f"many-{at}", f"p{at}") for at in range(CLIENTS)]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all(worker.read() for worker in workers):
        time.sleep(0.1)
    time.sleep(SECONDS)
    for worker in workers:
        worker.kill()
    times = [float(words[3]) for worker in workers for words in worker.read() if words[0] == "acked"]
    last = max(times)
    return sum(at > last - SECONDS for at in times) / SECONDS, raw


def main():
    with kit.Server() as server:
        url = kit.make_store(server)
        raw, ours = Raw(server), Ours(url)
        before = compare(ours, raw)
        goals = {"push": 1.2, "lease + settle of ten": 1.25, "quiet hook": 1.2}
        print(f"{'µs, medians':24} {'ours':>8} {'raw':>8} {'ratio':>6}   goal")
        for name, goal in goals.items():
            mine, floor = before[name, "ours"], before[name, "raw"]
            print(f"{name:24} {mine:8.0f} {floor:8.0f} {mine / floor:6.2f}   {goal}")
        # As many sessions as it has, each with the rows of this one.
        server.sql("INSERT INTO tidings.session (session, name) SELECT g, 'copy-' || g FROM generate_series(1000, %d) g;"
                   "INSERT INTO tidings.live SELECT g, kind, n, value FROM tidings.live, generate_series(1000, %d) g WHERE session = 1;"
                   "ANALYZE" % (SESSIONS + 1000, SESSIONS + 1000))
        after = compare(ours, raw)
        for name in ("push", "lease + settle of ten"):
            mine, floor = (after[name, side] / before[name, side] for side in ("ours", "raw"))
            print(f"{name + f', {SESSIONS} sessions':38} {mine:6.2f} x what it was; raw {floor:.2f} x   goal 1.2")
        mine, floor = rates(server, url)
        print(f"{CLIENTS} clients: {mine:.0f} pushes/s, raw {floor:.0f} inserts/s, {mine / floor if floor else 0:.2f}   goal 0.8")


main()
