# SPDX-License-Identifier: MIT
"""running.py: tests the phase of a turn and the running calls, which a host keeps in memory: processes of its machine see them at once, those of
another machine soon. If the host is killed, the next host learns which calls ran, and gets all pushes.
"""
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


def status(host, session):
    return host.ask("query", query={"name": "status", "session": session})["answer"]


def runs(host, session, tool="shell"):
    """Finds running calls like a watcher of files."""
    runs.path += 1
    host.event("file.changed", session, path=f"{runs.path}.c")
    return f"{runs.path}.c` was modified while {tool} ran" in str(host.ask("query", query={"name": "pending", "session": session})["answer"])


runs.path = 0


def begin(host, session, call="c1"):
    host.event("session.opened", session)
    host.event("turn.started", session)
    return host.event("tools.started", session, call_id=call, tool="shell")


def row(server, session):
    return int(server.sql(f"SELECT version FROM tidings.session WHERE name = '{session}'"))


def resumed(host, session):
    answer = host.event("session.resumed", session, deliveries=[], takeover=False)
    if "error" in answer:
        return answer
    return [call["call_id"] for call in status(host, session)["orphaned_calls"]]


def seen_by_others(server, url, here, there):
    host, near, far = kit.Asked(url, here), kit.Asked(url, here), kit.Asked(url, there)
    begin(host, "s")
    expect(status(near, "s").get("phase") == "tools", "a process of the machine sees the phase at once")
    expect(runs(near, "s"), "and which tool runs, for a file that has changed")
    kit.wait_for(lambda: status(far, "s").get("phase") == "tools", "another machine sees the phase")
    expect(runs(far, "s"), "and which tool runs")
    committed = row(server, "s")
    for number in range(5):
        host.event("tools.finished", "s", call_id="c1")
        host.event("tools.started", "s", call_id="c1", tool="shell")
    commits = row(server, "s") - committed
    expect(commits <= 3, f"five calls after one that was committed: {commits} commits")
    host.event("tools.finished", "s", call_id="c1")
    expect("phase" not in status(near, "s"), "the end of the call is seen at once here")
    kit.wait_for(lambda: "phase" not in status(far, "s"), "another machine sees the end")
    host.event("turn.finished", "s")
    for one in (host, near, far):
        one.end()


def killed_soon(url, here, there):
    """A host is killed before other machines see its state."""
    for number, (where, known) in enumerate(((here, (["c1"],)), (there, ([], ["c1"])))):
        session = f"soon-{number}"
        host, after = kit.Asked(url, here), kit.Asked(url, where)
        begin(host, session)
        kit.tidings("push", "-S", url, "-s", session, "-k", "fleet.test", "#kept#")
        host.process.send_signal(signal.SIGKILL)
        host.process.wait(120)
        found = resumed(after, session)
        expect(found in known, f"the next host {'here' if where is here else 'elsewhere'} is told that these ran: {found}")
        state = status(after, session)
        expect(state["state"] == "idle" and "phase" not in state, f"and no turn runs: {state}")
        shown = after.ask("tool_result", session=session, call_id="c2", tool="shell", content="done")
        expect("#kept#" in shown["content"], "and gets what was pushed")
        after.end()


def killed_late(server, url, here, there):
    """A host is killed after other machines have seen its state; another host closes the store before they see it."""
    host, far = kit.Asked(url, here), kit.Asked(url, there)
    begin(host, "late")
    kit.wait_for(lambda: status(far, "late").get("phase") == "tools", "another machine sees the call")
    committed = row(server, "late")
    host.event("tools.started", "late", call_id="c2", tool="make")
    host.event("tools.finished", "late", call_id="c1")
    kit.wait_for(lambda: row(server, "late") > committed, "other machines are told of the next call")
    expect(runs(far, "late", "make"), "another machine sees it")
    host.process.send_signal(signal.SIGKILL)
    host.process.wait(120)
    found = resumed(far, "late")
    expect(found == ["c2"], f"the next host elsewhere is told that these ran: {found}")
    host = kit.Asked(url, here)
    begin(host, "closed")
    host.process.stdin.close()
    host.process.wait(120)
    found = resumed(far, "closed")
    expect(found == ["c1"], f"a host that closes the store tells of what runs: {found}")
    far.end()


def server_starts_again(server, url, here):
    """After a restart of the server, the memory of the server before is not used any more; the host continues, and its next calls are seen."""
    host, near = kit.Asked(url, here), kit.Asked(url, here)
    begin(host, "again")
    status(near, "again")  # this process has the store open
    server.stop()
    server.start()
    kit.wait_for(lambda: "reply" in host.event("tools.finished", "again", call_id="c1"), "the call's end")
    host.event("tools.started", "again", call_id="c2", tool="make")
    expect(runs(near, "again", "make"), "after the server was started again a process of the machine sees the next call")
    host.end()
    found = resumed(near, "again")
    expect(found == ["c2"], f"and the next host is told that these ran: {found}")
    near.end()


def main():
    with kit.Server(**kit.Server.FAST) as server, tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        url = kit.make_store(server)
        here, there = {"XDG_RUNTIME_DIR": one}, {"XDG_RUNTIME_DIR": other}
        seen_by_others(server, url, here, there)
        killed_soon(url, here, there)
        killed_late(server, url, here, there)
        server_starts_again(server, url, here)
    return bool(failures)


sys.exit(main())
