#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""graph.py SOURCE_DIR [BUILD_DIR]: checks which folders use which others. Prints TAP.

It reads the includes of every product file and, from the objects of a build, which file calls or
reads what another one defines. An arrow may only lead from a higher layer to a lower one, and no
folders may form a circle. docs/architecture.md shows the picture that `graph.py --draw` prints.
`graph.py --self-test` gives every rule something to find.
"""
import json
import os
import re
import subprocess
import sys

# Low to high. Folders of one row do not use each other.
LAYERS = (
    ("abi",),
    ("common",),
    ("hostkit", "plugin/values", "recipes"),
    ("command", "plugin/render"),
    ("agents/hosts", "agents/node", "hostsim/host", "hostsim/reading", "plugin/rules/policy", "plugin/rules/turns", "plugin/rules/producers", "bench"),
    ("agents/transcript", "agents/setup", "hostsim/scenario", "hostsim/sim/model", "plugin/event"),
    ("agents/call",),
    ("agents/deliver",),
    ("agents/turn",),
    ("agents/wait",),
    ("agents/hook",),
    ("mcp", "cli/excerpt", "listen", "subscribe"),
    ("cli/run", "cli/feed", "cli/watch", "cli/doctor", "cli/tail", "cli/timeline", "cli/top", "hostsim/conformance", "hostsim/demo", "hostsim/dev", "hostsim/sim", "plugin/config"),
    ("cli", "hostsim", "plugin/store/db"),
    ("plugin/store/db/lmdb", "plugin/store/db/postgres"),  # the engines
    ("plugin/store",),  # the shared part of its folders, and the interface to all of it
    ("plugin/store/rows",),
    ("plugin/store/wake",),
    ("plugin/store/push", "plugin/store/forget"),
    ("plugin/store/open", "plugin/store/dump"),
    ("plugin/store/maintenance",),
    ("plugin/store/maintenance_postgres",),
    ("plugin/instance",),
    ("plugin/session",),
    ("plugin/flow", "plugin/query"),
    ("plugin/entry",),
)
RANK = {folder: rank for rank, row in enumerate(LAYERS) for folder in row}
# In the picture each of these is one box.
BOXES = ("plugin/rules", "plugin/store", "agents", "cli", "hostsim")
# Pure folders may not include these: they take values and return values.
PURE = ("plugin/values", "plugin/render", "plugin/rules")
IMPURE = re.compile(r"^(lmdb|jansson|time|sys/time|sys/random|pthread|unistd|fcntl|sys/\w+|common/json|common/json_reader)\.h$")
# The plugin starts no process and takes time and randomness from its host.
NOT_IN_PLUGIN = ("common/spawn.h", "common/clock.h", "common/random.h", "common/file.h", "common/folder.h")
OF_HOOKS = ("agents/transcript/", "agents/call/", "agents/deliver/", "agents/turn/", "agents/wait/", "agents/hook/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """Returns the deepest folder of LAYERS that contains the file, or None."""
    folder = os.path.dirname(path)
    if path.startswith(("abi/", "hostkit/")):
        return path.split("/")[0]
    while folder and folder not in RANK:
        folder = os.path.dirname(folder)
    return folder or None


def sources(root):
    listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.split("\n")
    else:
        names = [os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root) for name in files]
    return sorted({name for name in names if name.endswith((".c", ".h")) and os.path.isfile(os.path.join(root, name))
                   and name.split("/")[0] in {folder.split("/")[0] for folder in RANK}})


def resolve(name, includer, known):
    for base in (os.path.dirname(includer), "", "plugin", "abi", "hostkit/include", "hostkit", "hostsim", "bench"):
        path = os.path.normpath(os.path.join(base, name))
        if path in known:
            return path
    return None


def includes(texts):
    """Yields (file, file, line) for each include of one product file by another."""
    for path, text in texts.items():
        for found in INCLUDE.finditer(text):
            target = resolve(found[2], path, texts)
            if target:
                yield path, target, f"includes {found[2]}"


def objects(build, root):
    """Returns source file -> its object, for the product's own targets."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        path = os.path.relpath(entry["file"], root)
        match = re.search(r" -o (\S+)", entry["command"])
        if match and folder_of(path) and "/tests/" not in match[1] and not match[1].startswith("tests/"):
            found.setdefault(path, os.path.join(entry["directory"], match[1]))
    return found


