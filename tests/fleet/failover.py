# SPDX-License-Identifier: MIT
"""failover.py: tests two servers with synchronous replication. The primary is killed under load, the standby is promoted, and a host and a producer
with both in their URL continue there: no acknowledged push is lost, and none is shown after a settle that returned OK. Before that, the standby alone
is refused with an error. "control" does not replicate the last acknowledged pushes, and must be caught losing them.
"""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import kills  # pylint: disable=wrong-import-position

ACKED_BEFORE = 40


def main():
    control = sys.argv[1:] == ["control"]
    failures = []
    with kit.Server(wal_level="replica", max_wal_senders=4, wal_sender_timeout="60s") as primary, tempfile.TemporaryDirectory() as folder:
        standby = kit.Server(copy_of=primary, hot_standby="on")
        try:
            standby.start()
            kit.wait_for(lambda: primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1", "the standby streams")
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.sql("SELECT pg_reload_conf()")
            kit.wait_for(lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync", "it is synchronous")
            if control:
                primary.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
                primary.sql("SELECT pg_reload_conf()")
            kit.make_store(primary)
            kit.wait_for(lambda: standby.sql("SELECT count(*) FROM tidings.store", check=False) == "1", "the tables are on both")
            if not control:
                try:
                    kit.Kit(standby.url())
                    failures.append("a standby was opened")
                except kit.Failed as failed:
                    print(f"ok - a standby: {failed.text}")
                    if "read-only (a standby?)" not in failed.text:
                        failures.append(failed.text)
            url = f"postgresql://fleet@/fleet?host={primary.folder},{standby.folder}&schema=tidings&target_session_attrs=read-write"
            transcript = os.path.join(folder, "transcript")
            producer, host = kit.Worker("producer.py", url, "s", "p"), kit.Worker("host.py", url, "s", transcript)
            if control:
                kit.wait_for(lambda: kills.acked([producer]) >= ACKED_BEFORE, "pushes")
                standby.stop()
                host.kill()
                before = kills.acked([producer])
                kit.wait_for(lambda: kills.acked([producer]) >= before + ACKED_BEFORE, "pushes that the standby does not get")
            else:
                kit.wait_for(lambda: kills.acked([producer]) >= ACKED_BEFORE and any(words[0] == "settled" for words in host.read()), "pushes and settles")
            primary.stop(signal.SIGKILL)
            before = kills.acked([producer])
            if control:
                standby.start()
            began = time.monotonic()
            standby.run("pg_ctl", "promote", "-D", standby.data, "-w", "-t", "300")
            promoted = time.monotonic()
            kit.wait_for(lambda: kills.acked([producer]) >= before + 10, "pushes to the promoted server")
            print(f"# promoted after {promoted - began:.2f} s, ten pushes {time.monotonic() - promoted:.2f} s after that")
            producer.kill()
            if not control:
                host.kill()
            last = kit.Worker("host.py", url, "s", transcript, "drain")
            last.process.wait(600)
            count, lost, twice, late, settled = kills.count([producer], [host, last])
            kind = " without replication" if control else ""
            print(f"# sum: failover{kind}: {count} acknowledged, {settled} settles: lost {lost}, twice {twice}, late {late}")
            if control:
                return 0 if lost else 1
            return bool(failures or lost or twice or late or count <= before or not settled)
        finally:
            standby.end()


sys.exit(main())
