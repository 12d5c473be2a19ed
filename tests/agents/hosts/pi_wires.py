# SPDX-License-Identifier: MIT
"""pi_wires.py: tests events of the real pi: retries, compaction in a turn, and its tree."""

from node_hosts import times, until
from node_scenarios import Script, exactly_once, never, pending, push, status


def retried(pi):
    """while pi waits to try again the session is retrying"""
    pi.begin()
    limited = {"status": 429, "until": "limit", "message": "Too Many Requests: rate limit", "headers": {"retry-after": "1"}}
    script = Script(pi, "Ask too often.", [limited, {"text": "At last "}, {"call": "bash", "arguments": {"command": "true"}}], [{"text": "It worked."}])
    pi.prompt("Ask too often.")
    until(lambda: status(pi)["state"] == "retrying", lambda: f"the session is retrying: {status(pi)}")
    assert status(pi)["attempt"] == 1, status(pi)
    pi.model.release("limit")
    pi.settled()
    assert "turn.retrying" in pi.place.tidings("history", "-s", pi.session)
    assert len(script.requests) >= 3, len(script.requests)


def compacted_in_a_turn(pi):
    """when pi compacts in a turn, the queued message is the next turn, and a pending notification is there once"""
    pi.begin()
    go, more = pi.place.root / "compact-go", "and on it goes " * 8000
    Script(pi, "A first tale.", [{"text": "I see."}])
    pi.prompt("A first tale. " + more)
    pi.settled()
    script = Script(pi, "A tale to compact.", [pi.shell("echo a first")], [{"tokens": 99000}, pi.shell(f"while [ ! -e '{go}' ]; do sleep 0.02; done; echo a second")],
                    [pi.shell("echo a third")], [{"text": "Told."}])
    pi.model.replace([{"name": "summary", "tools": False, "text": "summar", "answers": [[{"text": "So far "}, {"hold": "compacted"}, {"text": "so good."}]]}, *pi.model.script.rules])
    pi.prompt("A tale to compact. " + more)
    script.last(2)
    until(lambda: status(pi).get("phase") == "tools", "the second tool runs")
    pi.place.tidings("submit", "-s", pi.session, "Then deploy.")
    before = len(pi.model.requests)
    go.touch()
    until(lambda: any(not request["tools"] for request in pi.model.requests[before:]), "pi asks for a summary")
    push(pi, "While it compacts.", "-l", "warning")
    pi.model.release("compacted")
    pi.settled()
    last = [request for request in pi.model.requests if request["tools"] and "a third" in request["text"]]
    assert last and times(last[0], "Then deploy.") == 0, [request["items"][-2:] for request in pi.model.requests[-3:]]
    exactly_once(last[0], "While it compacts.")
    exactly_once(until(lambda: next((request for request in reversed(pi.model.requests) if "Then deploy." in request["text"]), None), "the message is the next turn"), "Then deploy.")


def another_branch(pi):
    """when a person goes back in the tree of a session, a notification that only the abandoned branch had is shown again"""
    pi.begin()
    before, pi.lines = pi.lines, None
    extension = pi.place.root / "goes.ts"
    extension.write_text("""export default (pi) => pi.registerCommand("go", { description: "Goes back", handler: async (id, ctx) => {
  const given = typeof id === "string" && ctx ? ctx : id;
  const first = given.sessionManager.getEntries().find((entry) => entry.type === "message" && entry.message.role === "assistant");
  await given.navigateTree(first.id);
} });
""")
    pi.start("-e", extension)
    try:
        script = Script(pi, "A root.", [{"text": "Rooted."}])
        pi.prompt("A root.")
        pi.settled()
        push(pi, "On the first branch.", "-l", "error")
        pi.prompt("A root. A first branch.")
        pi.settled()
        exactly_once(script.last(2), "On the first branch.")
        pi.prompt("/go")
        until(lambda: pending(pi) == 1, lambda: f"it is pending again: {pi.place.ask('pending', '-s', pi.session)}")
        pi.prompt("A root. A second branch.")
        pi.settled()
        last = script.last(3)
        exactly_once(last, "On the first branch.")
        never(last, "A first branch.")
    finally:
        pi.lines.kill()
        pi.lines = before


ALL = [retried, compacted_in_a_turn, another_branch]