def symbols(binaries):
    """Yields (source file, kind, name) of each symbol. `binaries`: source file -> its object."""
    source = {binary: path for path, binary in binaries.items() if os.path.exists(binary)}
    listing = subprocess.run(["nm", "-A", *source], capture_output=True, text=True, check=True).stdout if source else ""
    for line in listing.splitlines():
        binary, _, symbol = line.rpartition(":")
        kind, name = symbol.split()[-2:]
        yield source[binary], kind, name


def calls(build, root):
    """Yields (file, file, symbol) for each use of one file's symbol by another."""
    defined, used = {}, []
    for path, kind, name in symbols(objects(build, root)):
        if kind in "TDBRV":
            defined.setdefault(name, set()).add(path)
        elif kind == "U":
            used.append((path, name))
    for path, name in used:
        # The bench has its own malloc, for counting, which no other file uses.
        owners = {owner for owner in defined.get(name, set()) if not owner.startswith("bench/") or path.startswith("bench/")}
        lower = {owner for owner in owners if RANK[folder_of(owner)] < RANK[folder_of(path)] or folder_of(owner) == folder_of(path)}
        for owner in lower or owners:
            if owner != path:
                yield path, owner, f"uses {name}"


def edges(arrows):
    """Returns (folder, folder) -> an example, for each arrow between folders."""
    found = {}
    for path, target, why in arrows:
        here, there = folder_of(path), folder_of(target)
        if here and there and here != there:
            found.setdefault((here, there), f"{path} {why} ({target})")
    return found


def upward(found):
    return [f"{why}: {here} is not above {there}" for (here, there), why in sorted(found.items()) if RANK[here] <= RANK[there]]


def circles(found):
    """Finds groups of folders that reach each other."""
    reach = {folder: {there for here, there in found if here == folder} for folder in RANK}
    for middle in reach:
        for folder in reach:
            if middle in reach[folder]:
                reach[folder] |= reach[middle]
    groups = {frozenset(other for other in reach if other in reach[folder] and folder in reach[other]) for folder in reach}
    return [f"these folders form a circle: {', '.join(sorted(group))}" for group in groups if group]


def file_circles(arrows):
    """Finds files of the hooks that reach each other; a header counts as its file. The table of agents, which declares its rows, and the addon, which
    is one module, are exceptions."""
    found = {(here.rpartition(".")[0], there.rpartition(".")[0]) for here, there, _ in arrows if here.startswith(OF_HOOKS) and there.startswith(OF_HOOKS)}
    reach = {file: {there for here, there in found if here == file and there != file} for arrow in found for file in arrow}
    for middle in reach:
        for file in reach:
            if middle in reach[file]:
                reach[file] |= reach[middle]
    groups = {frozenset(other for other in reach if other in reach[file] and file in reach[other]) for file in reach}
    return [f"these files form a circle: {', '.join(sorted(group))}" for group in groups if group]


def impure(texts):
    found = []
    for path, text in texts.items():
        for match in INCLUDE.finditer(text):
            if path.startswith(PURE) and IMPURE.search(match[2]) and match[2] != "sys/types.h":
                found.append(f"{path} is pure and includes {match[2]}")
            if path.startswith("plugin/") and match[2] in NOT_IN_PLUGIN:
                found.append(f"{path} includes {match[2]}, which is not for the plugin")
    return found


def unplaced(texts):
    return [f"{path} is in no folder of LAYERS: say there which layer it is" for path in texts if not folder_of(path)]


def box(folder):
    return next((name for name in BOXES if folder == name or folder.startswith(name + "/")), folder)


