# SPDX-License-Identifier: MIT
"""kills.py [control]: kills producers, hosts and the server under load. No push that was acknowledged is lost, none is shown after a settle that
returned OK. "control" runs the server with synchronous_commit=off, kills it at the end when it has unread pushes, and must be caught losing them.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

SECONDS = float(os.environ.get("TIDINGS_FLEET_SECONDS", "8"))
UNREAD = 20  # pushes without a host, before the control's last kill


def count(workers_of_producers, workers_of_hosts):
    acked = {words[1] for worker in workers_of_producers for words in worker.read() if words[0] == "acked"}
    shown, settled, order, twice, late = {}, set(), [], 0, 0
    for worker in workers_of_hosts:
        order += worker.read()
    over = set()  # tokens whose delivery was settled
    for words in order:
        if words[0] == "shown":
            twice += words[2] in over
            shown.setdefault(words[1], set()).add(words[2])
        elif words[0] == "settled":
            settled.add(words[1])
            over |= shown.get(words[1], set())
        elif words[0] == "late":
            late += 1
    seen = set().union(*shown.values()) if shown else set()
    return len(acked), len(acked - seen), twice, late, len(settled)


def acked(workers):
    return sum(words[0] == "acked" for worker in workers for words in worker.read())


def stop_flushing(server):
    """Stops the server's own writing processes, so that the last commits before the kill are not written."""
    own = "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('checkpointer', 'background writer', 'walwriter')"
    kit.wait_for(lambda: len(server.sql(own).split()) == 3, "the server's own processes")
    for pid in server.sql(own).split():
        os.kill(int(pid), signal.SIGSTOP)


def main():
    control = sys.argv[1:] == ["control"]
    settings = {"synchronous_commit": "off", "wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"} if control else {}
    rng = random.Random(7)
    with kit.Server(**settings) as server, tempfile.TemporaryDirectory() as folder:
        url = kit.make_store(server)
        if control:
            url += "&options=-ctidings.may_lose%3Doff"
        server.sql("CHECKPOINT")
        transcript = os.path.join(folder, "transcript")
        producers = [kit.Worker("producer.py", url, "s", f"p{i}") for i in range(3)]
        hosts = [kit.Worker("host.py", url, "s", transcript)]
        live, done = list(producers), {"producer": 0, "host": 0, "server": 0}
        kit.wait_for(lambda: acked(producers) and any(words[0] == "settled" for words in hosts[-1].read()), "a push and a settle")
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.2, 1.0))
            what = "server" if control else rng.choice(["producer", "host", "host", "server"])
            done[what] += 1
            if what == "producer":
                at = rng.randrange(len(live))
                live[at].kill()
                live[at] = kit.Worker("producer.py", url, "s", f"p{len(producers)}")
                producers.append(live[at])
            elif what == "host":
                hosts[-1].kill()
                hosts.append(kit.Worker("host.py", url, "s", transcript))
            else:
                server.stop(rng.choice([signal.SIGKILL, signal.SIGQUIT]))
                server.start()
        for worker in live + [hosts[-1]]:
            worker.kill()
        if control:
            stop_flushing(server)
            producers.append(kit.Worker("producer.py", url, "unread", "u"))
            kit.wait_for(lambda: acked(producers[-1:]) >= UNREAD, "pushes that no host reads")
            server.stop(signal.SIGKILL)
            producers[-1].kill()
            server.start()
            done["server"] += 1
        hosts.append(kit.Worker("host.py", url, "unread" if control else "s", transcript, "drain"))
        try:
            hosts[-1].process.wait(600)
        except subprocess.TimeoutExpired:
            print(f"# the last host does not come to an end: {hosts[-1].read()[-3:]}")
            hosts[-1].kill()
        pushed, lost, twice, late, settled = count(producers, hosts)
        print(f"# sum: kills{' with synchronous_commit=off' if control else ''}: {pushed} acknowledged, {settled} settles, killed "
              f"{done['producer']} producers, {done['host']} hosts, {done['server']} servers: lost {lost}, twice {twice}, late {late}")
        if control:
            return 0 if lost else 1
        return 1 if lost or twice or late or not pushed or not settled else 0


if __name__ == "__main__":
    sys.exit(main())
