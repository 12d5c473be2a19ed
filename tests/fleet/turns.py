# SPDX-License-Identifier: MIT
"""turns.py [--faults N] [--seed N]: plays a host that runs turns, behind a network that loses, delays and breaks its calls at random, while other processes
push and submit. Each round ends with a calm network, and a host that acts only when it is woken or its time has come:

- each message that was stored starts a turn, once, in its submitter's order, and one turn runs at a time;
- each critical notification reaches the model by itself, and each other one with the next carriers;
- nothing reaches the model twice.

Like a careful host, it makes a call again that failed for a reason that passes, except that a tool's result goes out unchanged. First it tests that a host
which loses an offer, and one which shows a delivery twice, are noticed.
"""
import argparse
import json
import os
import random
import re
import select
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

BUDGET_MS = 1000
PATIENCE = 300.0  # seconds in which an idle host must have been woken
PASSING = ("TIDINGS_E_BUSY", "TIDINGS_E_STORE", "TIDINGS_E_OUTCOME_UNKNOWN")
CHANGED = ("TIDINGS_E_FIRED", "TIDINGS_E_NOT_FOUND", "TIDINGS_E_STATE")
MODES = ("reset", "half", "reset before commit", "reset after commit", "drop answers", "drop answers after commit", "late commit", "delay commit",
         "lose server", "stall")
CONFIGURATION = {"turns": {"max_auto_turns": 1000000}, "critical": {"max_aborts": 64}}


class Broken(Exception):
    """A promise was broken."""


class Network:
    """A proxy with faults, each of which ends after some failed calls."""

    def __init__(self, server, rng):
        self.proxy, self.rng, self.left, self.made = net.Proxy(server), rng, 0, 0

    def begin(self):
        self.release()
        self.proxy.goes_on.clear()
        self.proxy.met, self.left, self.proxy.mode = 0, self.rng.randint(1, 3), self.rng.choice(MODES)

    def failed(self):
        self.left -= 1
        if self.left <= 0:
            self.end()

    def end(self):
        self.made += self.proxy.mode != "pass" or bool(self.proxy.met)
        self.proxy.mode, self.proxy.met = "pass", 0

    def release(self):
        """Lets a delayed commit go to the server."""
        self.proxy.goes_on.set()


