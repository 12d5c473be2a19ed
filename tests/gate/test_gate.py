#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_gate.py: tests that the gate continues after a kill, counts only complete slices, separates products, and fails when it must. Prints TAP."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FAKE = os.path.join(HERE, "fake.py")
PAGE = "# A page\n\n<!-- made by ./dev gate --write-docs: begin -->\n<!-- made by ./dev gate --write-docs: end -->\n\nAfter it.\n"
count = failed = 0


def check(title, good, what=""):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {title}")
    if not good:
        print("\n".join(f"# {line}" for line in str(what).splitlines()))


class Place:
    """A small repository with a product in it, and a folder for the gate."""

    def __init__(self, folder):
        self.source, self.folder = os.path.join(folder, "source"), os.path.join(folder, "gate")
        for name in ("abi", "plugin", "docs", "tests/gate"):
            os.makedirs(os.path.join(self.source, name))
        self.write("plugin/a.c", "int a;\n")
        self.write("docs/reliability.md", PAGE)
        self.write("README.md", PAGE)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        with open(os.path.join(self.source, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.source, name), encoding="utf-8") as file:
            return file.read()

    def git(self, *words):
        subprocess.run(["git", "-C", self.source, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a commit")

    def command(self, parts, *words):
        path = os.path.join(os.path.dirname(self.source), "parts.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(parts, file)
        return [sys.executable, os.path.join(HERE, "gate.py"), "--source", self.source, "--folder", self.folder, "--parts", path, *words]

    def run(self, parts, *words):
        done = subprocess.run(self.command(parts, *words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        return done.returncode, done.stdout

    def lines(self, event):
        with open(os.path.join(self.folder, "record.jsonl"), encoding="utf-8") as file:
            return [line for line in map(json.loads, file) if line["event"] == event]


def part(what, target=100, first=40, controls=(), more=()):
    return {"name": what, "what": f"a part that {what}", "unit": "", "target": target, "first": first, "result": "json",
            "command": [sys.executable, FAKE, what, "{seed}", "{count}", *more], "controls": list(controls)}


def control(name, does):
    return {"name": name, "count": 1, "says": "^token \\d+ twice$", "instead": {"command": [sys.executable, FAKE, does, "{seed}", "{count}"]}}


def killed_and_continued(place):
    fifo = os.path.join(place.folder, "..", "fifo")
    os.mkfifo(fifo)
    with subprocess.Popen(place.command([part("waits", more=[fifo])], "--lanes", "1"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as gate:
        with open(fifo, encoding="utf-8") as started:
            said = started.readline()
            gate.send_signal(signal.SIGKILL)
            gate.wait()
            rest = started.read()  # the pipe ends when the program has ended
    check("a killed gate takes its program with it", (said, rest) == ("started\n", ""))
    status, output = place.run([{**part("counts"), "name": "waits"}])
    seeds = [line["seed"] for line in place.lines("begin")]
    check("it continues to its target, with other seeds", status == 0 and seeds[0] == 1 and len(set(seeds)) == len(seeds) > 2, output)
    ended = place.lines("end")
    check("the killed slice is not counted", 1 not in [line["seed"] for line in ended] and sum(line["done"] for line in ended) == 100, ended)
    with open(os.path.join(place.folder, "record.jsonl"), "a", encoding="utf-8") as file:
        file.write('{"event":"end","part":"wai')
    status, output = place.run([{**part("counts", target=120), "name": "waits"}])
    check("a line that was cut off does no harm", status == 0 and "| 120 | 120 | 0 |" in output, output)
    status, output = place.run([{**part("counts", target=120), "name": "waits"}])
    check("nothing is run when the target is reached, and nothing is left", status == 0 and "seed" not in output and "below" not in output, output)


def side_by_side(place):
    fifo = os.path.join(place.folder, "..", "fifo")
    os.mkfifo(fifo)
    status, output = place.run([part("reads", first=100, more=[fifo]), part("writes", first=100, more=[fifo])], "--lanes", "2")
    check("two lanes run two parts at a time", status == 0 and output.count("| 100 | 100 | 0 |") == 2, output)
    status, output = place.run([part("counts", target=1000)], "--lanes", "4")
    seeds = [line["seed"] for line in place.lines("end") if line["part"] == "counts"]
    check("four lanes do no more than the target together, with a seed each", status == 0 and "| 1,000 | 1,000 | 0 |" in output
          and len(set(seeds)) == len(seeds), output)
    unknown = {"mutant": "nobody knows it", "count": 1, "says": "x"}
    status, output = place.run([part("counts", target=1001, controls=[unknown])], "--lanes", "2")
    check("what goes wrong in a lane ends the gate with its reason", status == 2 and "nobody knows it" in output, output)


def wrong(place):
    status, output = place.run([part("rarely"), part("counts")])
    check("a broken promise fails the gate, and the other part goes on", status == 1 and "| 100 | 100 | 0 |" in output, output)
    check("what it printed is kept", os.path.exists(os.path.join(place.folder, "found", "rarely-2", "output.txt")))
    status, output = place.run([part("rarely"), part("counts")])
    check("it fails until the product has changed, and is not run again", status == 1 and "seed" not in output, output)
    check("and so does the table", place.run([part("rarely")], "--table")[0] == 1)
    place.write("plugin/a.c", "int b;\n")
    check("a product that is not committed is refused", place.run([part("counts")])[0] == 2)
    place.commit()
    status, output = place.run([part("counts")])
    check("another product begins at nothing, and its figures stand apart", status == 0 and output.count("\nCommit `") == 2, output)
    place.write("plugin/a.c", "/* A comment's \" */\n\nint b; // and 'another\n")
    place.commit()
    status, output = place.run([part("counts")])
    check("its figures count on when only comments differ", status == 0 and "seed" not in output and output.count("\nCommit `") == 2, output)
    place.write("plugin/a.c", 'char *b = "// is no comment";\n')
    place.commit()
    before = place.run([part("counts")])[1].count("\nCommit `")
    place.write("plugin/a.c", 'char *b = "// is another text";\n')
    place.commit()
    check("and begin anew for another text", before == 3 and place.run([part("counts")])[1].count("\nCommit `") == 4)
    watched = {**part("counts"), "code": ["hostkit"]}
    place.write("plugin/a.c", "int b1;\n")
    place.commit()
    place.run([watched])
    place.write("plugin/a.c", "int b2;\n")
    place.commit()
    status, output = place.run([watched])
    check("a part's figures count on in a product whose code of that part is the same", "seed" not in output and "| 100 | 100 |" in output, output)
    place.write("abi/a.h", "int h;\n")
    place.commit()
    check("and begin anew for other code that all parts have", "seed" in place.run([watched])[1])
    place.write("plugin/a.c", "int c;\n")
    place.commit()
    status, output = place.run([part("dies")])
    check("a program that dies breaks a promise", status == 1 and "did not say what it had counted" in output, output)
    left = r"\n\n1 of 1 rows are below their targets, which need about 0\.0 more hours of one core and more\.\n"
    check("the table says what is left", re.search(left, output), output)


def controlled(place):
    status, output = place.run([part("counts", controls=[control("twice", "breaks")])])
    check("a control that is caught", status == 0 and "| 1 of 1 |" in output, output)
    place.write("plugin/a.c", "int c2;\n")
    place.commit()
    status, output = place.run([part("counts", controls=[control("now and then", "rarely")])])
    check("it is tried with other seeds until it is caught", status == 0 and re.search(r"caught in \d+ s, 2 tries", output), output)
    place.write("plugin/a.c", "int d;\n")
    place.commit()
    status, output = place.run([part("counts", controls=[control("twice", "counts")])])
    check("a control that is not caught fails the gate", status == 1 and "NOT CAUGHT" in output and "| 0 of 1 |" in output, output)
    place.write("plugin/a.c", "int e;\n")
    place.commit()
    status, output = place.run([part("counts", controls=[control("twice", "dies")])])
    check("nor is one that fails for another reason", status == 1 and "| 0 of 1 |" in output, output)


def documented(place):
    parts = [part("counts", controls=[control("twice", "breaks")])]
    status, output = place.run(parts, "--for", "0s")
    check("a time limit of nothing runs nothing", status == 0 and "seed" not in output, output)
    place.run(parts)
    status, output = place.run(parts, "--write-docs")
    page = place.read("docs/reliability.md")
    check("the table goes into the pages", status == 0 and "| 100 | 100 | 0 | 1 of 1 |" in page and page.endswith("\nAfter it.\n"), output + page)
    check("and is found there", place.run(parts, "--check-docs")[0] == 0)
    place.write("docs/reliability.md", page.replace("| 100 | 100 |", "| 100 | 999 |"))
    check("a figure that was edited in a page is noticed", place.run(parts, "--check-docs")[0] == 1)
    place.run(parts, "--write-docs")
    figures = place.read("tests/gate/figures.json")
    place.write("tests/gate/figures.json", re.sub(r'"done": 100', '"done": 999', figures))
    check("and one that was edited in the figures", place.run(parts, "--check-docs")[0] == 1)
    place.write("tests/gate/figures.json", figures)
    check("the same figures are written again to the byte", place.run(parts, "--write-docs")[0] == 0 and place.read("tests/gate/figures.json") == figures
          and place.run(parts, "--check-docs")[0] == 0)


def on_another_machine(place):
    parts = [part("counts", controls=[control("twice", "breaks")])]
    place.run(parts)
    place.run(parts, "--write-docs")
    first = [line["seed"] for line in place.lines("end")]
    place.folder += "-elsewhere"
    status, output = place.run([{**parts[0], "target": 150}])
    seeds = [line["seed"] for line in place.lines("end")]
    check("another machine goes on from the documents, with other seeds", status == 0 and "| 150 | 150 | 0 | 1 of 1 |" in output
          and sum(line["done"] for line in place.lines("end")) == 50 and min(seeds) > max(first) and not place.lines("control"), output)
    status, output = place.run([{**parts[0], "target": 160}])
    check("the figures are carried once", status == 0 and "| 160 | 160 |" in output and len(place.lines("carried")) == 1, output)
    place.run([{**parts[0], "target": 160}], "--write-docs")
    check("the documents then have the figures of both", '"done": 160' in place.read("tests/gate/figures.json"))


def main():
    for test in (killed_and_continued, side_by_side, wrong, controlled, documented, on_another_machine):
        with tempfile.TemporaryDirectory() as folder:
            place = Place(folder)
            os.makedirs(place.folder)
            test(place)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
