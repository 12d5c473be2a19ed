# SPDX-License-Identifier: MIT
"""unseen.py: tests commits whose outcome a host does not learn: a lease that arrives at the server after the host has given up, and an offer that is stored
although the reply that makes it is lost. Both are done again."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

BUDGET_MS = 1500


def answered(function):
    """Returns the answer as soon as the call succeeds, which may take more than one budget on a busy machine."""
    answers = []

    def succeeds():
        try:
            answers.append(function())
        except kit.Failed as failed:
            if failed.code not in ("TIDINGS_E_BUSY", "TIDINGS_E_STORE"):
                raise
        return answers

    kit.wait_for(succeeds, "a busy machine answers within the budget")
    return answers[0]


def code_of(function):
    try:
        function()
    except kit.Failed as failed:
        return failed.code
    return "done"


def hook(host):
    answer = host.call("tool_result", session="s", call_id="c", tool="shell", content="done")
    delivery = (answer.get("reply") or {}).get("delivery")
    if delivery:
        host.call("settle", delivery=delivery, outcome="committed")
    return answer["content"]


def check_late_lease(server, url):
    proxy = net.Proxy(server)
    producer = kit.Kit(url, role="producer")
    host = kit.Kit(url.replace(server.folder, proxy.folder), budget_ms=BUDGET_MS)
    answered(lambda: hook(host))
    producer.call("push", session="s", kind="fleet.test", message="warm")
    expect("warm" in answered(lambda: hook(host)), "the host knows its session")
    producer.call("push", session="s", kind="fleet.test", message="delayed")
    proxy.mode = "delay commit"
    code = code_of(lambda: hook(host))
    expect(code == "TIDINGS_E_OUTCOME_UNKNOWN" and proxy.met, f"the commit of a lease is delayed: {code}")
    answered(lambda: host.call("query", query={"name": "status", "session": "s"}))
    proxy.goes_on.set()
    expect(proxy.answered.wait(120), "the server has got it")
    content = answered(lambda: hook(host))
    expect("delayed" in content, f"what was in it is delivered: {content}")
    leased = answered(lambda: host.call("query", query={"name": "status", "session": "s"}))
    expect("delayed" not in answered(lambda: hook(host)) and not leased["answer"]["leased"], "once, and nothing stays leased")
    host.close()
    producer.close()


def submit(host):
    return host.call("event", event={"type": "message.submitted", "source": "test", "id": "1", "session": "t", "data": {"id": "m", "content": "x"}})


def set_standby(server, name):
    server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
    server.sql("SELECT pg_reload_conf()")
    kit.wait_for(lambda: server.sql("SHOW synchronous_standby_names") == name, "the server to read its settings")


def check_lost_offer(server, url):
    """A commit waits for a missing standby: it is stored, and its call fails."""
    host = kit.Kit(url, budget_ms=BUDGET_MS)
    answered(lambda: host.event("session.opened", "t"))
    set_standby(server, "gone")
    code = code_of(lambda: submit(host))
    set_standby(server, "")
    expect(code == "TIDINGS_E_OUTCOME_UNKNOWN", f"a message is submitted: {code}")
    reply = answered(lambda: submit(host))["reply"]
    actions = [action["type"] for action in reply.get("actions", [])]
    expect(reply.get("duplicate") and actions == ["start_turn"], f"the same event again starts the turn: {reply}")
    host.close()


def main():
    with kit.Server() as server:
        url = kit.make_store(server)
        check_late_lease(server, url)
        check_lost_offer(server, url)
    print(f"# sum: unseen: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
