# SPDX-License-Identifier: MIT
"""rights.py: tests the rights of logins. A login that may only push can use `tidings push`; locks that any login can hold block no client; a store can
be dropped even if its roles have other rights; a schema may have any name; nothing is written to a host's stderr, and no conflict to the server's log.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


def as_role(url, role):
    return url.replace("fleet@", f"{role}@")


def check_producer(server, url):
    """Tests the command with a role that may only push."""
    ci = as_role(url, "ci")
    pushed = [kit.tidings("push", "--create", "-S", ci, "-s", "s", "-k", "ci.failed", "--id", "b1", text, check=False) for text in ("the build is red", "twice")]
    expect([one.returncode for one in pushed] == [0, 0], f"`tidings push` with the producer's role: {pushed[0].stderr.strip()}")
    later = kit.tidings("push", "--create", "-S", ci, "-s", "later", "-k", "ci.failed", "--in", "1h", "the build is late", check=False)
    due = server.sql("SELECT message, tidings.record_due_ms(body) / 1000 > extract(epoch FROM now()) + 3000 FROM tidings.inbox, tidings.record_read(body) WHERE name = 'later'", check=False)
    expect(later.returncode == 0 and due == "the build is late|t", f"a push for later: {later.stderr.strip()} {due}")
    bad = kit.tidings("push", "--create", "-S", ci, "-s", "s", "-l", "critical", "-k", "x" * 1025, "too long", check=False)
    expect("data.kind: 1025 bytes are over the limit of 1024" in bad.stderr, f"a push that is wrong: {bad.stderr.strip()}")
    for record in ("\\x", "\\x02", "\\x0100", "\\x01000003", "\\x0100000302", "\\x01ffffffffffffffffffffffff", "\\x010000000002", "\\x0100000000016b00016d00000000000000020000"):
        done = subprocess.run([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", "ci", "-d", "fleet", "-c",
                               f"SELECT tidings.push_as_producer('s', '', '', '{record}', 0, true)"], capture_output=True, text=True, check=False)
        expect("a record" in done.stderr, f"a record that is none ({record}): {done.stderr.strip().splitlines()[:1]}")
    for what in ("push_record('s', '', '', '\\x01', 0, 0, 10, false, 'x', 0, false, '', 'x')", "keep_days(30)", "forget('s')"):
        done = subprocess.run([os.path.join(server.bin, "psql"), "-XAtq", "-h", server.folder, "-U", "ci", "-d", "fleet", "-c", f"SELECT tidings.{what}"],
                              capture_output=True, text=True, check=False)
        expect("permission denied" in done.stderr, f"it may not call {what.split('(')[0]}")
    host = kit.Kit(as_role(url, "agent"))
    host.event("session.opened", "s")
    answer = host.call("tool_result", session="s", call_id="c1", tool="shell", content="x")
    expect("the build is red" in answer["content"] and "twice" not in answer["content"], "a host shows what it has pushed, once")
    host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
    host.close()
    refused = kit.tidings("push", "-S", ci, "-s", "s", "hello", check=False)
    expect("--create" in refused.stderr, f"a push that looks for its session: {refused.stderr.strip()}")
    refused = kit.tidings("status", "-S", as_role(url, "stranger"), check=False)
    expect("NAME_host" in refused.stderr and "store init" in refused.stderr, f"a login without rights: {refused.stderr.strip()}")


def check_advisory(server, url):
    """A stranger holds all advisory locks that it can guess: no client waits for it, and no owner counts as alive because of it."""
    server.sql("GRANT CONNECT ON DATABASE fleet TO stranger")
    apart = kit.apart()
    first = kit.Asked(as_role(url, "agent"), before=apart or ())
    expect("reply" in first.event("session.opened", "held"), "a host opens a session")
    locks = server.sql("SELECT string_agg(((classid::bigint << 32) | objid::bigint)::text, ',') FROM pg_locks WHERE locktype = 'advisory'").split(",")
    stranger = kit.Sql(server, "stranger", user="stranger")
    names = ["new", "another"]
    stranger.say("BEGIN; SELECT " + ", ".join(
        [f"pg_advisory_lock_shared({lock})" for lock in locks] + [f"pg_advisory_lock(hashtext('tidings'), hashtext('{name}'))" for name in names] + ["pg_advisory_lock(hashtext('tidings days'))"]) + ";",
        kit.BEGUN)
    second = kit.Kit(as_role(url, "agent"), budget_ms=10000)
    for name in names:
        expect(second.event("session.opened", name), f"session {name} is opened, whose name's lock a stranger has")
    server.sql("SELECT tidings.keep_days(30)")
    first.end()
    kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'tidings alive%'") == "1", "the first host's connections to end")
    if apart:
        expect(second.event("session.resumed", "held", deliveries=[]), "a dead host does not live by a lock of a stranger's")
    second.close()
    stranger.end()


def check_drop(server):
    """Tests roles with another right, and a role that may not make roles."""
    url = kit.make_store(server, "team")
    server.sql("CREATE TABLE public.other (a int); GRANT SELECT ON public.other TO team_host")
    done = kit.tidings("store", "drop", url, check=False)
    expect(not done.returncode and server.sql("SELECT to_regnamespace('team') IS NULL") == "t", f"a store whose role has another right is dropped {done.stderr.strip()}")
    expect(server.sql("SELECT string_agg(rolname, ',') FROM pg_roles WHERE rolname LIKE 'team%'") == "team_host", "the role that has it stays")
    server.sql("DROP TABLE public.other; DROP ROLE team_host")
    server.sql("CREATE ROLE small LOGIN; GRANT CREATE ON DATABASE fleet TO small; CREATE ROLE mine_producer; CREATE ROLE mine_host")
    mine = as_role(server.url("mine"), "small")
    expect(not kit.tidings("store", "init", mine, check=False).returncode, "a role that may not make roles makes a store")
    expect(server.sql("SELECT has_function_privilege('mine_producer', 'mine.push_as_producer(text, text, text, bytea, bigint, boolean)', 'EXECUTE')") == "t",
           "and the roles that an administrator has made get their rights")
    done = kit.tidings("store", "drop", mine, check=False)
    expect(not done.returncode and server.sql("SELECT to_regnamespace('mine') IS NULL") == "t", f"and drops it {done.stderr.strip()}")


def check_drop_of_a_busy_store(server):
    """While it cannot be seen whether a host lives, the store is not dropped."""
    url = kit.make_store(server, "busy")
    host = kit.Asked(url)
    host.event("session.opened", "s")
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; LOCK TABLE busy.live;", kit.BEGUN)
    with subprocess.Popen([kit.TIDINGS, "store", "drop", url], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as drop:
        waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidings store' AND wait_event_type = 'Lock'"
        kit.wait_for(lambda: drop.poll() is not None or server.sql(waits) != "0", "drop answers, or waits to drop")
        holder.end("ROLLBACK;")
        said = drop.communicate(timeout=120)[1]
    expect("TIDINGS_E_BUSY" in said and server.sql("SELECT to_regnamespace('busy') IS NULL") == "f", f"a store that cannot be read now is not dropped: {said.strip()}")
    host.end()
    kit.tidings("store", "drop", url)


def check_drop_beside_a_copy(server):
    """A dump that was restored in another database of the server has the same roles."""
    url, dump = kit.make_store(server, "twin"), os.path.join(server.folder, "twin.dump")
    kit.tidings("push", "--create", "-S", url, "-s", "s", "hello")
    server.run("pg_dump", "-h", server.folder, "-U", "fleet", "-d", "fleet", "-n", "twin", "-Fc", "-f", dump)
    server.sql("CREATE DATABASE copy", database="postgres")
    server.run("pg_restore", "-h", server.folder, "-U", "fleet", "-d", "copy", dump)
    done = kit.tidings("store", "drop", url, check=False)
    expect(not done.returncode and server.sql("SELECT to_regnamespace('twin') IS NULL") == "t", f"a store is dropped beside its copy {done.stderr.strip()}")
    expect(server.sql("SELECT count(*) FROM pg_roles WHERE rolname IN ('twin_host', 'twin_producer')") == "2", "the roles that the copy needs stay")
    copy = url.replace("/fleet?", "/copy?")
    checked = kit.tidings("store", "check", copy, check=False)
    expect("sound" in checked.stdout, f"and the copy is sound {checked.stderr.strip()}")
    kit.tidings("store", "drop", copy)
    expect(server.sql("SELECT count(*) FROM pg_roles WHERE rolname LIKE 'twin%'") == "0", "with the copy the roles go")


def check_schemas(server):
    for schema in ("user", "select", "table"):
        url = server.url(schema)
        kit.tidings("store", "init", url)
        kit.tidings("push", "--create", "-S", url, "-s", "s", "hello")
        host = kit.Kit(url)
        host.event("session.opened", "s")
        expect("hello" in host.call("tool_result", session="s", call_id="c1", tool="shell", content="x")["content"], f"a schema called {schema}")
        host.event("session.closed", "s")
        host.close()
        expect("sound" in kit.tidings("store", "check", url).stdout, "it is checked")
        kit.tidings("store", "upgrade", url)
        kit.tidings("store", "drop", url)


def check_encoding(server):
    """A database of another encoding has no place for each text; initdb makes such databases where the locale is C."""
    server.sql("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", database="postgres")
    refused = kit.tidings("store", "init", server.url("team").replace("/fleet?", "/ascii?"), check=False)
    expect("SQL_ASCII; expected UTF8" in refused.stderr, f"a database of another encoding gets no store: {refused.stderr.strip()}")


def check_quiet(server, url):
    """Tests a server that ends its connections, and a conflict of two writers."""
    with kit.Quiet() as said:
        host = kit.Kit(url)
        host.event("session.opened", "quiet")
        server.sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name LIKE 'tidings%'")
        for number in range(3):
            try:
                host.call("tool_result", session="quiet", call_id=f"c{number}", tool="shell", content="x")
            except kit.Failed:
                pass
        host.call("push", session="quiet", kind="ci.failed", message="x")
        answer = host.call("tool_result", session="quiet", call_id="c9", tool="shell", content="x")
        server.sql("UPDATE tidings.session SET version = version + 1 WHERE name = 'quiet'")
        host.call("settle", delivery=answer["reply"]["delivery"], outcome="committed")
        host.close()
    expect(not said.text(), f"nothing on the host's stderr: {said.text()}")
    with open(os.path.join(server.folder, "log"), encoding="utf-8", errors="replace") as log:
        expect("division by zero" not in log.read(), "no conflict in the server's log")


def check_idle(server, url):
    """A server may end idle connections; the one that shows that a host is alive stays. Another client's connection shows that the time is over."""
    server.sql("ALTER ROLE agent SET idle_session_timeout = '1s'")
    host = kit.Kit(url.replace("fleet@", "agent@"))
    host.event("session.opened", "idle")
    alive = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'agent' AND application_name LIKE 'tidings alive%'"
    expect(server.sql(alive) == "1", "a host is alive")
    other = kit.Sql(server, "other", user="agent")

    def ended():
        with open(os.path.join(server.folder, "log"), encoding="utf-8", errors="replace") as log:
            return "idle-session timeout" in log.read()

    kit.wait_for(ended, "the server to end an idle connection")
    expect(server.sql(alive) == "1", "and is alive while the server ends idle connections")
    other.process.kill()
    other.process.wait(120)
    host.event("session.closed", "idle")
    host.close()
    server.sql("ALTER ROLE agent RESET idle_session_timeout")


