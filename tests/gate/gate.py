#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gate.py: runs the gates before a release, in slices of a minute, one on each processor. `./dev gate` builds and calls it; docs/reliability.md shows its
table.

It continues where it was stopped, until each part has reached its target, and each control was caught. Exit status: 0, or 1: a promise
was broken or a control was not caught; 2: it could not be run."""
import argparse
import json
import math
import os
import re
import shutil
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import controls  # noqa: E402
import documents  # noqa: E402
import product  # noqa: E402
import record  # noqa: E402
import slices  # noqa: E402
import table  # noqa: E402

NONE = {"asked": 0, "done": 0, "violations": 0, "slices": 0, "seconds": 0, "controls": {}}


def duration(text):
    found = re.fullmatch(r"(\d+)([smh]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: expected a number with s, m or h")
    return int(found[1]) * {"s": 1, "": 60, "m": 60, "h": 3600}[found[2]]


def read_words():
    words = argparse.ArgumentParser(prog="./dev gate", description=__doc__.split("\n\n")[1])
    words.add_argument("--for", dest="seconds", type=duration, metavar="TIME", help="stop after this time (20m, 2h); default: when all targets are reached")
    words.add_argument("--part", action="append", metavar="NAME", help="this part only; may be repeated")
    words.add_argument("--table", action="store_true", help="print the table of what was done, and run nothing")
    words.add_argument("--write-docs", action="store_true", help="write the table into the documents, and run nothing")
    words.add_argument("--check-docs", action="store_true", help=argparse.SUPPRESS)
    words.add_argument("--folder", default="build/gate", help=argparse.SUPPRESS)
    words.add_argument("--source", default=os.path.dirname(os.path.dirname(HERE)), help=argparse.SUPPRESS)
    words.add_argument("--build", default="build/gate/release", help=argparse.SUPPRESS)
    words.add_argument("--fuzz-build", default="build/fuzz", help=argparse.SUPPRESS)
    words.add_argument("--product", help=argparse.SUPPRESS)  # a name, if the sources are not in a commit
    words.add_argument("--parts", default=os.path.join(HERE, "parts.json"), help=argparse.SUPPRESS)
    words.add_argument("--lanes", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="how many slices run at a time (one on each processor)")
    words.add_argument("--slice", type=float, default=60, metavar="SECONDS", help="how long a slice takes (60)")
    return words.parse_args()


class Gate:
    def __init__(self, words, parts):
        self.words, self.parts = words, parts
        self.record = record.Record(os.path.abspath(words.folder))
        self.source, self.build, self.fuzz_build = (os.path.abspath(path) for path in (words.source, words.build, words.fuzz_build))
        self.lock = threading.Lock()  # guards the record, and the running slices
        self.under_way, self.stopping, self.failure = [], False, None
        self.product = {"tree": words.product, "commit": words.product, "date": "-"} if words.product else product.of(self.source)
        self.codes = {part["name"]: words.product or product.code_of_part(self.source, part) for part in parts}

    # -- the command of a part ---------------------------------------------------------------------------

    def complete(self, part, program=None):
        """Completes a part that fuzzes, which names only its target."""
        if "fuzzes" not in part:
            return part
        target = part["fuzzes"]
        corpus = os.path.join(self.words.folder, "corpus", target)
        os.makedirs(corpus, exist_ok=True)
        command = [program or os.path.join(self.fuzz_build, "fuzz-" + target), "-max_total_time={count}", "-max_len=4096", "-timeout=10", "-seed={seed}",
                   "-print_final_stats=1", "-artifact_prefix={scratch}/", os.path.abspath(corpus) if not program else "{scratch}",
                   os.path.join(self.source, "tests/fuzz/corpus", target)]
        return {**part, "command": command}

    def values(self, seed, plugin=None):
        return {"build": self.build, "source": self.source, "python": sys.executable, "seed": seed, "plugin": plugin or os.path.join(self.build, "tidings.so")}

    def fingerprint(self):
        names = sorted({word.format(count=0, scratch="", **self.values(0)) for part in self.parts for word in self.complete(part)["command"][:1]})
        return product.fingerprint([*names, *(os.path.join(self.build, name) for name in ("tidings.so", "tidings-postgres.so"))])

    def about(self, part):
        return {"part": part["name"], "code": self.codes[part["name"]], **self.product}

    def check_folders(self):
        """Checks that each part names the folders that it tests, because its figures count until these change."""
        for part in self.parts:
            command = self.complete(part)["command"]
            programs = {"{build}/tidings-postgres.so" if command[0] == "{python}" else command[0], *["{build}/tidings.so"] * ("{plugin}" in command)}
            for program in (program.format(build=self.build) for program in programs):
                missing = product.folders_in(self.source, program) - {*product.OF_ALL_PARTS, *part.get("code", product.FOLDERS)}
                if missing:
                    raise product.Unknown(f"parts.json: the code of {part['name']} lacks {', '.join(sorted(missing))}, which {program} is made of")

    # -- slices -------------------------------------------------------------------------------------

    def figures(self):
        """Returns the figures, in which running slices count as done, so that no two lanes do the same."""
        known = record.figures(self.record.lines()).get(self.product["tree"], {"parts": {}})["parts"]
        for part, control, count in self.under_way:
            figures = known.setdefault(part["name"], {**NONE, "controls": {}})
            if control:
                figures["controls"].setdefault(name_of(control), True)
            else:
                figures["done"] += count * figures["done"] // figures["asked"] if figures["asked"] else count
                figures["seconds"] += self.words.slice
        return known

    def count_of(self, part, figures):
        """Returns how much the next slice should do: as much as the last slices did in the time of one, up to the target."""
        measured = record.figures(self.record.lines()).get(self.product["tree"], {"parts": {}})["parts"].get(part["name"], NONE)
        if part["result"] == "fuzz":
            count = min(part["first"] if not measured["slices"] else self.words.slice, self.words.slice)
        elif measured["done"] and measured["seconds"]:
            count = measured["asked"] / measured["seconds"] * self.words.slice
        else:
            count = part["first"]
        left = part["target"] - figures.get(part["name"], NONE)["done"]
        return max(1, math.ceil(min(count, left * measured["asked"] / measured["done"] if measured["done"] else left)))

    def run_slice(self, part, count):
        with self.lock:
            seed = self.record.next_seed(part["name"])
            self.record.add("begin", seed=seed, count=count, **self.about(part))
        kept = os.path.join(self.record.folder, "found", f"{part['name']}-{seed}")
        result, took = slices.timed(self.complete(part), self.values(seed), count, kept)
        inside = {name: result.members.get("controls_caught", 0) > 0 for name in (control.get("inside") for control in part["controls"]) if name}
        with self.lock:
            self.record.add("end", seed=seed, count=count, done=result.done, violations=result.violations, seconds=round(took, 1),
                            controls=inside, **self.about(part))
            total = record.figures(self.record.lines())[self.product["tree"]]["parts"][part["name"]]["done"]
        print(f"{part['name']:12} seed {seed}: {result.done:,} in {took:.0f} s, {total:,} of {part['target']:,}"
              + (f"; VIOLATION: {result.why}; see {kept}" if result.violations else ""), flush=True)

    # -- controls -----------------------------------------------------------------------------------

    def missing_control(self, figures):
        for part in self.parts:
            for control in part["controls"]:
                if "inside" not in control and name_of(control) not in figures.get(part["name"], NONE)["controls"]:
                    return part, control
        return None

    def try_control(self, part, control, plugin):
        """Runs the control with new seeds until it is caught, because the chance of hitting the bug depends on the machine's load."""
        took = 0
        for seed in range(1, control.get("tries", 3) + 1):
            result, seconds = slices.timed(part, self.values(seed, plugin), control["count"], None)
            took += seconds
            if controls.is_caught(control, result):
                return True, result, took, seed
        return False, result, took, seed

    def run_control(self, part, control):
        work = slices.make_scratch()
        try:
            plugin = program = None
            if "mutant" in control and "fuzzes" in part:
                program = controls.build_fuzzer(self.source, self.fuzz_build, part["fuzzes"], control["mutant"], work)
            elif "mutant" in control:
                plugin = controls.build_plugin(self.source, self.build, control["mutant"], work)
            changed = {**self.complete(part, program), **control.get("instead", {})}
            caught, result, took, tries = self.try_control(changed, control, plugin)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        with self.lock:
            self.record.add("control", control=name_of(control), caught=caught, seconds=round(took, 1), tries=tries, **self.about(part))
        print(f"{part['name']:12} control \"{name_of(control)}\": {'caught' if caught else 'NOT CAUGHT'} in {took:.0f} s"
              + (f", {tries} tries" if tries > 1 else ""), flush=True)
        if not caught:
            print(result.output[-3000:], file=sys.stderr)

    # -- all ----------------------------------------------------------------------------------------

    def next_part(self, figures):
        """Returns the part that has had the least time. A part that has broken a promise is not run again until the product has changed."""
        open_parts = [part for part in self.parts if figures.get(part["name"], NONE)["done"] < part["target"]
                      and not figures.get(part["name"], NONE)["violations"]]
        return min(open_parts, key=lambda part: figures.get(part["name"], NONE)["seconds"], default=None)

    def take_work(self):
        """Returns (part, control or None, count) that no other lane does; None: all is done or running."""
        with self.lock:
            figures = self.figures()
            part, control = self.missing_control(figures) or (self.next_part(figures), None)
            if not part:
                return None
            work = part, control, 0 if control else self.count_of(part, figures)
            self.under_way.append(work)
            return work

    def lane(self, until, programs):
        while not self.stopping and not self.failure and time.monotonic() < until:
            if self.fingerprint() != programs:
                raise product.Unknown("another build has replaced the programs while they ran; start again")
            work = self.take_work()
            if not work and not self.under_way:
                return
            if not work:  # a running slice may do less than it was asked for
                time.sleep(0.2)
                continue
            part, control, count = work
            try:
                if control:
                    self.run_control(part, control)
                else:
                    self.run_slice(part, count)
            except slices.Stopped as stopped:
                print(f"{stopped}; it is not counted", flush=True)
            finally:
                with self.lock:
                    self.under_way.remove(work)

    def guarded_lane(self, *words):
        try:
            self.lane(*words)
        except Exception as error:  # pylint: disable=broad-exception-caught # run() raises it in the main thread
            self.failure = error

    def run(self):
        self.record.take()
        if not self.words.product:
            self.check_folders()
        self.record.carry(self.product, self.codes, documents.load(self.source)[0])
        until = math.inf if self.words.seconds is None else time.monotonic() + self.words.seconds
        programs = self.fingerprint()
        lanes = [threading.Thread(target=self.guarded_lane, args=(until, programs)) for _ in range(max(1, self.words.lanes))]
        for lane in lanes:
            lane.start()
        try:
            for lane in lanes:
                lane.join()
        except KeyboardInterrupt:
            self.stopping = True
            while any(lane.is_alive() for lane in lanes):  # a lane may be about to start a program
                slices.stop_all()
                lanes[0].join(0.1)
                lanes.sort(key=lambda lane: not lane.is_alive())
            raise
        if self.failure:
            raise self.failure


