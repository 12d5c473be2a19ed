# SPDX-License-Identifier: MIT
"""back.py: tests a store that is replaced by an older or another one, with hosts that live, that are dead, and that resume. The store is replaced by an
asynchronous failover, by dropping and making the tables again, and by restoring a dump; with "folder", by an older copy of the folder.

No session is shown pushes to another one, no id is used twice, and only shown notifications count as shown. If the answer to a hook's commit is lost,
a later hook shows the notification.
"""
import os
import re
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

TRIES = 12  # some hooks may be refused, because the store has gone back in time


class Host:
    """A host in its own process, with all texts that it was shown."""

    def __init__(self, url):
        self.asked, self.calls = kit.Asked(url), 0
        self.pid = self.asked.process.pid

    def hook(self, session):
        """Calls the hook. Returns the shown texts, the delivery, and the error's code."""
        self.calls += 1
        answer = self.asked.ask("tool_result", session=session, call_id=f"c{self.calls}", tool="shell", content="done")
        if "error" in answer:
            return set(), None, answer["error"]["code"]
        return set(re.findall(r"#([\w-]+)#", answer.get("content", ""))), (answer.get("reply") or {}).get("delivery"), ""

    def hooks(self, session, wanted=None):
        """Calls `hook` until `wanted` was shown, at most TRIES times."""
        seen, delivery = set(), None
        for _ in range(TRIES):
            tokens, given, _ = self.hook(session)
            seen |= tokens
            delivery = given or delivery
            if wanted in seen:
                break
        return seen, delivery

    def settle(self, delivery, outcome="committed"):
        answer = self.asked.ask("settle", delivery=delivery, outcome=outcome)
        return answer["error"]["code"] if "error" in answer else ""

    def event(self, kind, session, **data):
        answer = self.asked.event(kind, session, **data)
        return answer["error"]["code"] if "error" in answer else ""

    def end(self):
        self.asked.end()


def push(url, session, token):
    kit.tidings("push", "--create", "-S", url, "-s", session, "--id", token, "-k", "back.test", f"#{token}#")


def pushed_and_shown(host, url, session, token):
    push(url, session, token)
    seen, delivery = host.hooks(session, token)
    if token not in seen or host.settle(delivery):
        raise SystemExit(f"{token} was not shown in {session} and settled")
    return delivery


def dead_session(url, session):
    """Makes a session whose host has ended."""
    host = Host(url)
    host.event("session.opened", session)
    host.end()


def nobody_elses(host, url, what):
    """Checks a session after the store went back: beta may have alpha's former number, and its host is dead."""
    dead_session(url, "beta")
    push(url, "beta", "secret")
    seen, _ = host.hooks("alpha")
    push(url, "alpha", "mine")
    more, _ = host.hooks("alpha", "mine")
    kit.expect("secret" not in seen | more, f"{what}: a living host is not shown what was pushed to another session: {sorted(seen | more)}")
    kit.expect("mine" in more, f"{what}: and goes on with its own: {sorted(more)}")


def counts_nothing(url, lost, what):
    """Checks the session "old" after the store went back. `lost`: its deliveries that a transcript has and the store has not. Later a host dies with a
    leased delivery that no transcript has."""
    push(url, "old", "o2")
    host = Host(url)
    kit.expect(host.event("session.resumed", "old", deliveries=lost, takeover=True) == "", f"{what}: a transcript that names what is lost is resumed")
    seen, delivery = host.hooks("old", "o2")
    kit.expect("o2" in seen and delivery not in lost, f"{what}: an id is not given out twice: {delivery}, lost {lost}")
    host.end()
    host = Host(url)
    host.event("session.resumed", "old", deliveries=lost, takeover=True)
    seen, _ = host.hooks("old", "o2")
    kit.expect("o2" in seen, f"{what}: what no transcript has does not count as shown: {sorted(seen)}")
    for delivery in lost:
        code = host.settle(delivery)
        kit.expect(code == "TIDINGS_E_NOT_FOUND", f"{what}: an id that this store has not given out names nothing: {code}")
    host.end()


# -- databases -----------------------------------------------------------------------------------------------------------------------------------