class Host:
    """A host with one session; `seen`: what the model has got, in this order. `wrong`: what it does wrong on purpose."""

    def __init__(self, url, network, rng, session="s", wrong=None):
        self.url, self.network, self.rng, self.session, self.wrong = url, network, rng, session, wrong
        self.kit, self.descriptor, self.count = None, -1, 0
        self.offer, self.running, self.streams, self.stop, self.wake_at = None, None, False, False, None
        self.deliveries, self.seen, self.started, self.log = [], [], set(), []
        self.open()

    def note(self, *words):
        self.log.append(" ".join(map(str, words)))

    # -- calls ---------------------------------------------------------------------------------

    def open(self):
        while not self.kit:
            try:
                self.kit = kit.Kit(self.url, budget_ms=BUDGET_MS, config=CONFIGURATION)
            except kit.Failed:
                self.network.failed()
        self.descriptor = kit.Kit.library.hostkit_flat_wake_descriptor(self.kit.handle)
        return self.event("session.resumed" if self.deliveries else "session.opened", **({"deliveries": self.deliveries[-200:]} if self.deliveries else {}))

    def restart(self):
        """Opens the plugin anew in the same process, which still owns the session."""
        self.note("restart")
        self.close()
        self.offer = self.running = self.wake_at = None
        self.streams = self.stop = False
        status = self.open()["reply"]["status"]
        if status["state"] not in ("idle", "starting", "error"):
            self.event("turn.aborted", messages=status["messages"])

    def close(self):
        os.close(self.descriptor)
        self.kit.close()
        self.kit = None

    def once(self, op, **members):
        """Returns the answer, or None if the call failed for a reason that passes."""
        try:
            answer = self.kit.call(op, **members)
        except kit.Failed as failed:
            self.note(op, members, self.network.proxy.mode, failed)
            if failed.code not in PASSING:
                raise
            self.network.failed()
            return None
        self.note(op, members, answer)
        return answer

    def surely(self, op, **members):
        deadline = time.monotonic() + PATIENCE
        while not (answer := self.once(op, **members)):
            if time.monotonic() > deadline:
                raise Broken(f"{op} fails for ever")
        self.take(answer.get("reply"))
        return answer

    def event(self, kind, **data):
        self.count += 1
        named = {"source": "host", "id": f"e{self.count}"} if self.rng.random() < 0.5 else {}
        try:
            return self.surely("event", event={"type": kind, "session": self.session, "data": data, **named})
        except kit.Failed as failed:
            if failed.code not in CHANGED:
                raise
            return None

    # -- what a reply asks ---------------------------------------------------------------------

    def take(self, reply):
        if not reply:
            return
        if reply["status"]:
            self.wake_at = reply["wake_at"]
        for action in reply.get("actions", []):
            if action["type"] == "start_turn" and self.wrong == "loses an offer":
                self.wrong = None
            elif action["type"] == "start_turn":
                self.take_offer({one["id"]: one["content"] for one in action["messages"]})
            elif action["type"] in ("abort_stream", "stop_turn") and self.running:
                self.stop = True

    def take_offer(self, offer):
        if self.running:
            raise Broken(f"{list(offer)} is offered while {self.running} runs")
        again = self.started & set(offer)
        if again:
            raise Broken(f"{again} is offered, and has started")
        self.offer = offer

    def look_again(self):
        """The offer is not what it was: asks for what is offered now."""
        self.offer = None
        status = self.surely("query", query={"name": "status", "session": self.session})["answer"]
        if status["state"] == "starting":
            queue = self.surely("query", query={"name": "queue", "session": self.session})["answer"]["messages"]
            texts = {one["id"]: one["content"] for one in queue}
            self.offer = {one: texts.get(one, "") for one in status["messages"]}

    # -- what a host does ----------------------------------------------------------------------

    def show(self, delivery, content):
        self.deliveries.append(delivery)
        self.seen += re.findall(r"#([\w-]+)#", content) * (2 if self.wrong == "shows twice" else 1)

    def settle(self, delivery, content):
        """Returns whether the carrier went out."""
        goes = self.rng.random() < 0.9
        if goes and delivery:
            self.show(delivery, content)
        if delivery:
            self.surely("settle", delivery=delivery, outcome="committed" if goes else "rolled_back")
        return goes

    def start_turn(self):
        offer = self.offer
        if self.rng.random() < 0.05:
            self.offer = None
            self.event("turn.declined", messages=list(offer))
            self.event("turn.resume")
            return
        try:
            answer = self.surely("chat_request", session=self.session, content="\n".join(offer.values()), messages=list(offer))
        except kit.Failed as failed:
            if failed.code not in CHANGED:
                raise
            self.look_again()
            return
        self.offer, self.running = None, list(offer)
        if self.settle(answer["reply"]["delivery"], answer["content"]):
            self.started |= set(offer)
        else:
            self.end_turn("turn.aborted")

    def end_turn(self, how):
        ids, self.running, self.streams, self.stop = self.running, None, False, False
        self.event(how, **({"messages": ids} if self.rng.random() < 0.7 else {}))

    def call_tool(self):
        self.count += 1
        answer = self.once("tool_result", session=self.session, call_id=f"c{self.count}", tool="shell", content="done")
        if answer:
            self.take(answer.get("reply"))
            self.settle((answer.get("reply") or {}).get("delivery"), answer["content"])

    def act(self):
        """Does one thing that is due; returns whether there was one."""
        if self.stop:
            self.end_turn("turn.aborted")
        elif self.offer:
            self.start_turn()
        else:
            return False
        return True

    def go_on(self):
        """Does one thing of a turn that runs."""
        what = self.rng.random()
        if what < 0.4:
            self.call_tool()
        elif what < 0.6:
            self.streams = not self.streams
            self.event("stream.started" if self.streams else "stream.finished")
        else:
            self.end_turn("turn.finished" if what < 0.95 else "turn.aborted")

    def check_wakes(self, seconds):
        """Sleeps until it is woken or its time has come, at most so long, and asks what the session needs."""
        if self.wake_at is not None:
            seconds = min(seconds, max(0.0, self.wake_at / 1000 - time.time()))
        rang = bool(select.select([self.descriptor], [], [], seconds)[0])
        if rang:
            os.read(self.descriptor, 4096)
        due = self.wake_at is not None and self.wake_at <= time.time() * 1000
        while rang or due:
            answer = self.once("next_session")
            if answer is None:
                continue
            if answer["session"] is None and not due:
                return
            due = False
            self.surely("wake", session=self.session)


