# SPDX-License-Identifier: MIT
"""history.py [--faults N] [--seed N]: what producers and hosts did and were answered, with times, checked against what the documents promise. First the check is shown to
reject histories that were doctored, one for each promise; then one is recorded, with hosts that are killed and a server that stops: for some
seconds, or until there were N of these faults. Then the last line says for the gate what was counted.

An entry is (what, process, name, tokens, began, ended): "push" with one token, "lost push" of which the outcome is not known, "show" of a delivery,
"settle" of a delivery, which returned OK; "fault": a host or the server was killed, or a host's call failed.
"""
import argparse
import collections
import json
import os
import random
import signal
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
    """After a settle that returned OK nothing of its delivery is shown by a call that begins then."""
    tokens = {entry.name: entry.tokens for entry in history if entry.what == "show"}
    over = {}
    for entry in history:
        if entry.what == "settle":
            for token in tokens.get(entry.name, ()):
                over[token] = min(entry.ended, over.get(token, float("inf")))
    return {token for entry in history if entry.what == "show" for token in entry.tokens if over.get(token, float("inf")) < entry.began}


def leased_twice(history):
    """While a host has a delivery that it has not settled, it is not shown the same in another one."""
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
    """A settle that returned OK was of a delivery that had been shown."""
    shown = {}
    for entry in history:
        if entry.what == "show":
            shown[entry.name] = min(entry.began, shown.get(entry.name, float("inf")))
    return {entry.name for entry in history if entry.what == "settle" and shown.get(entry.name, float("inf")) > entry.ended}


def out_of_order(history):
    """Pushes of one producer, each acknowledged before the next began, are first shown in that order, unless there was
    a fault meanwhile: what was leased by a call whose answer was lost comes back later."""
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


PROMISES = (lost, invented, shown_again, leased_twice, settled_unseen, out_of_order)


def check(history):
    return {promise.__name__: promise(history) for promise in PROMISES if promise(history)}


GOOD = [Entry("push", "p", "", ("p-0",), 0, 1), Entry("push", "p", "", ("p-1",), 2, 3), Entry("lost push", "p", "", ("p-2",), 4, 5),
        Entry("show", "h", "d1", ("p-0", "p-1"), 6, 7), Entry("settle", "h", "d1", (), 8, 9), Entry("show", "h", "d2", ("p-2",), 10, 11),
        Entry("show", "g", "d3", ("p-2",), 13, 14), Entry("settle", "g", "d3", (), 15, 16)]
DOCTORED = {
    "lost": GOOD + [Entry("push", "q", "", ("q-0",), 20, 21)],
    "invented": GOOD + [Entry("show", "g", "d4", ("nobody-0",), 20, 21)],
    "shown_again": GOOD + [Entry("show", "g", "d4", ("p-0",), 20, 21)],
    "leased_twice": GOOD[:6] + [Entry("show", "h", "d3", ("p-2",), 12, 13)],
    "settled_unseen": GOOD + [Entry("settle", "g", "d9", (), 20, 21)],
    "out_of_order": [GOOD[0], GOOD[1], Entry("show", "h", "d1", ("p-1",), 6, 7), Entry("show", "h", "d2", ("p-0",), 8, 9)],
}


def read(producers, hosts):
    history = []
    for at, producer in enumerate(producers):
        number, ended = 0, 0.0
        for words in producer.read():
            if words[0] in ("acked", "failed"):
                history.append(Entry("push" if words[0] == "acked" else "lost push", f"p{at}", "", (words[1],), float(words[2]), float(words[3])))
            if words[0] == "acked":
                number, ended = int(words[1].rsplit("-", 1)[1]) + 1, float(words[3])
        # It was killed in the middle of this one.
        history.append(Entry("lost push", f"p{at}", "", (f"p{at}-{number}",), ended, float("inf")))
    for at, host in enumerate(hosts):
        shown = {}
        for words in host.read():
            if words[0] == "shown":
                shown.setdefault((words[1], float(words[3]), float(words[4])), []).append(words[2])
            elif words[0] == "failed":
                history.append(Entry("fault", f"h{at}", "", (), float(words[3]), float(words[4])))
            elif words[0] == "settled":
                history.append(Entry("settle", f"h{at}", words[1], (), float(words[2]), float(words[3])))
        history += [Entry("show", f"h{at}", name, tuple(tokens), began, ended) for (name, began, ended), tokens in shown.items()]
    return history


def record(seed, wanted):
    """Returns the history, and how many faults were made."""
    rng, pause = random.Random(seed), (0.05, 0.3) if wanted else (0.3, 1.0)
    with kit.Server(full_page_writes="off") as server, tempfile.TemporaryDirectory() as folder:
        url, transcript = kit.make_store(server), os.path.join(folder, "transcript")
        producers = [kit.Worker("producer.py", url, "s", f"p{at}") for at in range(2)]
        hosts = [kit.Worker("host.py", url, "s", transcript)]
        kit.wait_for(lambda: any(entry.what == "settle" for entry in read(producers, hosts)), "a settle")
        end, faults = time.monotonic() + SECONDS, []
        while len(faults) < wanted if wanted else time.monotonic() < end:
            time.sleep(rng.uniform(*pause))
            began = time.monotonic()
            if rng.random() < 0.6:
                hosts[-1].kill()
                hosts.append(kit.Worker("host.py", url, "s", transcript))
            else:
                server.stop(signal.SIGQUIT)
                server.start()
            faults.append(Entry("fault", "", "", (), began, time.monotonic()))
        made = len(faults)
        faults.append(Entry("fault", "", "", (), time.monotonic(), time.monotonic() + 1))
        for worker in [*producers, hosts[-1]]:
            worker.kill()
        hosts.append(kit.Worker("host.py", url, "s", transcript, "drain"))
        hosts[-1].process.wait(600)
        return read(producers, hosts) + faults, made


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--faults", type=int, default=0)
    words.add_argument("--seed", type=int, default=11)
    words = words.parse_args()
    failures, rejected = check(GOOD), 0
    for promise, history in DOCTORED.items():
        caught = list(check(history)) == [promise]
        rejected += caught
        print(f"{'ok' if caught else 'not ok'} - {promise}: a history that breaks it is rejected: {check(history)}")
        failures.update({} if caught else {promise: "not rejected"})
    history, made = record(words.seed, words.faults)
    found = check(history)
    count = collections.Counter(entry.what for entry in history)
    held = f"{count['fault']} faults; {len(PROMISES)} promises, broken: {found or 'none'}"
    print(f"# sum: history: {count['push']} pushes, {count['lost push']} of unknown outcome, {count['show']} shown, {count['settle']} settled: "
          f"lost {len(found.get('lost', ()))}, twice {len(found.get('shown_again', ()))}; {held}")
    if words.faults:
        print(json.dumps({"part": "database", "seed": words.seed, "done": made, "violations": sum(map(len, found.values())) + len(failures),
                          "controls_caught": rejected, "acknowledged": count["push"]}))
    return bool(failures or found or not count["push"] or not count["settle"])


sys.exit(main())
