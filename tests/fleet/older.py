# SPDX-License-Identifier: MIT
"""older.py [BUILD]: tests tables that builds of the previous schema number use too. Nothing may be written into them that these builds cannot read,
before and after the upgrade. With BUILD, the folder of such a build, its hosts run beside today's: each is shown exactly the pushes to its sessions.
"""
import os
import select
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

OLDER = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None


def make_store(server, schema, upgraded):
    """Makes a store like the previous build, whose newest schema number is 3."""
    url = server.url(schema)
    if OLDER:
        subprocess.run([os.path.join(OLDER, "tidings"), "store", "init", url], check=True, stdout=subprocess.DEVNULL)
    else:
        with open(os.path.join(os.path.dirname(__file__), "schema_2.sql"), encoding="utf-8") as file:
            server.sql("BEGIN; " + file.read().replace("@schema@", schema) + "COMMIT")
    if upgraded or not OLDER:
        kit.tidings("store", "upgrade", url)
    if not upgraded:
        server.sql(f"UPDATE {schema}.store SET revision = 3")
    return url


def code_of(call):
    try:
        call()
        return ""
    except kit.Failed as failed:
        return str(failed)


def begin(url, session, **more):
    host = kit.Kit(url, **more)
    host.event("session.opened", session)
    return host


# -- rows that today's build writes
# -----------------------------------------------------------------------------------------------------------------------


def check_first_row(server, url, schema):
    """The first row of a store says which builds can read its rows."""
    kit.Kit(url).close()
    layout = server.sql(f"SELECT get_byte(value, 1) FROM {schema}.live WHERE session = 0 AND kind = 1 ORDER BY n LIMIT 1")
    expect(layout == "2", f"a store that today's build opens first has the layout of the build before: {layout}")


def check_numbers(server, url, schema):
    """An older host finds the sessions that have woken it by trying all numbers, so the numbers must be small."""
    host = kit.Kit(url)
    for number in range(3):
        host.event("session.opened", f"counted-{number}")
    host.close()
    numbers = server.sql(f"SELECT max(session) FROM {schema}.session")
    expect(int(numbers) < 100, f"sessions are counted: {numbers}")


def check_name_lock(server, url, schema):
    """A host that opens a new name takes the lock that older builds take."""
    holder = kit.Sql(server, "holder")
    holder.say(f"BEGIN; SELECT FROM {schema}.name_lock FOR UPDATE;", kit.BEGUN)
    host = kit.Kit(url, budget_ms=500)
    code = code_of(lambda: host.event("session.opened", "locked"))
    expect("BUSY" in code, f"a name is not opened while an older build opens it: {code}")
    holder.end()
    host.close()


def check_forms(server, url, schema):
    """Tests a notification that an older host would drop as damaged."""
    producer = kit.Kit(url, role="producer")
    code = code_of(lambda: producer.call("push", session="forms", kind="a.b", message="over", key="k", activation="silent"))
    expect("silent" in code and "older" in code, f"a silent one is refused: {code}")
    code = code_of(lambda: producer.call("push", session="forms", kind="a.b", message="x", key="k"))
    expect(not code, f"others are not: {code}")
    server.sql(f"SELECT {schema}.push('by-sql', 'a.b', 'info', 'over', key => 'k', activation => 'silent')", check=False)
    expect(server.sql(f"SELECT count(*) FROM {schema}.inbox WHERE name = 'by-sql'") == "0", "nor by SQL")
    producer.close()


def check_producer(server, url, schema):
    """Tests a login that may only push."""
    server.sql(f"GRANT {schema}_producer TO ci")
    done = [kit.tidings("push", "--create", "-S", url.replace("fleet@", "ci@"), "-s", "by-ci", "-k", "a.b", *more, check=False)
            for more in (("red",), ("--activate", "silent", "--key", "k", "over"))]
    expect(not done[0].returncode, f"it pushes: {done[0].stderr.strip()}")
    expect(done[1].returncode and "silent" in done[1].stderr, f"but nothing that is silent: {done[1].stderr.strip()}")


def check_forget(server, url, schema):
    """The number and the head of a forgotten session stay, because an older host remembers the number."""
    host = begin(url, "forgotten")
    host.event("session.closed", "forgotten")
    host.close()
    kit.tidings("store", "forget", "-S", url, "-s", "forgotten")
    kept = server.sql(f"SELECT count(*) FROM {schema}.session JOIN {schema}.live USING (session) WHERE name = 'forgotten' AND kind = 3")
    expect(kept == "1", f"its number and its head stay: {kept}")


def check_alone(server, url, schema):
    """Tests tables that no older build may use."""
    server.sql(f"UPDATE {schema}.store SET schema = revision")
    host = begin(url, "alone")
    host.call("push", session="alone", kind="a.b", message="the build is red", key="k")
    host.call("push", session="alone", kind="a.b", message="over", key="k", activation="silent")
    content = host.call("tool_result", session="alone", call_id="c", tool="shell", content="x")["content"]
    expect(content == "x", f"a silent one takes back what has its key: {content}")
    host.close()


# -- beside an older build ---------------------------------------------------------------------------------------------------------------------------