class World:
    """The other processes: they submit and push without faults."""

    def __init__(self, producer, session="s"):
        self.kit, self.session, self.count = producer, session, 0
        self.messages, self.criticals, self.others = [], [], []

    def push(self, token, critical):
        self.kit.call("push", session=self.session, kind="fleet.test", message=f"#{token}#", level="critical" if critical else "info", source="world", id=token)

    def act(self, rng, host):
        self.count += 1
        token, what = f"t{self.count}", rng.random()
        mine = rng.random() < 0.5
        if what < 0.4:
            data = {"id": token, "content": f"#{token}#", **({"delivery": "steer"} if rng.random() < 0.2 else {})}
            self.messages.append(token)
            if mine:
                host.event("message.submitted", **data)
            else:
                self.kit.call("event", event={"type": "message.submitted", "session": self.session, "data": data})
        elif what < 0.9:
            critical = rng.random() < 0.4
            (self.criticals if critical else self.others).append(token)
            if mine:
                host.surely("push", session=self.session, kind="fleet.test", message=f"#{token}#", level="critical" if critical else "info", source="world", id=token)
            else:
                self.push(token, critical)
        else:
            self.kit.event("turn.stop", self.session)


def calm(host, world, patience=PATIENCE):
    """A calm network: the host acts when it is woken or its time has come. All messages and criticals must reach the model."""
    host.network.end()
    host.network.release()
    deadline = time.monotonic() + patience
    while missing := (set(world.messages) | set(world.criticals)) - set(host.seen):
        if not host.act():
            if host.running:
                host.go_on()
            else:
                host.check_wakes(1.0)
        if time.monotonic() > deadline:
            raise Broken(f"{missing} never reach the model")
    while host.running or host.act():
        host.go_on() if host.running else None
    for _ in range(8):
        host.call_tool()
    if missing := set(world.others) - set(host.seen):
        raise Broken(f"{missing} do not come with the next carriers")
    if twice := {one for one in host.seen if host.seen.count(one) > 1}:
        raise Broken(f"{twice} reach the model twice")


def play(host, world, network, rng):
    for _ in range(rng.randint(5, 30)):
        if rng.random() < 0.3:
            network.begin()
        if rng.random() < 0.2:
            network.release()
        what = rng.random()
        if what < 0.4:
            world.act(rng, host)
        elif what < 0.42:
            host.restart()
        elif not host.act():
            if host.running:
                host.go_on()
            else:
                host.check_wakes(0)


def check_control(url, network, producer, wrong):
    """Returns whether the mistake of a host was noticed. Other hosts on this machine may be slow, but no host is that wrong."""
    rng = random.Random(1)
    host, world = Host(url, network, rng, wrong, wrong), World(producer, wrong)
    try:
        for number in range(3):
            world.messages.append(f"m{number}")
            host.event("message.submitted", id=f"m{number}", content=f"#m{number}#")
        calm(host, world, patience=5)
    except Broken as broken:
        print(f"ok - a host that {wrong}: {broken}")
        return True
    finally:
        host.close()
    print(f"not ok - a host that {wrong} is not noticed")
    return False


def play_rounds(host, world, faults):
    """Returns what was broken; None: nothing."""
    try:
        while host.network.made < faults:
            host.log.clear()
            play(host, world, host.network, host.rng)
            calm(host, world)
    except (Broken, kit.Failed) as error:
        print("\n".join(host.log))
        return error
    return None


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--faults", type=int, default=20)
    words.add_argument("--seed", type=int, default=1)
    words = words.parse_args()
    rng = random.Random(words.seed)
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        network = Network(server, rng)
        there = url.replace(server.folder, network.proxy.folder)
        controls = ("loses an offer", "shows twice")
        producer = kit.Kit(url, role="producer")
        caught = sum(check_control(there, network, producer, wrong) for wrong in controls)
        host, world = Host(there, network, rng), World(producer)
        broken = play_rounds(host, world, words.faults)
        print(f"# sum: turns: {network.made} faults, {len(world.messages)} messages, {len(world.criticals)} criticals, {len(world.others)} others: "
              f"{broken or 'no promise broken'}")
        print(json.dumps({"part": "turns", "seed": words.seed, "done": network.made, "violations": int(bool(broken)) + len(controls) - caught,
                          "controls_caught": caught}))
        return bool(broken or caught < len(controls))


sys.exit(main())
