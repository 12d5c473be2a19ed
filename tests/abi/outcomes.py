#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""outcomes.py HOSTKIT.so PLUGIN PROBE [SEED [ROUNDS]]: delivers, rolls back and withdraws random notifications under random configurations. Each item
must end with exactly one outcome, preview must show the content of the next carrier, and history, explain, stats, stream and pending must agree. Prints
TAP.
"""
import collections
import os
import random
import sys
import tempfile

from agreement import Kit

STEPS = 60
FORMATS = ["markdown", "markdown-flat", "xml", "xml-batch", "json", "system-reminder", "openai", "anthropic", "synthetic-call", "plain"]
BITS = ["---", "\n", "</notification>", "<system-reminder>", "**Critical:**", "```", '"', "'", "\u202e", "\u200b", "\ufe0f", "<", "&", "- ", "é", "😀",
        "(3 more notifications pending)", "While you worked (not from the user):", "text", " ", "\t", "\r", "{", "`", "#", "\u2028", "[error] ", "\\"]
KINDS = [{}, {"mcp": False}, {"tool.failed": False}, {"handle": {"waiting": False}}, {"file": {"enable": False, "changed": True}}]


class Round:
    def __init__(self, kit, dice, session):
        self.kit, self.dice, self.session = kit, dice, session
        self.out = []  # deliveries to settle
        self.expires = dice.random() < 0.3  # then an item may expire between preview and delivery

    def call(self, op, **members):
        answer = self.kit.call({"op": op, **members})
        assert "error" not in answer, (op, members, answer)
        return answer

    def ask(self, name, **members):
        return self.call("query", query={"name": name, "session": self.session, **members})["answer"]

    def event(self, type_, **data):
        self.call("event", event={"type": type_, "session": self.session, "data": data})

    def text(self, most=8):
        return "x" + "".join(self.dice.choices(BITS, k=self.dice.randint(0, most)))

    def configure(self):
        pick = self.dice.choice
        self.call("query", query={"name": "configure", "config": {
            "delivery": {"format": pick(FORMATS), "place": pick(["prepend", "append"]), "order": pick(["level", "time", "newest"]),
                         "max_items": pick([0, 1, 2, 5]), "max_tokens": pick([0, 0, 5, 40]), "overflow": pick(["defer", "drop_oldest", "drop_lowest"]),
                         "coalesce_window_ms": pick([0, 0, 50, 86400000]), "annihilate": pick([True, False]), "fence": pick(["none", "nonce"]),
                         "preamble": pick(["always", "first", "never"]), "age_after_ms": pick([0, 60000])},
            "conversation": {"notifications": {"enable": self.dice.random() < 0.9, "kinds": pick(KINDS)},
                             "tools": pick([{}, {"t": {"notifications": {"stopped": False}}}])}}})

    def notification(self):
        pick = self.dice.choice
        more = [(0.4, "key", pick("kl")), (0.2, "tool", "t"), (0.1, "caused_by", "c"), (0.3 if self.expires else 0, "ttl_ms", 1)]
        chosen = {name: value for chance, name, value in more if self.dice.random() < chance}
        self.event("notification", kind=pick(["tool.failed", "a.b", "x", "tool.stopped"]), message=self.text(),
                   level=pick(["info", "warning", "error", "critical"]), data=pick([1, {"path": self.text(3)}, {"paths": ["p", self.text(2)]}, None]), **chosen)

    def report(self):
        pick = self.dice.choice
        what = self.dice.randrange(7)
        if what == 0:
            self.event("handle.state", handle=pick(["h1", "h2"]), tool=pick(["t", self.text(3)]), state=pick(["running", "waiting", "stopped", "failed"]))
        elif what == 1:
            for state in pick([["connected"], ["disconnected"], ["disconnected", "reconnected"], ["unresponsive", "reconnected"]]):
                self.event("mcp.state", server="g", state=state)
        elif what == 2:
            self.event("file.changed", path=pick(["p", "q", self.text(3)]), **({"caused_by": "c"} if self.dice.random() < 0.2 else {}))
        elif what == 3:
            self.event("budget.usage", used=self.dice.randint(0, 100), limit=100)
        elif what == 4:
            self.event("subagent.finished", slug=self.text(3), summary=self.text(30))
        elif what == 5:
            self.event(pick(["run.finished", "run.failed"]), command=pick(["c", self.text(3)]), handle=pick(["h1", "h2"]), tail=self.text(30))
        else:
            self.event("handle.polled", handle="h1")

    def deliver(self):
        beside = {"call_id": "c", "tool": "bash"}
        foretold = self.ask("preview")
        reply = self.call("tool_result", session=self.session, content="C", **beside)["reply"]
        shown = [([(note["kind"], note["level"], note["message"], note.get("count", 1)) for note in told["notifications"]],
                  [(message["role"], message["place"], message["text"]) for message in told["messages"]])
                 for told in (foretold, reply or {"notifications": [], "messages": []})]
        assert self.expires or shown[0] == shown[1], shown
        if reply and reply["delivery"]:
            self.out.append(reply["delivery"])
        while len(self.out) > self.dice.randint(0, 2):
            delivery = self.out.pop(self.dice.randrange(len(self.out)))
            self.call("settle", delivery=delivery, outcome=self.dice.choice(["committed", "committed", "rolled_back"]))

    def play(self):
        self.configure()
        for _ in range(STEPS):
            step = self.dice.random()
            if step < 0.3:
                self.notification()
            elif step < 0.6:
                self.report()
            elif step < 0.9:
                self.deliver()
            else:
                self.configure()
        for delivery in self.out:
            self.call("settle", delivery=delivery, outcome="committed")
        if self.dice.random() < 0.3:
            self.event("session.closed")

    def judge(self):
        """Returns the count of each outcome; all queries must agree about it."""
        stats, history = self.ask("stats"), self.ask("history", limit=10000)
        pending = {item["id"] for item in self.ask("pending", limit=10000)["items"]}
        ends = collections.defaultdict(list)
        for delivery in history["deliveries"]:
            for item in delivery["items"]:
                if delivery["outcome"] == "committed":
                    ends[item["id"]].append(item["outcome"])
        ids = sorted({int(id_) for id_ in list(ends) + list(pending)})
        assert len(ids) == stats["pushed"] == sum(stats["by_source"].values()) == sum(stats["by_level"].values()), (ids, stats)
        counts = collections.Counter()
        for id_ in map(str, ids):
            outcome = self.ask("explain", id=id_)["outcome"]
            assert ends[id_] == ([] if id_ in pending else [outcome]) and (outcome == "pending") == (id_ in pending), (id_, outcome, ends[id_])
            counts[outcome] += 1
        assert {key: counts[key] for key in stats["outcomes"]} == stats["outcomes"] and stats["leased"] == 0, (counts, stats)
        assert stats["pending"] == len(pending), (stats, pending)
        events = self.ask("stream")["events"]
        carried = sum(len(event.get("notifications", [])) for event in events if event["type"] != "system_notification_queued")
        assert (len([event for event in events if event["type"] == "system_notification_queued"]), carried) == (len(ids), counts["delivered"]), events
        self.ask("render", events=events)
        return counts


def main(library, plugin, probe, seed="1", rounds="20"):
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        kit = Kit(library, plugin, probe, os.path.join(folder, "store"))
        dice = random.Random(int(seed))
        for number in range(int(rounds)):
            play = Round(kit, dice, f"s{number}")
            play.play()
            seen += play.judge()
        kit.close()
    print(f"# {dict(seen)}")
    missing = {"delivered", "superseded", "annihilated", "withdrawn", "expired", "filtered", "dropped", "closed"} - set(seen)
    print(f"{'not ok' if missing else 'ok'} 1 - every item ends in one outcome, and all queries tell the same {sorted(missing) or ''}")
    print("1..1")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