class Host(kit.Asked):
    """A host of either build, with its session."""

    def __init__(self, url, session, build, **data):
        super().__init__(url, {"TIDINGS_BUILD_DIR": build})
        self.session, self.calls = session, 0
        self.opened = self.event("session.resumed", session, **{"deliveries": [], **data})

    def hook(self):
        self.calls += 1
        return self.ask("tool_result", session=self.session, call_id=f"c{self.calls}", tool="shell", content="x")

    def settled(self, hook):
        return self.ask("settle", delivery=hook["reply"]["delivery"], outcome="committed")


def check_wake(url, build, other):
    """A host is woken for a session that the other build has made."""
    Host(url, "ringing", other).end()
    host = Host(url, "ringing", build)
    expect("error" not in host.opened, f"the other build's session is resumed: {host.opened}")
    descriptor = host.ask("wake_descriptor")["descriptor"]
    while host.ask("next_session")["session"]:
        pass
    kit.tidings("push", "-S", url, "-s", "ringing", "-l", "critical", "-k", "a.b", "#ring#")
    with open(f"/proc/{host.process.pid}/fd/{descriptor}", "rb", buffering=0) as file:
        rang = select.select([file], [], [], 60)[0]
    expect(rang and host.ask("next_session").get("session") == "ringing", "a critical one wakes its host")
    host.settled(host.hook())
    host.end()


def check_takeover(url, build, other):
    """A session is taken from a host that has a delivery."""
    first = Host(url, "moving", build, takeover=True)
    kit.tidings("push", "-S", url, "-s", "moving", "-k", "a.b", "#moves#")
    shown = first.hook()
    expect("#moves#" in shown.get("content", ""), "the first host shows it")
    second = Host(url, "moving", other, takeover=True)
    again = second.hook()
    expect("#moves#" in again.get("content", ""), f"the second shows it, since no transcript has it: {again.get('content', again)}")
    for answer in (first.settled(shown), first.hook()):
        expect(answer.get("error", {}).get("code") == "TIDINGS_E_CLOSED", f"the first's calls are CLOSED: {answer}")
    expect("error" not in second.settled(again), "the second settles")
    expect("#moves#" not in second.hook().get("content", ""), "and shows it no more")
    third = Host(url, "moving", build, takeover=True, deliveries=[again["reply"]["delivery"]])
    expect("#moves#" not in third.hook().get("content", ""), "nor does the first build again")
    for host in (first, second, third):
        host.end()


def check_forgotten(url, build, other):
    """The other build forgets a session whose number a living host remembers."""
    host = Host(url, "again", build, takeover=True)
    host.event("session.closed", "again")
    subprocess.run([os.path.join(kit.BUILD, "tidings"), "store", "forget", "-S", url, "-s", "again"], check=True, stdout=subprocess.DEVNULL)
    stranger = Host(url, f"stranger-{build == OLDER}", other)
    expect("error" not in stranger.opened, f"another session is made: {stranger.opened}")
    for session in (stranger.session, "again"):
        kit.tidings("push", "--create", "-S", url, "-s", session, "-k", "a.b", f"#to-{session}#")
    answer = host.event("session.resumed", "again", deliveries=[])
    seen = [host.hook() for _ in range(3)]
    words = " ".join(one.get("content", str(one)) for one in seen)
    expect("#to-again#" in words and "#to-stranger" not in words, f"it is shown what is pushed to it: {answer} {words}")
    host.end()
    stranger.end()


def check_timed(url, build):
    """An older host shows a notification that today's command has pushed for later."""
    host = Host(url, "later", build, takeover=True)
    kit.tidings("push", "-S", url, "-s", "later", "-k", "a.b", "--in", "1s", "#later#")
    kit.wait_for(lambda: "#later#" in host.hook().get("content", ""), "what is for later is shown")
    host.end()


def check_commands(url):
    for build in (OLDER, kit.BUILD):
        for words in (["store", "check", url], ["history", "-S", url, "-s", "moving"], ["status", "--all", "-S", url], ["stats", "-S", url, "-s", "moving"]):
            done = subprocess.run([os.path.join(build, "tidings"), *words], capture_output=True, text=True, check=False)
            expect(not done.returncode and "damaged" not in done.stdout, f"{build}: {' '.join(words[:2])} {done.stderr.strip()}")


def check_beside(url, upgraded):
    for build, other in ((OLDER, kit.BUILD), (kit.BUILD, OLDER)):
        check_wake(url, build, other)
        check_takeover(url, build, other)
        if upgraded:
            check_forgotten(url, build, other)
    check_timed(url, OLDER)
    check_commands(url)


def main():
    with kit.Server(**kit.Server.FAST) as server:
        server.sql("CREATE ROLE ci LOGIN")
        for schema, upgraded in (("before", False), ("upgraded", True)):
            print(f"# {schema}")
            url = make_store(server, schema, upgraded)
            check_first_row(server, url, schema)
            check_numbers(server, url, schema)
            check_name_lock(server, url, schema)
            check_producer(server, url, schema)
            check_forms(server, url, schema)
            if OLDER:
                check_beside(url, upgraded)
            if upgraded:
                check_forget(server, url, schema)
                check_alone(server, url, schema)
    print(f"# sum: older{' with an older build' if OLDER else ''}: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