def check_arguments(server, url):
    """A password in a URL is removed from the arguments of the process, which every user can read."""
    for arguments in (["-S", url.replace("fleet@", "fleet:hunter2@")], ["--store=" + url.replace("fleet@", "fleet:hunter2@")]):
        follower = subprocess.Popen([kit.TIDINGS, "tail", "-f", "-s", "s", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=kit.command_dies_with_us)
        kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidings'") != "0", "the command to be connected")
        with open(f"/proc/{follower.pid}/cmdline", "rb") as file:
            shown = file.read()
        expect(b"hunter2" not in shown and b"postgresql://fleet@" in shown, f"the arguments of a process: {shown}")
        follower.terminate()
        follower.wait(120)
        kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tidings'") == "0", "it to be gone")


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE ROLE ci LOGIN; GRANT tidings_producer TO ci; CREATE ROLE agent LOGIN; GRANT tidings_host TO agent; CREATE ROLE stranger LOGIN")
        check_producer(server, url)
        check_advisory(server, url)
        check_drop(server)
        check_drop_of_a_busy_store(server)
        check_drop_beside_a_copy(server)
        check_schemas(server)
        check_encoding(server)
        check_quiet(server, url)
        check_idle(server, url)
        check_arguments(server, url)
    print(f"# sum: rights: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
