# SPDX-License-Identifier: MIT
"""history.py [--faults N] [--seed N] [--older BUILD]: checks a history of producers and hosts (their calls and answers, with times) against the promises of the documents. First it tests
that the check rejects falsified histories, one for each promise. Then it records a history with killed hosts and a stopping server, for some seconds, or until there were N of these
faults; with N, the last line has the counts for the gate.

"--older" names the folder of a build of the schema number before: it makes the tables, and each host and producer belongs to one of the two builds.
Hosts also take sessions from living hosts. After a third of the faults the tables are upgraded.

An entry is (what, process, name, tokens, began, ended): "push" with one token, "lost push" whose outcome is not known, "show" of a delivery,
"settle" of a delivery, which returned OK; "own": a host got its session; "fault": a host or the server was killed, or a host's call failed. Processes of
one of several sessions are called SESSION/NAME, its tokens SESSION_NAME.
"""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position

Entry = collections.namedtuple("Entry", "what process name tokens began ended")
SECONDS = float(os.environ.get("TIDINGS_FLEET_SECONDS", "5"))


def lost(history):
    """Each acknowledged push is shown by the end."""
    shown = {token for entry in history if entry.what == "show" for token in entry.tokens}
    return {token for entry in history if entry.what == "push" for token in entry.tokens} - shown


def invented(history):
    """Each notification that is shown was pushed, and its push had begun."""
    began = {}
    for entry in history:
        for token in entry.tokens if entry.what in ("push", "lost push") else ():
            began[token] = min(entry.began, began.get(token, float("inf")))
    return {token for entry in history if entry.what == "show" for token in entry.tokens if began.get(token, float("inf")) > entry.ended}


def shown_again(history):
    """After a settle that returned OK, no later call shows a notification of that delivery."""
    tokens = {entry.name: entry.tokens for entry in history if entry.what == "show"}
    over = {}
    for entry in history:
        if entry.what == "settle":
            for token in tokens.get(entry.name, ()):
                over[token] = min(entry.ended, over.get(token, float("inf")))
    return {token for entry in history if entry.what == "show" for token in entry.tokens if over.get(token, float("inf")) < entry.began}


def leased_twice(history):
    """While a host has an unsettled delivery, no other delivery shows it the same notifications."""
    found = set()
    for process in {entry.process for entry in history if entry.what == "show"}:
        mine = sorted((entry for entry in history if entry.process == process and entry.what in ("show", "settle")), key=lambda entry: entry.began)
        open_tokens = {}
        for entry in mine:
            if entry.what == "settle":
                open_tokens = {token: name for token, name in open_tokens.items() if name != entry.name}
                continue
            found |= {token for token in entry.tokens if open_tokens.get(token, entry.name) != entry.name}
            open_tokens.update({token: entry.name for token in entry.tokens})
    return found


def settled_unseen(history):
    """Each settle that returned OK settled a delivery that had been shown."""
    shown = {}
    for entry in history:
        if entry.what == "show":
            shown[entry.name] = min(entry.began, shown.get(entry.name, float("inf")))
    return {entry.name for entry in history if entry.what == "settle" and shown.get(entry.name, float("inf")) > entry.ended}


def out_of_order(history):
    """Pushes of one producer, each acknowledged before the next began, are first shown in that order, unless there was
    a fault meanwhile: notifications that were leased by a call whose answer was lost come back later."""
    first, found = {}, set()
    faults = [entry for entry in history if entry.what == "fault"]

    def troubled(push, token):
        return any(push.began <= fault.ended and fault.began <= first[token][2] for fault in faults)

    for place, entry in enumerate(sorted((entry for entry in history if entry.what == "show"), key=lambda entry: entry.began)):
        for at, token in enumerate(entry.tokens):
            first.setdefault(token, (place, at, entry.ended))
    for process in {entry.process for entry in history if entry.what == "push"}:
        mine = sorted((entry for entry in history if entry.process == process and entry.what == "push"), key=lambda entry: entry.began)
        places = [(first[entry.tokens[0]], entry.tokens[0]) for entry in mine if entry.tokens[0] in first and not troubled(entry, entry.tokens[0])]
        found |= {after[1] for before, after in zip(places, places[1:]) if after[0] < before[0]}
    return found


def strangers(history):
    """A host is shown no push to another session."""
    return {token for entry in history if entry.what == "show" and "/" in entry.process
            for token in entry.tokens if token.split("_")[0] != entry.process.split("/")[0]}


def deposed(history):
    """A host whose session another host has taken over is shown nothing any more."""
    found, owns = set(), [entry for entry in history if entry.what == "own"]
    for entry in history:
        if entry.what != "show":
            continue
        mine = [own.began for own in owns if own.process == entry.process and own.began < entry.began]
        found |= {token for own in owns if own.name == entry.process.split("/")[0] and own.process != entry.process and mine
                  and max(mine) < own.began and own.ended < entry.began for token in entry.tokens}
    return found


