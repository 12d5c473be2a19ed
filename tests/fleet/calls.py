# SPDX-License-Identifier: MIT
"""calls.py: tests each kind of call: the number of its round trips, and a stop of the server at each of them. After the stop the call returns an
error within its budget, and the same call succeeds once the server runs again. Nothing is lost, and nothing is shown after a settle that returned OK.
"""
import json
import os
import re
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

BUDGET_MS = 20000


class Host:
    """A host with one session, and the calls that it can make."""

    def __init__(self, url):
        self.url, self.number, self.delivery = url, 0, None
        self.acked, self.shown, self.over, self.twice = set(), {}, set(), 0
        self.open()

    def open(self):
        self.kit = kit.Kit(self.url, budget_ms=BUDGET_MS)

    def resume(self):
        return self.kit.event("session.resumed", "s", deliveries=[name for name, tokens in self.shown.items() if tokens <= self.over])

    def push(self):
        token = f"t{len(self.acked)}"
        answer = self.kit.call("push", session="s", kind="fleet.test", message=f"#{token}#", source="calls", id=token)
        self.acked.add(token)
        return answer

    def hook(self):
        self.number += 1
        answer = self.kit.call("tool_result", session="s", call_id=f"c{self.number}", tool="shell", content="done")
        delivery = (answer.get("reply") or {}).get("delivery")
        if delivery:
            tokens = set(re.findall(r"#(\w+)#", answer["content"]))
            self.twice += len(tokens & self.over)
            self.shown[delivery], self.delivery = tokens, delivery
        return delivery

    def settle(self):
        answer = self.kit.call("settle", delivery=self.delivery, outcome="committed")
        self.over |= self.shown[self.delivery]
        return answer

    def turn(self):
        return self.kit.event("turn.started", "s")

    def end_turn(self):
        return self.kit.event("turn.finished", "s")


def version(server):
    return server.sql("SELECT version FROM tidings.session WHERE name = 's'")


def tool_call(host, call):
    """Makes a complete tool call with nothing pending."""
    host.kit.event("tools.started", "s", call_id=call, tool="shell")
    host.kit.call("tool_result", session="s", call_id=call, tool="shell", content="done")
    return host.kit.event("tools.finished", "s", call_id=call)


def no_commit(host, server):
    """A turn whose tool calls find nothing writes only at its begin and its end. A call with a durable change still writes."""
    host.turn()
    before = version(server)
    for number in range(20):
        host.kit.event("stream.started", "s")
        host.kit.event("stream.finished", "s")
        tool_call(host, f"n{number}")
    expect(version(server) == before, f"twenty tool calls with nothing pending and no commit: {before} and {version(server)}")
    started = {"type": "tools.started", "session": "s", "source": "calls", "id": "with-id", "data": {"call_id": "with-id", "tool": "shell"}}
    host.kit.call("event", event=started)
    again = host.kit.call("event", event=started)
    expect(version(server) != before and "duplicate" in str(again), "one with an id is committed, and done once")
    host.kit.event("tools.finished", "s", call_id="with-id")
    host.end_turn()


def stop_is_seen(host, url):
    """Another process asks for an action between a tool result and the end of its call: the answer to the next event has it."""
    asker = kit.Asked(url)
    host.turn()
    host.kit.event("tools.started", "s", call_id="stopped", tool="shell")
    host.kit.call("tool_result", session="s", call_id="stopped", tool="shell", content="done")
    expect("reply" in asker.event("turn.stop", "s"), "another process asks for the turn to end")
    answers = [host.kit.event("tools.finished", "s", call_id="stopped"), host.kit.event("stream.started", "s")]
    told = [answer["reply"] for answer in answers if "stop_turn" in json.dumps(answer)]
    expect(len(told) == 1, f"the host is told once, at the next event at the latest: {answers}")
    host.kit.event("turn.aborted", "s")
    asker.end()


