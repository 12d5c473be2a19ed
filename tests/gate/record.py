# SPDX-License-Identifier: MIT
"""record.py: the record of all runs, in a file that only grows. A line is one JSON object; a slice begins with one line and ends with another.

A slice without an end was killed: it is not counted, and its seed is not used again. Each product has its own figures: "tree" identifies its code,
"commit" names the commit, "code" identifies the code that a part tests. A product begins with the figures of those before it whose code a part shares,
and with those in the documents ("carried")."""
import fcntl
import json
import os
import time


class Busy(Exception):
    """Raised if another process writes the record."""


class Record:
    def __init__(self, folder):
        self.folder, self.path = folder, os.path.join(folder, "record.jsonl")
        self.lock = None

    def lines(self):
        """Returns the records, oldest first. The last line may be cut off, by a kill or a full disk."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            return []
        read = []
        for line in text.splitlines():
            try:
                read.append(json.loads(line))
            except ValueError:
                continue
        return read

    def take(self):
        """Locks the record, so that only this process writes."""
        os.makedirs(self.folder, exist_ok=True)
        self.lock = open(os.path.join(self.folder, "lock"), "a", encoding="utf-8")  # held until the process ends
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy(f"another gate runs in {self.folder}") from error

    def add(self, event, **members):
        line = json.dumps({"event": event, "at": round(time.time(), 3), **members}, sort_keys=True) + "\n"
        with open(self.path, "a+b") as file:
            if file.tell() and not self.ends_whole(file):
                line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def ends_whole(file):
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"

    def next_seed(self, part):
        return 1 + max((line["seed"] for line in self.lines() if line["event"] in ("begin", "carried") and line["part"] == part), default=0)

    def carry(self, product, codes, stored):
        """Begins the record of a product with the figures of all parts whose code was tested before, here or on another machine. `codes`: the code of each
        part; `stored`: the figures in the documents. Further slices use other seeds."""
        lines = self.lines()
        trees = [*figures(lines).values(), *stored.values()]
        begun = figures(lines).get(product["tree"], {"parts": {}})["parts"]
        for name, code in codes.items():
            known = [tree["parts"][name] for tree in trees if name in tree["parts"]]
            same = [part for part in known if part.get("code") == code]
            if name in begun or not same:
                continue
            used = max((line["seed"] for line in lines if line.get("part") == name and "seed" in line), default=0)
            best = max(same, key=lambda part: part["slices"])
            self.add("carried", part=name, code=code, figures=best, seed=max(used, best.get("seed", 0)), **product)


def figures(lines):
    """Returns {tree: {"commit", "date", "last", "parts": {name: {"code", "asked", "done", "violations", "slices", "seconds", "seed", "controls": {name:
    caught}}}}}

    "asked" is the work that the slices were asked to do; it may exceed "done", because not every image of a power cut has a sector to damage."""
    trees = {}
    for line in lines:
        tree = trees.setdefault(line["tree"], {"commit": line["commit"], "date": line["date"], "last": 0, "parts": {}})
        if line["event"] == "begin":
            continue
        tree["last"] = max(tree["last"], line["at"])
        if line["event"] == "carried":
            tree["parts"][line["part"]] = {**line["figures"], "controls": dict(line["figures"]["controls"])}
            continue
        nothing = {"code": line.get("code"), "asked": 0, "done": 0, "violations": 0, "slices": 0, "seconds": 0, "controls": {}}
        part = tree["parts"].setdefault(line["part"], nothing)
        if line["event"] == "control":
            part["controls"][line["control"]] = line["caught"]
        if line["event"] == "end":
            part["slices"] += 1
            part["seed"] = max(part.get("seed", 0), line["seed"])
            # A fuzz target stops at its first finding, so it did not run for its full time.
            stopped = line["part"].startswith("fuzz") and line["violations"]
            part["done"] += min(line["done"], int(line["seconds"])) if stopped else line["done"]
            part["asked"] += line.get("count", line["done"])
            for name in ("violations", "seconds"):
                part[name] += line[name]
            for name, caught in line.get("controls", {}).items():
                part["controls"][name] = part["controls"].get(name, True) and caught
    return trees