PROMISES = (strangers, deposed, lost, invented, shown_again, leased_twice, settled_unseen, out_of_order)


def check(history):
    return {promise.__name__: promise(history) for promise in PROMISES if promise(history)}


GOOD = [Entry("push", "p", "", ("p-0",), 0, 1), Entry("push", "p", "", ("p-1",), 2, 3), Entry("lost push", "p", "", ("p-2",), 4, 5),
        Entry("show", "h", "d1", ("p-0", "p-1"), 6, 7), Entry("settle", "h", "d1", (), 8, 9), Entry("show", "h", "d2", ("p-2",), 10, 11),
        Entry("show", "g", "d3", ("p-2",), 13, 14), Entry("settle", "g", "d3", (), 15, 16)]
DOCTORED = {
    "strangers": GOOD + [Entry("push", "r/p", "", ("r_p-0",), 20, 21), Entry("show", "s/h", "d4", ("r_p-0",), 22, 23)],
    "deposed": GOOD + [Entry("push", "s/p", "", ("s_p-0",), 16, 17), Entry("own", "s/h", "s", (), 18, 19), Entry("own", "s/g", "s", (), 20, 21),
                       Entry("show", "s/h", "d4", ("s_p-0",), 22, 23)],
    "lost": GOOD + [Entry("push", "q", "", ("q-0",), 20, 21)],
    "invented": GOOD + [Entry("show", "g", "d4", ("nobody-0",), 20, 21)],
    "shown_again": GOOD + [Entry("show", "g", "d4", ("p-0",), 20, 21)],
    "leased_twice": GOOD[:6] + [Entry("show", "h", "d3", ("p-2",), 12, 13)],
    "settled_unseen": GOOD + [Entry("settle", "g", "d9", (), 20, 21)],
    "out_of_order": [GOOD[0], GOOD[1], Entry("show", "h", "d1", ("p-1",), 6, 7), Entry("show", "h", "d2", ("p-0",), 8, 9)],
}


def read_producer(name, worker):
    history, number, ended = [], 0, 0.0
    token = name.replace("/", "_")
    for words in worker.read():
        if words[0] in ("acked", "failed"):
            history.append(Entry("push" if words[0] == "acked" else "lost push", name, "", (words[1],), float(words[2]), float(words[3])))
        if words[0] == "acked":
            number, ended = int(words[1].rsplit("-", 1)[1]) + 1, float(words[3])
    # The producer was killed during this push.
    return history + [Entry("lost push", name, "", (f"{token}-{number}",), ended, float("inf"))]


def read_host(name, worker):
    history, shown = [], {}
    for words in worker.read():
        if words[0] == "shown":
            shown.setdefault((words[1], float(words[3]), float(words[4])), []).append(words[2])
        elif words[0] == "failed":
            history.append(Entry("fault", name, "", (), float(words[3]), float(words[4])))
        elif words[0] == "settled":
            history.append(Entry("settle", name, words[1], (), float(words[2]), float(words[3])))
        elif words[0] == "resumed":
            history.append(Entry("own", name, name.split("/")[0], (), float(words[1]), float(words[2])))
    return history + [Entry("show", name, delivery, tuple(tokens), began, ended) for (delivery, began, ended), tokens in shown.items()]


class Fleet:
    """Producers and hosts of one store, by their names. `builds`: the builds to which they belong."""

    def __init__(self, url, folder, rng, sessions, builds):
        self.url, self.folder, self.rng, self.sessions, self.builds = url, folder, rng, sessions, builds
        self.producers, self.hosts, self.newest = {}, {}, {}
        for session in sessions:
            for build in (builds * 2)[:2]:
                self.produce(session, build)
            self.attend(session, rng.choice(builds))

    def place(self, session):
        return f"{session}/" if len(self.sessions) > 1 else ""

    def produce(self, session, build):
        name = f"{self.place(session)}p{len(self.producers)}"
        self.producers[name] = kit.Worker("producer.py", self.url, session, name.replace("/", "_"), build=build)

    def attend(self, session, build, *how):
        name = f"{self.place(session)}h{len(self.hosts)}"
        self.hosts[name] = self.newest[session] = kit.Worker("host.py", self.url, session, os.path.join(self.folder, session), *how, build=build)
        self.newest[session].build = build
        return self.newest[session]

    def other(self, build):
        return next((other for other in self.builds if other != build), build)

    def change_host(self):
        """Kills a host, and starts the next one of either build."""
        session = self.rng.choice(self.sessions)
        self.newest[session].kill()
        self.attend(session, self.rng.choice(self.builds))

    def take_over(self):
        """Stops a host, and starts one of the other build that takes its session."""
        session = self.rng.choice(self.sessions)
        former = self.newest[session]
        former.process.send_signal(signal.SIGSTOP)
        mine = self.attend(session, self.other(former.build), "takeover")
        kit.wait_for(lambda: any(words[0] == "resumed" for words in mine.read()), "a takeover")
        former.process.send_signal(signal.SIGCONT)
        try:
            former.process.wait(10)
        except subprocess.TimeoutExpired:  # it did not have the session yet, and waits for it
            former.kill()

    def read(self):
        return [entry for name, worker in self.producers.items() for entry in read_producer(name, worker)] + [
            entry for name, worker in self.hosts.items() for entry in read_host(name, worker)]

    def kill(self):
        for worker in [*self.producers.values(), *self.newest.values()]:
            worker.kill()

    def drain(self, builds):
        for session, build in zip(self.sessions, builds):
            self.attend(session, build, "drain").process.wait(600)