def draw(found):
    """Returns the folders as Mermaid, without arrows that others imply."""
    arrows = {(box(here), box(there)) for here, there in found if box(here) != box(there)}
    nodes = sorted({node for arrow in arrows for node in arrow})
    reach = {node: {there for here, there in arrows if here == node} for node in nodes}
    for middle in nodes:
        for node in nodes:
            if middle in reach[node]:
                reach[node] |= reach[middle]
    kept = [(here, there) for here, there in sorted(arrows)
            if not any(there in reach[other] for other in reach[here] if other not in (here, there))]
    name = {node: re.sub(r"\W", "_", node) for node in nodes}
    lines = ["flowchart TD"]
    lines += [f'  {name[node]}["{node}/"]' for node in nodes if not node.startswith("plugin/")]
    lines += ['  subgraph plugin["plugin/: tidings.so"]']
    lines += [f'    {name[node]}["{node.split("/")[1]}/"]' for node in nodes if node.startswith("plugin/")]
    lines += ["  end"]
    lines += [f"  {name[here]} --> {name[there]}" for here, there in kept]
    return "\n".join(lines) + "\n"


def pictured(root, picture):
    page = os.path.join(root, "docs/architecture.md")
    if not os.path.exists(page):
        return ["docs/architecture.md is missing"]
    with open(page, encoding="utf-8") as file:
        return [] if picture in file.read() else ["docs/architecture.md does not show the picture that `tests/style/graph.py --draw .` prints"]


def judge(root, build):
    texts = {}
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            texts[path] = file.read()
    included, called = list(includes(texts)), list(calls(build, root)) if build else []
    by_include, by_call = edges(included), edges(called)
    found = {**by_call, **by_include}
    rules = [
        ("every file is in a layer", unplaced(texts)),
        (f"no include leads up ({len(by_include)} arrows between folders)", upward(by_include)),
        (f"no call leads up ({len(by_call)} arrows between folders)", upward(by_call)),
        ("no folders form a circle", circles(found)),
        ("no files of the hooks form a circle", file_circles(included + called)),
        ("pure folders include nothing impure, the plugin no process, clock or randomness", impure(texts)),
        ("docs/architecture.md shows this picture", pictured(root, draw(by_include))),
    ]
    for number, (title, findings) in enumerate(rules, 1):
        for finding in findings:
            print(f"# {finding}")
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
    print(f"1..{len(rules)}")
    return any(findings for _, findings in rules)


def self_test():
    up = edges(includes({"plugin/render/a.c": '#include "store/store.h"\n', "plugin/store/store.h": ""}))
    around = edges(includes({"plugin/flow/a.c": '#include "query/q.h"\n', "plugin/flow/f.h": "",
                             "plugin/query/b.c": '#include "flow/f.h"\n', "plugin/query/q.h": ""}))
    down = edges(includes({"plugin/flow/a.c": '#include "session/op.h"\n', "plugin/session/op.h": ""}))
    samples = [
        ("an include that leads up is found", upward(up) and not upward(down)),
        ("folders of one row may not use each other", upward(around)),
        ("a circle is found", circles(around) and not circles(down)),
        ("a circle of files is found", file_circles([("agents/call/a.c", "agents/turn/b.h", ""), ("agents/turn/b.c", "agents/call/a.h", "")])
         and not file_circles([("agents/call/a.c", "agents/call/a.h", ""), ("agents/turn/b.c", "agents/call/a.h", "")])),
        ("a clock in a pure folder is found", impure({"plugin/rules/policy/a.c": "#include <time.h>\n"})
         and not impure({"plugin/store/db/a.c": "#include <time.h>\n"})),
        ("a process in the plugin is found", impure({"plugin/store/db/a.c": '#include "common/spawn.h"\n'})),
        ("a file without a layer is found", unplaced({"elsewhere/a.c": ""})),
        ("an arrow that others imply is not drawn", "entry --> plugin_session" not in draw({
            ("plugin/entry", "plugin/flow"): "", ("plugin/flow", "plugin/session"): "", ("plugin/entry", "plugin/session"): ""})),
    ]
    for number, (title, good) in enumerate(samples, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(samples)}")
    return not all(good for _, good in samples)


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    if sys.argv[1] == "--draw":
        root = sys.argv[2]
        texts = {}
        for path in sources(root):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                texts[path] = file.read()
        print(draw(edges(includes(texts))), end="")
        return 0
    return judge(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)


if __name__ == "__main__":
    sys.exit(main())
