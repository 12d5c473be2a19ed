# SPDX-License-Identifier: MIT
"""dead.py: what a host that was cut off leaves on the server: nothing that others wait for, for longer than the server needs to notice it."""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position


def check_keepalives(server, url):
    """The kernel's own list of the server's sockets says when it asks whether the other side lives: 5 s, not two hours."""
    host = kit.Kit(url.replace("@/", f"@{kit.ADDRESS}/").replace(f"host={server.folder}&", ""))
    host.event("session.opened", "tcp")
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    here = "".join(f"{int(part):02X}" for part in reversed(kit.ADDRESS.split("."))) + ":1538"  # and port 5432
    ours = [row for row in rows if row[1] == here and row[3] == "01"]  # established
    due = [(row[5].split(":")[0], int(row[5].split(":")[1], 16)) for row in ours]
    expect(len(due) >= 2 and all(kind in ("01", "02") and jiffies <= 1500 for kind, jiffies in due), f"the server's sockets and when they ask: {due}")
    host.close()


def check_cut_off(server, url):
    """Cut off between the two round trips of a write: the row that it has locked is free when the server has noticed."""
    proxy = net.Proxy(server)
    cut, other = kit.Kit(url.replace(server.folder, proxy.folder), budget_ms=60000), kit.Asked(url)
    cut.event("session.opened", "cut")
    waits = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"

    def call():
        try:
            cut.event("session.opened", "cut-too")  # a session's first event takes more than one round trip in a transaction
        except kit.Failed:
            pass

    for trips in range(1, 8):
        proxy.held.clear()
        proxy.hold_from = proxy.trips + trips
        thread = threading.Thread(target=call)
        thread.start()
        kit.wait_for(lambda: proxy.held.is_set() or not thread.is_alive(), "the call is held")
        if server.sql(waits) != "0":
            break
        proxy.hold_from = None
        thread.join()
    expect(server.sql(waits) != "0", f"a host is cut off in a transaction, after {trips} round trips")
    answer = {"error": True}

    def goes_on():
        nonlocal answer
        answer = other.event("session.opened", "cut-too")
        return "error" not in answer

    kit.wait_for(goes_on, "the other host to have what the first had locked")
    expect(proxy.hold_from is not None, "while the first is still cut off")
    proxy.hold_from = None
    thread.join()
    other.end()
    cut.close()


def check_standby_gone(server, url):
    """Each commit waits for a standby that is not there: calls give up, and leave no process of the server that waits."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'tidings%'"
    server.sql("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
    server.sql("SELECT pg_reload_conf()")
    kit.wait_for(lambda: server.sql("SHOW synchronous_standby_names") == "gone", "the server to want its standby")
    host = kit.Kit(url, role="producer", budget_ms=1500)
    for number in range(3):
        try:
            host.call("push", session="sync", kind="ci.failed", message=f"number {number}")
            expect(False, "a push that no standby has is acknowledged")
        except kit.Failed as failed:
            expect(failed.code == "TIDINGS_E_OUTCOME_UNKNOWN", f"a push that no standby has: {failed}")
    try:
        host.call("query", query={"name": "pending", "session": "none"})  # it only reads, on a connection of its own
    except kit.Failed as failed:
        expect("none" in failed.text, f"a query: {failed}")
    host.close()
    kit.wait_for(lambda: server.sql(waiting) == "0", "no process of the server to wait")
    server.sql("ALTER SYSTEM RESET synchronous_standby_names")
    server.sql("SELECT pg_reload_conf()")


def main():
    settings = {**kit.Server.FAST, "wal_level": "replica", "max_wal_senders": 4, "listen_addresses": kit.ADDRESS}
    with kit.Server(**settings) as server:
        url = kit.make_store(server)
        check_keepalives(server, url)
        check_cut_off(server, url)
        check_standby_gone(server, url)
    print(f"# sum: dead: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