def look_in_time(host, server):
    """A look for sessions that rang waits for the call's budget: a short one ends while a long one waits, which then gets the answer."""
    brief = open_in_time(kit.make_store(server, "brief"))
    holder = kit.Sql(server, "holder")
    holder.say("BEGIN; LOCK TABLE tidings.session, brief.session;", kit.BEGUN)
    answers = []
    patient = threading.Thread(target=lambda: answers.append(outcome(host.kit)))
    patient.start()
    kit.wait_for(lambda: server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0", "a look that waits")
    said, waits = outcome(brief), not answers
    holder.end("ROLLBACK;")
    patient.join()
    expect("TIDINGS_E_BUSY" in said and waits and "session" in answers[0], f"a look waits as long as it may: {said}, {answers}")
    brief.close()


def open_in_time(store):
    """Opens a store with a budget of a second. On a busy machine the connection or the commit may take longer: it is tried again."""
    opened, words = [], []

    def opens():
        try:
            opened.append(kit.Kit(store, budget_ms=1000))
        except kit.Failed as failed:
            words.append(str(failed))
        return opened
    kit.wait_for(opens, "a store opened within a second")
    if words:
        print(f"# opened after {len(words)} failures: {words[-1]}")
    return opened[0]


def outcome(host):
    try:
        return host.call("next_session")
    except kit.Failed as failed:
        return str(failed)


def count_trips(host, proxy):
    """Makes each kind of call twice, because the first one may have to load more."""
    budget = {"push": 1, "hook": 2, "settle": 1, "quiet": 1, "turn": 2, "end_turn": 2, "new session": 4, "event with an id": 2, "tool call": 2}
    took = {}

    def measured(name, function):
        before = proxy.trips
        answer = function()
        took[name] = proxy.trips - before
        return answer

    for i in range(2):
        measured("push", host.push)
        expect(measured("hook", host.hook), "the hook shows what was pushed")
        measured("settle", host.settle)
        expect(not measured("quiet", host.hook), "then a hook is quiet")
        measured("turn", host.turn)
        measured("end_turn", host.end_turn)
        measured("new session", lambda i=i: host.kit.event("session.opened", f"new-{i}"))
        with_id = {"type": "turn.started", "session": "s", "source": "calls", "id": f"e{i}", "data": {}}
        measured("event with an id", lambda event=with_id: host.kit.call("event", event=event))
        expect("duplicate" in str(host.kit.call("event", event=with_id)), "the same event again is a duplicate")
        host.end_turn()
        host.turn()
        measured("tool call", lambda i=i: tool_call(host, f"call-{i}"))
        host.end_turn()
    print(f"# sum: round trips: {', '.join(f'{name} {count}' for name, count in took.items())}")
    for name, most in budget.items():
        expect(took[name] <= most, f"{name} takes {took[name]} round trips, at most {most}")


def outdated_settle(host, proxy, server):
    """A settle uses the session as its process read it last. If another client has written to the session since, the settle notices that and reads it
    again."""
    host.push()
    host.hook()
    server.sql("UPDATE tidings.session SET version = version + 1 WHERE name = 's'")
    before = proxy.trips
    host.settle()
    took = proxy.trips - before
    state = server.sql("SELECT waiting FROM tidings.session WHERE name = 's'")
    expect(1 < took <= 4 and state == "0" and not host.hook(), f"a settle of an outdated session takes {took} round trips, and then nothing waits")


def failed_over(server):
    """The server that takes over may have lost the last commits, and may have other rows under the same version; so rows that were read before are
    not used."""
    ours = "FROM pg_stat_activity WHERE application_name = 'tidings'"
    others = server.sql(f"SELECT coalesce(array_agg(pid), '{{}}') {ours}")  # the connections of the host at the proxy stay
    host = kit.Kit(server.url(), budget_ms=BUDGET_MS)
    host.event("session.opened", "f")
    host.call("push", session="f", kind="fleet.test", message="#lost#")

    def hook(number):
        return host.call("tool_result", session="f", call_id=f"c{number}", tool="shell", content="done")["reply"] or {}

    keep = {"live": "session = (SELECT session FROM session WHERE name = 'f')", "inbox": "name = 'f'"}
    server.sql("SET search_path = tidings; CREATE TABLE public.then AS SELECT floors, waiting FROM session WHERE name = 'f'; "
               + "; ".join(f"CREATE TABLE public.{table}_then AS SELECT * FROM {table} WHERE {which}" for table, which in keep.items()))
    delivery = hook(1)["delivery"]
    server.sql(f"SELECT pg_terminate_backend(pid, 60000) {ours} AND pid <> ALL ('{others}')")
    server.sql("SET search_path = tidings; UPDATE session SET floors = t.floors, waiting = t.waiting FROM public.then t WHERE name = 'f'; "
               + "; ".join(f"DELETE FROM {table} WHERE {which}; INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE public.{table}_then" for table, which in keep.items()))
    try:
        words = str(host.call("settle", delivery=delivery, outcome="committed"))
    except kit.Failed as failed:
        words = str(failed)
    expect("no delivery has this id" in words and "delivery" in hook(2), f"the lease was lost in a failover: the settle says {words}, and the next hook shows it again")
    host.close()


def late_commit(host, proxy, server):
    """A push that was reported as not stored is not stored later."""
    host.push()
    host.hook()
    proxy.mode = "late commit"
    try:
        words = str(host.settle())
    except kit.Failed as failed:
        words = str(failed)
    proxy.goes_on.set()
    kit.wait_for(proxy.answered.is_set, "the server's answer to what came late")
    waiting = server.sql("SELECT waiting FROM tidings.session WHERE name = 's'")
    expect("nothing was stored" in words and waiting == "1", f"a settle that comes late to the server: {words}; {waiting} waits")
    host.settle()


def lost_with_words(host, proxy, server, *last_words):
    """A pooler that loses its server in a commit reports that, but not whether the commit succeeded; nor does a server that dies, because its disk is full
    for example. The session's row shows it; for a push nothing does."""
    met, proxy.last_words = proxy.met, last_words
    proxy.mode = "lose server"
    host.turn()
    token = f"t{len(host.acked)}"
    try:
        host.push()
        words = "stored"
    except kit.Failed as failed:
        words = str(failed)
    proxy.mode = "pass"
    host.acked.add(token)
    state = server.sql(f"SELECT count(*) FROM tidings.seen WHERE id = '{token}'")
    expect(proxy.met == met + 2 and host.end_turn(), f"a commit whose answer was lost is found again ({last_words})")
    expect(state == "1" and "outcome unknown" in words, f"and a push says that it may be stored: {words} ({last_words})")


def interrupted(host, proxy, server, name, trip):
    """Stops the server when the call has had `trip` answers, and starts it again. Returns False if the call needs no more round trips."""
    result = []

    def call():
        try:
            result.append(getattr(host, name)())
        except kit.Failed as failed:
            result.append(failed)
        result.append(time.monotonic())

    proxy.held.clear()
    proxy.hold_from = proxy.trips + trip
    thread = threading.Thread(target=call)
    began = time.monotonic()
    thread.start()
    while thread.is_alive() and not proxy.held.is_set():
        thread.join(0.005)
    met = proxy.held.is_set()
    if met:
        server.stop(signal.SIGQUIT)
        server.start()
    proxy.hold_from = None
    thread.join()
    took = result[1] - began
    failed = isinstance(result[0], kit.Failed)
    if met:
        words = str(result[0]) if failed else "done"
        good = not failed or result[0].code in ("TIDINGS_E_STORE", "TIDINGS_E_OUTCOME_UNKNOWN", "TIDINGS_E_BUSY", "open")
        expect(good and took * 1000 < BUDGET_MS + kit.LATE_MS, f"{name}, the server stops after {trip} round trips: {words}")
    return met


def again(function, what):
    """Makes the call again, as its error asks; the host still owns a session whose connection has died."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            return function()
        except kit.Failed as failed:
            words = str(failed)
            time.sleep(0.05)
    expect(False, f"{what} again: {words}")
    return None


def restart_in_each(host, proxy, server):
    prepare = {"push": [], "hook": [host.push], "settle": [host.push, host.hook], "turn": [], "end_turn": [host.turn], "resume": []}
    calls = 0
    for name, before in prepare.items():
        trip = 0
        while True:
            for function in before:
                again(function, name)
            met = interrupted(host, proxy, server, name, trip)
            calls += met
            again(getattr(host, name), name)
            # A call whose answer was lost may have leased notifications. They are not in the transcript, so the host resumes and gets them again.
            again(host.resume, "resume")
            while again(host.hook, "hook"):
                again(host.settle, "settle")
            if not met:
                break
            trip += 1
    seen = set().union(*host.shown.values())
    print(f"# sum: restarts in the middle: {calls} calls of {len(prepare)} kinds: lost {len(host.acked - seen)}, twice {host.twice}")
    expect(host.acked and not host.acked - seen and not host.twice and calls >= len(prepare), "nothing is lost, nothing is shown twice")


def check_plans(server):
    """All statements find their rows by an index. A bitmap scan would also visit all rows that were deleted since the last vacuum."""
    with open(os.path.join(server.folder, "log"), encoding="utf-8", errors="replace") as log:
        plans = [entry for entry in re.split(r"\n(?!\t)", log.read()) if entry.startswith("tidings|") and "plan:\n" in entry]
    wrong = {found[0] for plan in plans if (found := re.search(r"(Bitmap Heap|Seq) Scan on (inbox|session|live|history\w*|seen)\b", plan))}
    wrong |= {plan for plan in plans if re.search(r"on live\b", plan) and "Join Filter" in plan}  # it would visit each row of the session
    asked = {table for plan in plans for table in re.findall(r"Index (?:Only )?Scan (?:Backward )?using \w+ on (\w+)", plan)}
    expect({"inbox", "session", "live"} <= asked and not wrong, f"rows are found by an index: {sorted(wrong) or sorted(asked)}")


def main():
    plans = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": 0, "log_line_prefix": "%a|"}
    with kit.Server(full_page_writes="off", wal_level="minimal", max_wal_senders=0, autovacuum="off", **plans) as server:
        url = kit.make_store(server)
        proxy = net.Proxy(server)
        host = Host(url.replace(server.folder, proxy.folder))
        host.kit.event("session.opened", "s")
        count_trips(host, proxy)
        no_commit(host, server)
        stop_is_seen(host, url)
        look_in_time(host, server)
        outdated_settle(host, proxy, server)
        failed_over(server)
        late_commit(host, proxy, server)
        for last_words in ("FATAL", "08P01"), ("PANIC", "53100"), ("FATAL", "53100"), ("FATAL", "53300"), ("FATAL", "57P03"):
            lost_with_words(host, proxy, server, *last_words)
        restart_in_each(host, proxy, server)
        host.kit.close()
        check_plans(server)
    return bool(failures)


sys.exit(main())