def upgrade(url):
    return subprocess.Popen([kit.TIDINGS, "store", "upgrade", url], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end_of(server, url, fleet, older):
    """Both builds show the rest. Afterwards only today's build may use the tables."""
    fleet.drain((fleet.builds * len(fleet.sessions))[:len(fleet.sessions)])
    if not older:
        return set()
    left = subprocess.run([os.path.join(older, "tidings"), "store", "check", url], capture_output=True, text=True, check=False)
    server.sql("UPDATE tidings.store SET schema = revision")
    refused = subprocess.run([os.path.join(older, "tidings"), "stats", "-S", url], capture_output=True, text=True, check=False)
    fleet.drain([kit.BUILD] * len(fleet.sessions))
    print(f"# the older build is refused at last: {refused.stderr.strip()}")
    return {what for what, bad in ((f"the older build's check: {left.stderr}", left.returncode), ("it is not refused", not refused.returncode)) if bad}


def record(seed, wanted, older):
    """Returns the history, the number of faults of each kind, and other errors."""
    rng, pause = random.Random(seed), (0.05, 0.3) if wanted else (0.3, 1.0)
    made, faults, wrong, upgrading = collections.Counter(), [], set(), None
    with kit.Server(full_page_writes="off") as server, tempfile.TemporaryDirectory() as folder:
        url = server.url()
        subprocess.run([os.path.join(older or kit.BUILD, "tidings"), "store", "init", url], check=True, stdout=subprocess.DEVNULL)
        fleet = Fleet(url, folder, rng, ("s0", "s1", "s2") if older else ("s",), [older, kit.BUILD] if older else [kit.BUILD])
        kit.wait_for(lambda: any(entry.what == "settle" for entry in fleet.read()), "a settle")
        end = time.monotonic() + SECONDS
        while made.total() < wanted if wanted else time.monotonic() < end:
            time.sleep(rng.uniform(*pause))
            if older and not upgrading and made.total() >= wanted // 3:
                upgrading = upgrade(url)
            if upgrading and upgrading.poll():  # the server was stopped, or another client held its tables for too long
                upgrading = upgrade(url)
            began, what = time.monotonic(), rng.random()
            if older and what < 0.3:
                fleet.take_over()
                made["takeovers"] += 1
            elif what < 0.7 if older else what < 0.6:
                fleet.change_host()
                made["hosts"] += 1
            else:
                server.stop(signal.SIGQUIT)
                server.start()
                made["servers"] += 1
            faults.append(Entry("fault", "", "", (), began, time.monotonic()))
        if upgrading and upgrading.wait(600):
            wrong.add(f"upgrade: {upgrading.stderr.read()}")
        faults.append(Entry("fault", "", "", (), time.monotonic(), time.monotonic() + 1))
        fleet.kill()
        wrong |= end_of(server, url, fleet, older)
        return fleet.read() + faults, made, wrong


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--faults", type=int, default=0)
    words.add_argument("--seed", type=int, default=11)
    words.add_argument("--older")
    words = words.parse_args()
    failures, rejected = check(GOOD), 0
    for promise, history in DOCTORED.items():
        caught = list(check(history)) == [promise]
        rejected += caught
        print(f"{'ok' if caught else 'not ok'} - {promise}: a history that breaks it is rejected: {check(history)}")
        failures.update({} if caught else {promise: "not rejected"})
    history, made, wrong = record(words.seed, words.faults, words.older and os.path.abspath(words.older))
    found = check(history)
    found.update({"upgrade": wrong} if wrong else {})
    count = collections.Counter(entry.what for entry in history)
    held = f"{count['fault']} faults ({dict(made)} made); {len(PROMISES)} promises, broken: {found or 'none'}"
    print(f"# sum: history: {count['push']} pushes, {count['lost push']} of unknown outcome, {count['show']} shown, {count['settle']} settled: "
          f"lost {len(found.get('lost', ()))}, twice {len(found.get('shown_again', ()))}; {held}")
    if words.faults:
        print(json.dumps({"part": "database", "seed": words.seed, "done": made.total(), "violations": sum(map(len, found.values())) + len(failures),
                          "controls_caught": rejected, "acknowledged": count["push"]}))
    return bool(failures or found or not count["push"] or not count["settle"])


sys.exit(main())