def replayed(primary, standby):
    lsn = primary.sql("SELECT pg_current_wal_lsn()")
    kit.wait_for(lambda: standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{lsn}'", check=False) == "t", "the standby has all")


def failover():
    with kit.Server(wal_level="replica", max_wal_senders=4, wal_sender_timeout="60s") as primary:
        standby = kit.Server(copy_of=primary, hot_standby="on")
        try:
            standby.start()
            kit.make_store(primary)
            url = f"postgresql://fleet@/fleet?host={primary.folder},{standby.folder}&schema=tidings&target_session_attrs=read-write"
            host = Host(url)
            pushed_and_shown(host, url, "old", "o0")
            replayed(primary, standby)
            standby.stop()  # later commits are lost
            lost = [pushed_and_shown(host, url, "old", "o1")]
            pushed_and_shown(host, url, "alpha", "a1")
            primary.stop(signal.SIGKILL)
            standby.start()
            standby.run("pg_ctl", "promote", "-D", standby.data, "-w", "-t", "300")
            nobody_elses(host, url, "failover")
            host.end()
            counts_nothing(url, lost, "failover")
        finally:
            standby.end()


def make_anew(server):
    server.sql("DROP SCHEMA tidings CASCADE")
    server.sql("DROP ROLE IF EXISTS tidings_producer; DROP ROLE IF EXISTS tidings_host")


def dropped(server):
    url = kit.make_store(server)
    host = Host(url)
    lost = [pushed_and_shown(host, url, "alpha", "a1")]
    done = kit.tidings("store", "drop", url, check=False)
    kit.expect(done.returncode and f"pid {host.pid}" in done.stderr and '"alpha"' in done.stderr, f"drop is refused while a host lives: {done.stderr}")
    make_anew(server)
    kit.make_store(server)
    nobody_elses(host, url, "drop and init")
    code = host.settle(lost[0])
    kit.expect(code == "TIDINGS_E_NOT_FOUND", f"drop and init: an id of the store before names nothing: {code}")
    host.end()
    kit.tidings("store", "drop", url)


def restored(server):
    url = kit.make_store(server)
    host = Host(url)
    pushed_and_shown(host, url, "old", "o0")
    dump = os.path.join(server.folder, "dump")
    server.run("pg_dump", "-h", server.folder, "-U", "fleet", "-d", "fleet", "-Fc", "-f", dump)
    lost = [pushed_and_shown(host, url, "old", "o1")]
    pushed_and_shown(host, url, "alpha", "a1")
    server.sql("DROP SCHEMA tidings CASCADE")
    server.run("pg_restore", "-h", server.folder, "-U", "fleet", "-d", "fleet", dump)
    nobody_elses(host, url, "pg_restore")
    host.end()
    counts_nothing(url, lost, "pg_restore")
    kit.tidings("store", "drop", url)


def unknown(server):
    """The commit of a lease succeeds, but its answer is lost: the host lives on without resuming."""
    url = kit.make_store(server)
    proxy = net.Proxy(server)
    host = Host(url.replace(server.folder, proxy.folder))
    pushed_and_shown(host, url, "s", "first")
    for mode in ("reset after commit", "drop answers after commit"):
        token = mode.replace(" ", "-")
        push(url, "s", token)
        proxy.mode = mode
        seen, _, code = host.hook("s")
        proxy.mode = "pass"
        more, _ = host.hooks("s", token)
        kit.expect(token in seen | more, f"{mode}: {code or 'answered'}; what was leased is shown by a later hook: {sorted(seen | more)}")
    host.end()


# -- folders -------------------------------------------------------------------------------------------------------------------------------------


def folder():
    with tempfile.TemporaryDirectory() as place:
        store, backup, plain = (os.path.join(place, name) for name in ("store", "backup", "plain"))
        host = Host(store)
        pushed_and_shown(host, store, "old", "o0")
        kit.tidings("store", "backup", backup, "-S", store)
        kit.tidings("store", "backup", plain, "-S", store)
        lost = [pushed_and_shown(host, store, "old", "o1")]
        pushed_and_shown(host, store, "alpha", "a1")

        os.rename(os.path.join(plain, "data.mdb"), os.path.join(store, "data.mdb"))
        seen, delivery = host.hooks("alpha")
        kit.expect(not seen and not delivery, f"another file in the store's place: a living host is shown nothing: {seen}")
        _, _, code = host.hook("old")
        kit.expect(not seen and code in ("", "TIDINGS_E_STORE"), f"and counts nothing: {code}")
        kit.expect(host.settle(lost[0]) != "", "and settles nothing")
        host.end()

        shutil.rmtree(store)
        shutil.copytree(backup, store)
        dead_session(store, "beta")
        counts_nothing(store, lost, "an older copy")

        # The bytes of the store are overwritten, which no process notices.
        host = Host(store)
        pushed_and_shown(host, store, "alpha", "a2")
        host.end()
        host = Host(store)
        pushed_and_shown(host, store, "alpha", "a3")
        with open(os.path.join(backup, "data.mdb"), "rb") as older, open(os.path.join(store, "data.mdb"), "r+b") as now:
            now.write(older.read())
        push_to = kit.tidings("push", "-S", store, "-s", "alpha", "-k", "back.test", "#later#", check=False)
        seen, delivery = host.hooks("alpha")
        kit.expect(not seen - {"later"}, f"written over: nothing old is shown: {seen}; a push: {push_to.stderr.strip() or 'taken'}")
        host.end()


def main():
    if sys.argv[1:] == ["folder"]:
        folder()
        return bool(kit.failures)
    failover()
    with kit.Server(**kit.Server.FAST) as server:
        dropped(server)
        restored(server)
        unknown(server)
    return bool(kit.failures)


sys.exit(main())
