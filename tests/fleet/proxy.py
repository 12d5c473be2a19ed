# SPDX-License-Identifier: MIT
"""proxy.py: tests a bad network, with a proxy between a host and its server: stalls, resets, half a message, resets in a commit, silence.

Every call returns soon after its budget, with an answer or with BUSY or STORE. No acknowledged push is lost, or shown after a settle that returned
OK.
"""
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

BUDGET_MS = 500
ROUNDS = int(os.environ.get("TIDINGS_FLEET_ROUNDS", "60"))


class Host:
    """A host that shows and settles, and counts."""

    def __init__(self, url):
        self.url, self.kit, self.calls, self.lateness = url, None, 0, net.Lateness()
        self.acked, self.seen, self.over, self.shown = set(), set(), set(), {}
        self.twice, self.late, self.slowest, self.failed = 0, 0, 0, {}

    def opens(self, url):
        try:
            self.kit = self.kit or kit.Kit(url, budget_ms=BUDGET_MS)
            return self.kit.event("session.opened", "s")
        except kit.Failed:
            return None

    def timed(self, function, *arguments, **members):
        self.lateness.since()
        began = time.monotonic()
        try:
            return function(*arguments, **members)
        except kit.Failed as failed:
            self.failed[failed.code] = self.failed.get(failed.code, 0) + 1
            if failed.code == "TIDINGS_E_CLOSED":
                raise
            return None
        finally:
            took = (time.monotonic() - began) * 1000 - BUDGET_MS - 3 * self.lateness.since()
            self.slowest = max(self.slowest, took)
            self.late += took > kit.LATE_MS

    def push(self, token):
        if self.timed(self.kit.call, "push", session="s", kind="fleet.test", message=f"#{token}#", source="proxy", id=token):
            self.acked.add(token)

    def hook(self):
        self.calls += 1
        answer = self.timed(self.kit.call, "tool_result", session="s", call_id=f"c{self.calls}", tool="shell", content="done")
        delivery = answer and (answer.get("reply") or {}).get("delivery")
        if not delivery:
            return False
        tokens = set(re.findall(r"#([\w-]+)#", answer["content"]))
        self.twice += len(tokens & self.over)
        self.seen |= tokens
        self.shown[delivery] = tokens
        if self.timed(self.kit.call, "settle", delivery=delivery, outcome="committed"):
            self.over |= tokens
        return True


def main():
    rng = random.Random(3)
    modes = ["stall", "reset", "half", "reset before commit", "reset after commit", "drop answers"]
    met = {}
    with kit.Server() as server:
        url = kit.make_store(server)
        proxy = net.Proxy(server)
        host = Host(url)
        kit.wait_for(lambda: host.opens(url.replace(server.folder, proxy.folder)), "a busy machine answers within the budget")
        for number in range(ROUNDS):
            proxy.mode = mode = modes[number % len(modes)]
            before = proxy.met
            host.push(f"bad-{number}")
            host.hook()
            met[mode] = met.get(mode, 0) + (proxy.met - before)
            proxy.mode = "pass"
            host.push(f"good-{number}")
            if rng.random() < 0.5:
                host.hook()
        proxy.mode = "stall"  # the network is silent for ten seconds
        until = time.monotonic() + 10
        while time.monotonic() < until:
            host.hook()
        proxy.mode = "pass"
        kit.wait_for(lambda: host.push("last") or host.acked, "a busy machine pushes within the budget")
        # A call whose answer was lost may have leased notifications. They are not in the transcript, so the host resumes and gets them again.
        host.kit.close()
        host.kit = kit.Kit(url)
        host.kit.event("session.resumed", "s", deliveries=[name for name, tokens in host.shown.items() if tokens <= host.over], takeover=True)
        while host.hook():
            pass
        lost = host.acked - host.seen
        print(f"# met: {met}; errors: {host.failed}; the slowest call ended {host.slowest:.0f} ms after its budget")
        print(f"# sum: proxy: {len(host.acked)} acknowledged, {host.calls} hooks: lost {len(lost)}, twice {host.twice}, late {host.late}")
        return bool(lost or host.twice or host.late or not any(met.values()))


sys.exit(main())