def name_of(control):
    return control.get("inside") or control.get("mutant") or control["name"]


def stop(number, _frame):
    raise KeyboardInterrupt(number)


def main():
    words = read_words()
    with open(words.parts, encoding="utf-8") as file:
        parts = json.load(file)
    if words.check_docs:
        return documents.check(words.source, parts)
    known = record.figures(record.Record(os.path.abspath(words.folder)).lines())
    if words.write_docs:
        return documents.write(words.source, parts, known)
    unknown = set(words.part or []) - {part["name"] for part in parts}
    if unknown:
        print(f"./dev gate: no part is called {', '.join(sorted(unknown))}; expected {', '.join(part['name'] for part in parts)}", file=sys.stderr)
        return 2
    if not words.table:
        chosen = [part for part in parts if not words.part or part["name"] in words.part]
        signal.signal(signal.SIGTERM, stop)
        gate = Gate(words, chosen)
        try:
            gate.run()
        except KeyboardInterrupt:
            print("stopped; the slice under way is not counted", flush=True)
        known = record.figures(gate.record.lines())
    if not known:
        print("nothing has been run yet")
    for tree in sorted(known.values(), key=lambda tree: -tree["last"]):
        print("\n" + table.of(tree, parts))
    return 1 if table.is_wrong(known) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (product.Unknown, record.Busy, controls.mutate.Stale) as error:
        print(f"./dev gate: {error}", file=sys.stderr)
        sys.exit(2)
