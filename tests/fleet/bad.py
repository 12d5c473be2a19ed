# SPDX-License-Identifier: MIT
"""bad.py: tests a wrong URL, an unsuitable server, and a role without rights: each error says what to do, comes within the call's budget, and does not
contain the password. Also tests pushes by SQL, with the same checks and errors, by a role that may only push.
"""
import calendar
import os
import pwd
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

late = net.Lateness()


def refused(url, words, what, budget_ms=kit.PATIENT_MS):
    """Checks that opening the store is refused with these words, within the budget: a short one if nothing answers, otherwise one in which a busy server
    answers."""
    late.since()
    began = time.monotonic()
    try:
        kit.Kit(url, budget_ms=budget_ms)
        expect(False, f"{what}: it was opened")
    except kit.Failed as failed:
        took = time.monotonic() - began
        in_time = took * 1000 < budget_ms + kit.LATE_MS + 3 * late.since()
        expect(words in failed.text and "hunter2" not in failed.text and in_time, f"{what}: {failed.text} ({took:.2f} s)")


def sql_push(server, user, arguments):
    return subprocess.run([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", user, "-d", "fleet", "-c", f"SELECT tidings.push({arguments})"],
                          capture_output=True, text=True, check=False)


def check_urls(server):
    host = server.folder
    refused("postgresql://fleet:hunter2@/?host=" + host, "names no database", "a URL without a database")
    refused("postgresql://fleet:hunter2@/fleet?host=%zz", "cannot be read", "a URL that is none")
    refused(f"postgresql://fleet:hunter2@/fleet?host={host}&schema=No", "a parameter schema that is no name", "a schema that is no name")
    refused(f"postgresql://fleet:hunter2@/absent?host={host}", 'database "absent" does not exist', "a database that is not there")
    refused("postgresql://fleet:hunter2@/fleet?host=/nowhere", "cannot be reached", "no server")
    refused("postgresql://fleet:hunter2@127.0.0.1:1,127.0.0.2:2/fleet", "store postgresql://fleet@127.0.0.1:1,127.0.0.2:2/fleet?schema=tidings cannot", "two servers, named as they were")
    refused(server.url("absent"), "tidings store init", "a schema that is not there")
    server.sql("CREATE SCHEMA others; CREATE TABLE others.store (a int)")
    refused(server.url("others"), "tidings store init", "a schema of somebody else's")
    done = kit.tidings("store", "drop", server.url("others"), check=False)
    expect("is no store" in done.stderr and server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'others'") == "1", f"it is not dropped: {done.stderr.strip()}")
    server.sql("UPDATE tidings.store SET schema = 7")
    refused(server.url(), "use a newer tidings", "a newer schema")
    server.sql("UPDATE tidings.store SET schema = 1, revision = NULL")
    refused(server.url(), "of an older tidings, one that knows number 2, and then of this one", "tables that are too old")
    server.sql("UPDATE tidings.store SET schema = 2, revision = 3; ALTER TABLE tidings.inbox RENAME counted TO elsewhere")
    done = kit.tidings("push", "--create", "-S", server.url(), "-s", "s", "too early", check=False)
    expect("run 'tidings store upgrade URL'" in done.stderr, f"tables without a column: {done.stderr.strip()}")
    server.sql("ALTER TABLE tidings.inbox RENAME elsewhere TO counted")
    refused(server.url(more="&options=-cdefault_transaction_read_only%3Don"), "read-only", "a read-only database")


def check_roles(server):
    server.sql("CREATE ROLE stranger LOGIN; CREATE ROLE ci LOGIN; GRANT tidings_producer TO ci; CREATE ROLE agent LOGIN; GRANT tidings_host TO agent")
    refused(server.url().replace("fleet@", "stranger@"), "tidings store init", "a role without any right")
    server.sql("UPDATE tidings.store SET revision = NULL")
    refused(server.url().replace("fleet@", "ci@"), "may not do this", "a role that may only push, in tables of number 2")
    server.sql("UPDATE tidings.store SET revision = 3")
    host = kit.Kit(server.url().replace("fleet@", "agent@"))
    host.event("session.opened", "s")
    done = sql_push(server, "ci", "'s', 'ci.failed', 'error', 'the build is red', id => 'b1', source => 'ci'")
    expect(done.stdout.strip() == "" and not done.returncode, f"SQL pushes {done.stderr}")
    expect(sql_push(server, "ci", "'s', 'ci.failed', 'error', 'the build is red', id => 'b1', source => 'ci'").stdout.strip() == "duplicate", "once")
    for arguments, words in (("'s', 'ci.failed', 'loud', 'x'", 'data.level: "loud" is not one of info, warning, error, critical'), ("'', 'ci.failed', 'info', 'x'", "session: must not be empty"),
                             ("'s', '.x', 'info', 'x'", "the source is empty"), ("'s', 'ci.failed', 'info', ' '", "data.message: must not be empty or blank")):
        done = sql_push(server, "ci", arguments)
        expect(words in done.stderr, f"SQL refuses {arguments}: {done.stderr.strip().splitlines()[:1]}")
    done = subprocess.run([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", "ci", "-d", "fleet", "-c", "SELECT * FROM tidings.inbox"],
                          capture_output=True, text=True, check=False)
    expect("permission denied" in done.stderr, "and may read nothing")
    answer = host.call("tool_result", session="s", call_id="c1", tool="shell", content="x")
    expect("the build is red" in answer["content"], "the host shows it")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    check_limit(server, host)
    host.close()


def check_limit(server, host):
    """A connection is used as before after the setting of its time limit has failed once."""
    rights = "INSERT ON tidings.inbox {} tidings_host", "EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) {} public"
    server.sql("; ".join("REVOKE " + right.format("FROM") for right in rights))
    for what in ("a refused push", "after which the limit is to be set"):
        try:
            host.call("push", session="s", kind="fleet.test", message="denied")
            expect(False, f"{what}: stored")
        except kit.Failed as failed:
            expect("may not do this" in failed.text, f"{what}: {failed.text}")
    server.sql("; ".join("GRANT " + right.format("TO") for right in rights))
    try:
        expect(host.call("push", session="s", kind="fleet.test", message="granted"), "it may again")
    except kit.Failed as failed:
        expect(False, f"it may again: {failed.text}")


def check_password(server):
    server.sql("CREATE ROLE secret LOGIN PASSWORD 'right'")
    path = os.path.join(server.data, "pg_hba.conf")
    with open(path, encoding="utf-8") as file:
        rules = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write("local all secret scram-sha-256\n" + rules)
    server.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not subprocess.run([os.path.join(server.bin, "psql"), "-w", "-h", server.folder, "-U", "secret", "-d", "fleet", "-c", "SELECT 1"],
                                                             capture_output=True, check=False).returncode:
        time.sleep(0.02)
    url = server.url()
    refused(url.replace("fleet@", "secret:hunter2@"), "password is wrong", "a wrong password")
    refused(url.replace("fleet@", "secret@"), "password is wrong or missing", "no password")
    for verb in (("doctor", "-S"), ("status", "-S"), ("store", "check", "-S"), ("store", "check")):
        done = kit.tidings(*verb, url.replace("fleet@", "secret:hunter2@"), check=False)
        expect("hunter2" not in done.stdout + done.stderr, f"{verb[0]} shows no password: {(done.stderr + done.stdout).strip()[-120:]}")


def check_full(server):
    held = []

    def refusal():
        """Opens one more connection each time, because some may have been refused before another connection was closed."""
        held.append(subprocess.Popen([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", "ci", "-d", "fleet"], stdin=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        try:
            if len(held) >= limit:
                kit.Kit(server.url().replace("fleet@", "agent@")).close()
            return None
        except kit.Failed as failed:
            return failed

    limit = int(server.sql("SHOW max_connections"))
    failed = kit.wait_for(refusal, "no connection is left")
    expect("raise its max_connections" in failed.text, f"no connection left: {failed.text}")
    for one in held:
        one.kill()
        one.wait()


def check_network(server):
    proxy = net.Proxy(server)
    proxy.mode = "old"
    refused(server.url().replace(server.folder, proxy.folder), "expected 15 or newer: upgrade it", "a server that is too old")
    proxy.mode = "stall"
    refused(server.url().replace(server.folder, proxy.folder), "did not answer in time", "a server that says nothing", 1000)
    pooler = net.Pooler(server)
    url = server.url().replace(server.folder, pooler.folder)
    refused(url, "pool_mode=session", "a pooler of transactions")
    done = kit.tidings("store", "check", url, check=False)
    expect(done.returncode == 0, f"a pooler that knows few parameters lets store check in: {done.stdout}{done.stderr}")
    pooler = net.Pooler(server, statements=True)
    refused(server.url().replace(server.folder, pooler.folder), "pool_mode=session", "a pooler of statements")


def check_names(server):
    apart = ["unshare", "--mount", "--net"]
    if os.geteuid() or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        print("# names that are not found: skipped, it needs root and namespaces")
        return
    program = os.path.join(os.path.dirname(__file__), "lost_names.py")
    done = subprocess.run([*apart, sys.executable, program, server.folder], capture_output=True, text=True, check=False)
    lines = [*done.stdout.splitlines(), "", "", "", "", ""]
    expect(lines[0].startswith("in time") and "were not found in time" in lines[0], f"a resolver that does not answer: {lines[0]}{done.stderr}")
    expect("were not found in time" in lines[1], f"and store init: {lines[1]}")
    for line, what in zip(lines[2:4], ("to", "from")):
        expect("were not found in time" in line and line.endswith("nothing was made"), f"store copy {what} such a server: {line}")
    expect(lines[4] == "the second server was found", f"the first of two servers is not there: {lines[4]}")


def check_disk(server):
    """The tables are on a file system of four megabytes, which a file fills up."""
    small = os.path.join(server.folder, "small")
    os.mkdir(small)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tidings-small", small]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        print("# a full disk: skipped, mounting a small one needs root")
        return
    try:
        account = pwd.getpwnam("nobody")
        os.chown(small, account.pw_uid, account.pw_gid)
        server.sql(f"CREATE TABLESPACE small LOCATION '{small}'")
        server.sql("ALTER ROLE fleet SET default_tablespace = small")
        url = kit.make_store(server, "tight")
        server.sql("ALTER ROLE fleet RESET default_tablespace")
        host = kit.Kit(url)
        host.event("session.opened", "s")
        ballast = os.path.join(small, "ballast")
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        stored, said = 0, None
        while said is None and stored < 2000:
            try:
                host.call("push", session="s", kind="fleet.test", message="x" * 2000)
                stored += 1
            except kit.Failed as failed:
                said = failed
        expect(said and "disk is full; free some space" in said.text, f"a full disk, after {stored} pushes: {said}")
        os.unlink(ballast)
        expect(host.call("push", session="s", kind="fleet.test", message="again"), "with some space it goes on")
        host.close()
        server.sql("DROP SCHEMA tight CASCADE")
        server.sql("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", small], check=False)


def check_clock(server):
    """Times come from the server, so a client whose clock is a day off pushes and leases like all others."""
    off = {"LD_PRELOAD": os.path.join(kit.BUILD, "tests/fleet-clock-off.so")}
    far = {seconds: kit.Asked(server.url(), {**off, "TIDINGS_TEST_CLOCK_OFF": seconds}) for seconds in ("86400", "-86400")}
    ahead, behind = far.values()
    expect("reply" in ahead.event("session.opened", "clock"), "a host whose clock is a day ahead opens a session")
    expect("error" not in behind.ask("push", session="clock", kind="fleet.test", message="from yesterday", id="c1", ttl_ms=3600000), "one that is behind pushes")
    again = ahead.ask("push", session="clock", kind="fleet.test", message="from tomorrow", id="c1", ttl_ms=3600000)
    expect(again.get("reply", {}).get("duplicate"), f"the same id is a duplicate, whatever the clocks say: {again}")
    shown = ahead.ask("tool_result", session="clock", call_id="c", tool="shell", content="done")
    expect("from yesterday" in shown.get("content", ""), "it has not expired two days later by the clocks")
    expect("error" not in ahead.ask("settle", delivery=shown["reply"]["delivery"], outcome="committed"), "and is settled")
    spread = server.sql("SELECT max(abs(at_ms - extract(epoch FROM clock_timestamp()) * 1000)) < 600000 FROM tidings.seen WHERE name = 'clock'")
    expect(spread == "t", "the database has its own time of it")
    check_turns(far)
    for host in far.values():
        host.end()


def check_turns(far):
    """The times of a turn come from its host."""
    for seconds, host in far.items():
        session = f"turn{seconds}"
        host.event("session.opened", session)
        host.event("turn.started", session)
        [entry] = [entry for entry in host.ask("query", query={"name": "sessions"})["answer"]["sessions"] if entry["session"] == session]
        used = abs(calendar.timegm(time.strptime(entry["used"][:19], "%Y-%m-%dT%H:%M:%S")) - time.time())
        expect(used < 600, f"a clock {seconds} s off: the session was used now: {entry['used']}")
        now_ms = int((time.time() + int(seconds)) * 1000)
        states = [host.event("turn.aborted", session, at=at_ms)["reply"]["status"]["state"] for at_ms in (now_ms - 3600000, now_ms)]
        expect(states == ["busy", "idle"], f"a clock {seconds} s off: an end of an hour ago is not this turn's, one of now is: {states}")


def check_wake(server):
    """A notification for later is due by the clock of the waiting host, even if that clock is wrong."""
    for off in ("86400", "-86400"):
        environment = {"LD_PRELOAD": os.path.join(kit.BUILD, "tests/fleet-clock-off.so"), "TIDINGS_TEST_CLOCK_OFF": off}
        host = kit.Asked(server.url(), environment, config={"turns": {"settle_delay_ms": 1500}})
        session = f"wake{off}"
        host.event("session.opened", session)
        host.event("message.submitted", session, id="m1", content="one")
        host.event("turn.started", session, messages=["m1"])
        host.event("message.submitted", session, id="m2", content="two")
        answer = host.event("turn.finished", session)
        due = (answer.get("reply") or {}).get("wake_at") or 0
        expect(abs(due / 1000 - time.time() - int(off)) < 600, f"a clock {off} s off: wake_at is {due / 1000 - time.time():.0f} s from now")
        deadline = time.monotonic() + 120
        actions = []
        while not actions and time.monotonic() < deadline:
            time.sleep(0.05)
            actions = (host.event("wake", session).get("reply") or {}).get("actions") or []
        expect([action["type"] for action in actions] == ["start_turn"], f"and what waits is asked for: {actions}")
        host.end()


def check_roles_elsewhere(server):
    """Roles belong to the server, not to the database."""
    server.sql("CREATE DATABASE other")
    other = server.url().replace("/fleet?", "/other?")
    done = kit.tidings("store", "init", other, check=False)
    expect(done.returncode and "the role tidings_producer" in done.stderr and "another schema" in done.stderr, f"the same schema in two databases: {done.stderr.strip()}")
    expect(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'tidings'", database="other") == "0", "nothing of it was made")
    expect(not kit.tidings("store", "init", other.replace("=tidings", "=elsewhere"), check=False).returncode, "another schema can be made there")


def is_full(host):
    try:
        host.call("push", session="full", kind="ci.failed", message="one more")
        return False
    except kit.Failed as failed:
        return failed.code == "TIDINGS_E_FULL"


def check_quota(server):
    """The waiting pushes are not counted for each push, but before a push is refused."""
    host = kit.Kit(server.url(), role="producer", config={"limits": {"pending_per_session": 2000}})

    def fill(session, count):
        server.sql(f"SELECT count(tidings.push_record('{session}', '', '', '\\x01', 0, 0, 2000, false, 'ci', 0, false, '', 'x')) FROM generate_series(1, {count})")

    host.call("push", session="full", kind="ci.failed", message="the first")
    fill("full", 900)
    fill("beside", 1500)  # all sessions share one sequence of numbers
    fill("full", 998)
    expect(not is_full(host), "1,899 wait, 1,900 may")
    expect(is_full(host) and is_full(host), "and then it is full")
    server.sql("DELETE FROM tidings.inbox WHERE name = 'full' AND n IN (SELECT n FROM tidings.inbox WHERE name = 'full' ORDER BY n LIMIT 1000)")
    fill("full", 999)
    expect(not is_full(host) and is_full(host), "a thousand were taken out: a thousand go in")
    server.sql("DELETE FROM tidings.inbox WHERE name IN ('full', 'beside')")
    expect(not is_full(host), "and after all were")
    host.close()


def check_counted(server):
    """All sessions share one sequence of numbers; when it has grown enough since the last count, a push counts the waiting pushes."""
    host = kit.Kit(server.url(), role="producer", config={"limits": {"pending_per_session": 5000}})
    newest = "SELECT counted, counted_at, (SELECT count(*) FROM tidings.inbox AS i WHERE i.name = 'counted' AND i.n <= newest.counted_at) FROM tidings.inbox AS newest WHERE name = 'counted' ORDER BY n DESC LIMIT 1"

    def pushed():
        host.call("push", session="counted", kind="ci.failed", message="one more")
        return [int(word) for word in server.sql(newest).split("|")]

    pushed()
    server.sql("INSERT INTO tidings.inbox (name, body) SELECT 'beside', '\\x01' FROM generate_series(1, 2600)")
    before = int(server.sql("SELECT max(n) FROM tidings.inbox"))
    row = []

    def counts():
        row[:] = pushed()
        return row[1] > before

    kit.wait_for(counts, "a push that counts")
    expect(row[0] == row[2], f"what waited was counted: {row}")
    server.sql("DELETE FROM tidings.inbox WHERE name IN ('counted', 'beside')")
    host.close()


def check_recovery(server):
    """The server is killed while it writes, and held in its recovery until clients have called it; then it continues."""
    url = server.url()
    host = kit.Kit(url)
    host.event("session.opened", "recovery")
    producer = kit.Worker("producer.py", url, "recovery", "r")

    def acked():
        return {words[1] for words in producer.read() if words[0] == "acked"}

    def wait_for_acked(count):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and len(acked()) < count:
            time.sleep(0.02)
        return len(acked()) >= count

    expect(wait_for_acked(30), "pushes are stored")
    server.stop(signal.SIGKILL)
    with open(os.path.join(server.data, "standby.signal"), "w", encoding="ascii"):
        pass
    server.settings["hot_standby"] = "off"
    server.start(until="standby")
    before = len(acked())
    refused(server.url("another"), "starting up or recovering; try again", "a server in its recovery")
    late.since()
    began = time.monotonic()
    try:
        host.call("tool_result", session="recovery", call_id="c0", tool="shell", content="done")
        expect(False, "a hook during the recovery: it was answered")
    except kit.Failed as failed:
        took = time.monotonic() - began
        expect(failed.code in ("TIDINGS_E_STORE", "TIDINGS_E_BUSY") and took * 1000 < kit.PATIENT_MS + kit.LATE_MS, f"a hook during the recovery: {failed} ({took:.2f} s)")
    done = kit.tidings("deliver", "--at", "tool-result", "-S", url, "-s", "recovery", "--tool", "shell", "--owner", str(os.getpid()), check=False, input="main -> main\n")
    expect("main -> main" in done.stdout, f"the agent's text passes: {done.stdout!r} {done.stderr.strip()}")
    server.run("pg_ctl", "promote", "-D", server.data, "-w", "-t", "300")
    seen = []

    def shows_nothing():
        try:
            answer = host.call("tool_result", session="recovery", call_id=f"d{len(seen)}", tool="shell", content="done")
            delivery = (answer.get("reply") or {}).get("delivery")
            if delivery:
                seen.append(answer["content"])
                host.call("settle", delivery=delivery, outcome="committed")
            return not delivery
        except kit.Failed:
            return False

    # The host delivers meanwhile, because on a slow machine the producer has filled the session before the kill.
    kit.wait_for(lambda: shows_nothing() is not None and len(acked()) >= before + 5, "after it pushes are stored again")
    producer.kill()
    kit.wait_for(shows_nothing, "the host shows all of them")
    pushed, shown = acked(), "".join(seen)
    lost = [token for token in pushed if f"#{token}#" not in shown]
    print(f"# sum: recovery: {len(pushed)} acknowledged: lost {len(lost)}")
    expect(pushed and not lost, f"and nothing is lost: {lost[:3]}")
    host.close()


def main():
    with kit.Server(max_connections=24) as server:
        kit.make_store(server)
        expect('CREATE SCHEMA "dry";' in kit.tidings("store", "init", "--dry-run", server.url("dry")).stdout, "--dry-run prints the SQL")
        expect(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dry'") == "0", "and does nothing")
        check_urls(server)
        check_roles(server)
        check_password(server)
        check_network(server)
        check_names(server)
        check_clock(server)
        check_wake(server)
        check_roles_elsewhere(server)
        check_quota(server)
        check_counted(server)
        check_disk(server)
        check_recovery(server)
        check_full(server)
        server.stop()
        refused(server.url(), "cannot be reached", "a server that is gone")
    print(f"# sum: bad input: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
