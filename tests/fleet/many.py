# SPDX-License-Identifier: MIT
"""many.py: tests many calls at once in one process, which share its connections and wait for one, and queries of more sessions than a call keeps."""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

CONNECTIONS = 16  # MOST_CONNECTIONS
CALLERS, SESSIONS = 3 * CONNECTIONS, 150
OF_CLIENTS = "FROM pg_stat_activity WHERE datname = 'fleet' AND usename = 'client'"


def check_connections(server, url):
    """All connections of a process wait for a lock. Further calls wait for one of them; all calls succeed when the lock is free."""
    host, answers = kit.Kit(url), []
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; LOCK TABLE tidings.session IN ACCESS EXCLUSIVE MODE;", kit.BEGUN)

    def call(number):
        try:
            answers.append(host.event("session.opened", f"of-{number}"))
        except kit.Failed as failed:
            answers.append(failed)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(CALLERS)]
    for caller in callers:
        caller.start()
    kit.wait_for(lambda: server.sql(f"SELECT count(*) >= {CONNECTIONS} {OF_CLIENTS} AND wait_event_type = 'Lock'") == "t", "all connections wait for the lock")
    expect(holder.end("COMMIT;") == 0, "the lock is given back")
    for caller in callers:
        caller.join()
    bad = [str(answer) for answer in answers if isinstance(answer, kit.Failed)]
    expect(len(answers) == CALLERS and not bad, f"{CALLERS} calls at once succeed: {bad[:3]}")
    used = int(server.sql(f"SELECT count(*) {OF_CLIENTS}"))
    expect(used <= CONNECTIONS + 1, f"with {used} connections; {CONNECTIONS}, and one that listens, are allowed")
    host.close()


def check_sessions(url):
    """A query reads each of many sessions in one snapshot."""
    host = kit.Kit(url)
    for number in range(SESSIONS):
        host.event("session.opened", f"many-{number:03}")
        host.call("push", session=f"many-{number:03}", kind="ci.failed", level="error", message="red")
    totals = host.call("query", query={"name": "totals"})["answer"]
    expect(totals["pending"] == SESSIONS, f"the totals count {SESSIONS} sessions: {totals['pending']} are pending")
    listed = host.call("query", query={"name": "sessions", "limit": 1000, "details": True})["answer"]["sessions"]
    levels = sum(one["by_level"]["error"] for one in listed if one["session"].startswith("many-"))
    expect(levels == SESSIONS, f"and so does the list, with a look at each: {levels}")
    host.close()


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE ROLE client LOGIN; GRANT tidings_host TO client")
        check_connections(server, url.replace("fleet@", "client@"))
        check_sessions(url)
    print(f"# sum: many: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
