#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py SOURCE_DIR: checks README.md and docs/: the example is the compiled file, the targets of links and the commands exist, JSON is valid, and
the promise has the same words everywhere. Prints TAP.
"""
import glob
import json
import os
import re
import subprocess
import sys

PROMISE = (
    "A push that returned OK survives the death of any process and a power cut. What was settled as committed is not delivered again, unless the transcript is rewound to before it. "
    "A delivery that was never settled is delivered again, unless the host names it on resuming. So: exactly once for hosts that keep the "
    "delivery id with the carrier, at least once for the others."
)
# The pages that name tests.
AGENTS = ("docs/hosts/evidence.md", "docs/hosts/copilot.md")
# The files that state the promise; the header's comment is no Markdown.
PROMISED_IN = ("README.md", "docs/semantics.md", "abi/tidings/plugin.h")

count = 0
failed = 0


def check(title, findings):
    global count, failed
    count += 1
    failed += bool(findings)
    for finding in findings:
        print(f"# {finding}")
    print(f"{'not ok' if findings else 'ok'} {count} - {title}")


def read(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as file:
        return file.read()


def words(text):
    return " ".join(re.sub(r"^[ \t]*(?:>|\*(?= |$))", " ", text, flags=re.MULTILINE).replace("`", "").lower().split())


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def shows_preset(text, scenario):
    """Returns the block that follows the scenario's configuration on the page."""
    begin = f"`{json.dumps(scenario['config'])}`:"
    rest = text.partition(begin)[2]
    return blocks(rest, "text")[:1] == [scenario["steps"][-1]["expect"]["content"] + "\n"]


def missing_tests(source, name, text):
    """Finds missing tests that a page names as `file: function` or `file: the beginning of a title`."""
    files = {os.path.basename(path): path for path in glob.glob(os.path.join(source, "tests", "**", "*_*.*"), recursive=True)}
    named = re.findall(r"`(\w+\.(?:py|mjs)): (.+?)`", text)
    for file, test in named:
        content = read(source, files[file]) if file in files else ""
        there = f"\ndef {test}(" in content if file.endswith(".py") else test in content
        if not there:
            yield f"{name}: there is no test {test} in {file}"
    if not named:
        yield f"{name} names no test"


def broken_links(source, name, text):
    folder = os.path.dirname(name)
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")) and not os.path.exists(os.path.join(source, folder, target)):
            yield f"{name}: the link to {target} leads nowhere"


def anchor(heading):
    """Returns the name by which a link finds a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")


def lost_anchors(name, text, texts):
    """Finds links to missing parts of a page."""
    for target, part in re.findall(r"\]\(([^)#\s:]*)#([^)]*)\)", text):
        page = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
        if page in texts and part not in map(anchor, re.findall(r"^#+ (.*)$", texts[page], re.MULTILINE)):
            yield f"{name}: {page} has no part #{part}"


def broken_json(name, text):
    for block in blocks(text, "json"):
        try:
            json.loads(block)
        except ValueError as error:
            yield f"{name}: {error}: {block[:60]!r}"


def broken_diagrams(name, text):
    """Checks Mermaid diagrams: a semicolon ends a statement, even within a label, and a diagram must begin with its kind."""
    for block in blocks(text, "mermaid"):
        if not re.match(r"(?:flowchart (?:LR|TD)|sequenceDiagram)\n", block):
            yield f"{name}: a diagram of an unknown kind: {block[:40]!r}"
        yield from (f"{name}: a semicolon in a diagram: {line.strip()}" for line in block.splitlines() if ";" in line)


def misplaced_hazards(source, page):
    """Finds missing files that docs/hazards.md names, most of them without a folder."""
    files = [path for folder in ("agents", "cli", "command", "common", "hostkit", "plugin") for path in glob.glob(os.path.join(source, folder, "**"), recursive=True)]
    for row in re.findall(r"^  .*\((`[^;()]*`); [^()]*\)\.$", page, re.MULTILINE):
        for name in re.findall(r"`([\w./]+)`", row):
            if not any(path.endswith("/" + name) for path in files):
                yield f"docs/hazards.md: {name}"


def versions(source, page):
    """Checks that each host has the same version in the tests, in the command and on the page."""
    tested = dict(re.findall(r"^(\w+) +\S+@([\d.]+) ", read(source, "agents/hosts/versions.txt"), re.MULTILINE))
    named = dict(re.findall(r"`tidings setup (\w+)` \| ([\d.]+) ", page))
    if set(named) != {host for host in tested if os.path.exists(os.path.join(source, f"agents/hosts/{host}.c"))}:
        yield f"docs/hosts.md names {sorted(named)}"
    for host, version in named.items():
        if version != tested.get(host):
            yield f"{host}: docs/hosts.md names {version}, agents/hosts/versions.txt {tested.get(host)}"


def main(source):
    pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "abi/STABILITY.md"]
    pages += sorted(os.path.relpath(path, source) for path in glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True))
    texts = {name: read(source, name) for name in pages}

    check("the page on embedding shows docs/examples/host.c, to the letter",
          [] if read(source, "docs/examples/host.c") in blocks(texts["docs/embedding.md"], "c") else ["no block of C in it is that file"])
    examples = sorted(glob.glob(os.path.join(source, "tests", "scenarios", "tidings", "readme-*.json")))
    check("the page on configuration shows under each preset what its scenario expects, to the letter",
          [path for path in examples if not shows_preset(texts["docs/configuration.md"], json.loads(read(source, path)))] or
          ([] if len(examples) == 6 else [f"there are {len(examples)} of them"]))
    lines = texts["README.md"].count("\n")
    check("the README has at most 120 lines", [f"it has {lines}"] if lines > 120 else [])
    check("the promise stands in the same words everywhere",
          [f"{name} lacks it" for name in PROMISED_IN if words(PROMISE) not in words(read(source, name))])
    check("every link leads to a file", [finding for name, text in texts.items() for finding in broken_links(source, name, text)])
    check("every link to a part of a page finds it", [finding for name, text in texts.items() for finding in lost_anchors(name, text, texts)])
    check("every test that the pages on agents name is there", [finding for name in AGENTS for finding in missing_tests(source, name, texts[name])])
    check("every JSON block is JSON", [finding for name, text in texts.items() for finding in broken_json(name, text)])

    check("every file that the page on hazards names is there", list(misplaced_hazards(source, texts["docs/hazards.md"])))
    check("every diagram can be drawn", [finding for name, text in texts.items() for finding in broken_diagrams(name, text)])
    check("the versions of hosts that the page names are those that are tested", list(versions(source, texts["docs/hosts.md"])))

    known = subprocess.run([os.path.join(source, "dev"), "help"], capture_output=True, text=True, check=True).stdout
    used = {(name, command) for name, text in texts.items() for command in re.findall(r"\./dev ([a-z]+)", text)}
    check("every ./dev command that is named is one of ./dev help",
          [f"{name}: ./dev {command}" for name, command in sorted(used) if not re.search(rf"^  {command}\b", known, re.MULTILINE)])
    named = {(name, path) for name, text in texts.items()
             for path in re.findall(r"`((?:abi|bench|cmake|docs|hostkit|hostsim|plugin|tests)/[\w./-]*)`", text)}
    check("every path that is named is there",
          [f"{name}: {path}" for name, path in sorted(named) if not os.path.exists(os.path.join(source, path))])
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
