#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""style.py SOURCE_DIR: checks the rules of CONTRIBUTING.md that a machine can check: layers, lengths, first lines. Prints TAP.

`style.py --self-test` gives every rule a text that breaks it and one that does not.
"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import agents  # pylint: disable=wrong-import-position
import c_rules  # pylint: disable=wrong-import-position
import comments  # pylint: disable=wrong-import-position
import sql_rules  # pylint: disable=wrong-import-position

MAX_LINES = 450
MAX_COLUMNS = 100  # of C; tables that clang-format leaves alone may be wider
TEXT = (".c", ".h", ".sql", ".py", ".sh", ".cmake", ".md", ".json", ".txt", ".yml", ".in", "dev", "run")
PURE = ("plugin/rules/", "plugin/render/", "plugin/values/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# Only these folders may include the header.
ONLY_IN = {
    "lmdb.h": ("plugin/store/db/lmdb/", "bench/", "tests/store/"),
    "libpq-fe.h": ("plugin/store/db/postgres/", "bench/", "tests/fleet/"),
    "jansson.h": ("hostsim/", "command/", "agents/", "mcp/", "cli/", "listen/", "subscribe/", "bench/", "tests/"),
    "microhttpd.h": ("listen/", "bench/listen/"),
    "curl/curl.h": ("subscribe/",),
    "curses.h": ("cli/top/",),
    "term.h": ("cli/top/",),
    "vendor/tomlc17/tomlc17.h": ("command/toml.c",),
}
# The engines, and the files that may know one: tools that read a store's file without the store, and tests.
ENGINES = ("store/db/lmdb/", "store/db/postgres/")
WITH_ENGINES = ("plugin/store/db/", "plugin/store/maintenance/", "plugin/store/maintenance_postgres/", "tests/store/", "tests/fleet/rows")
NOT_IN_PURE = ("lmdb.h", "jansson.h", "time.h", "sys/time.h", "sys/random.h", "pthread.h", "unistd.h", "store/store.h")
# Split, so that this file does not match itself.
HOME = re.compile(r"/(?:home|Users)/[a-z][\w.-]*/|/ro" + r"ot/")
LATER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
CONFLICT = re.compile(r"^(?:<{7}|>{7}) ")  # a mark of an unfinished merge
# Characters that show text in another order than it has, or hide some of it: a reviewer would not see them.
HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]")
SPDX = "SPDX-License-Identifier: MIT"


def includes(text):
    return INCLUDE.findall(text)


def layer_leaks(path, text):
    found = []
    for header in includes(text):
        allowed = ONLY_IN.get(header)
        if allowed and not path.startswith(allowed):
            found.append(f"includes {header}, which is for {', '.join(allowed)} only")
        if header.startswith(ENGINES) and not path.startswith(WITH_ENGINES):
            found.append(f"includes {header}: nothing above store/db/ knows which engine it has")
        if path.startswith(PURE) and header in NOT_IN_PURE:
            found.append(f"is in a pure module and includes {header}")
        if path.startswith(("hostkit/", "hostsim/", "command/", "agents/", "mcp/", "cli/", "listen/", "subscribe/", "recipes/")) and header.startswith(("store/", "flow/", "session/", "rules/", "render/", "event/", "instance/")):
            found.append(f"includes {header}, of the plugin's insides")
    return found


def first_line(path, text):
    if not path.endswith((".c", ".h")) or text.startswith(f"/* {SPDX}\n"):
        return []
    return [f'does not begin with "/* {SPDX}"']


def length(path, text):
    lines = text.count("\n")
    return [f"has {lines} lines; at most {MAX_LINES} are allowed: is it one idea?"] if path.endswith((".c", ".h", ".py", ".sh")) and lines > MAX_LINES else []


UNFORMATTED = re.compile(r"/\* clang-format off \*/.*?/\* clang-format on \*/", re.DOTALL)


def columns(path, text):
    if not path.endswith((".c", ".h")):
        return []
    text = UNFORMATTED.sub(lambda table: "\n" * table[0].count("\n"), text)
    return [f"line {number} has {len(line)} columns; at most {MAX_COLUMNS} are allowed"
            for number, line in enumerate(text.splitlines(), 1) if len(line) > MAX_COLUMNS]


def forbidden(path, text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if HOME.search(line):
            found.append(f"line {number} has somebody's home in it: {line.strip()[:80]}")
        if HIDDEN.search(line) and not path.endswith(".json"):
            found.append(f"line {number} has U+{ord(HIDDEN.search(line)[0]):04X} in it, which nobody can see: write it as an escape")
        if CONFLICT.search(line):
            found.append(f"line {number} is the mark of an unresolved conflict: {line.strip()[:80]}")
        if LATER.search(line):
            found.append(f"line {number} leaves something for later: {line.strip()[:80]}")
        if line != line.rstrip() and path.endswith((".c", ".h", ".py", ".sh", ".cmake")):
            found.append(f"line {number} ends in blanks")
    return found


def header_guard(path, text):
    if not path.endswith(".h") or "tests/" in path:
        return []
    guard = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.MULTILINE)
    return [] if guard and guard[1] == guard[2] else ["has no include guard"]


# `c ? p->n + 1 : 1`: gcc 14.2 makes (p->n & -c) + 1 of it at every -O, so that p is read though c says not to.
GUARDED_LOAD = (
    re.compile(r"\?([^?:;,{}]*?(?:->|\[|\*\s*\w)[^?:;,{}]*?)\s[-+|^]\s*(\w+)\s*:\s*\2\b"),
    re.compile(r"\?\s*(\w+)\s*:\s*[^?:;,{}]*?(?:->|\[)[^?:;,{}]*?\s[-+|^]\s*\1\b"),
    re.compile(r"\?\s*(\w+)\s*[+|^]\s[^?:;,{}]*?(?:->|\[)[^?:;,{}]*?\s*:\s*\1\b"),
)


def guarded_load(path, text):
    if not path.endswith((".c", ".h")):
        return []
    code = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', code)
    return [f"line {code.count(chr(10), 0, hit.start()) + 1}: {' '.join(hit[0].split())}: gcc 14 reads it whatever the condition says; write an if"
            for pattern in GUARDED_LOAD for hit in pattern.finditer(code)]


RULES = {
    "layers: who includes lmdb.h, jansson.h and the plugin's insides": layer_leaks,
    "every .c and .h begins with its licence": first_line,
    f"no file of code is longer than {MAX_LINES} lines": length,
    "no homes, nothing left for later, nothing hidden, no blanks at line ends": forbidden,
    f"no line of C is longer than {MAX_COLUMNS} columns": columns,
    "every header has a guard": header_guard,
    "no `condition ? load + k : k`, whose load gcc 14 does not guard": guarded_load,
    **c_rules.OF_FILES,
    **comments.OF_FILES,
    **agents.OF_FILES,
    **sql_rules.OF_FILES,
}


def files(source):
    """Lists the files that git knows or would add; without git, or outside a checkout, all files except build/. vendor/ is left out, because others
    have written it."""
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(["git", "-C", source, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=False)
    if listing and listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:
        names = [os.path.relpath(os.path.join(folder, name), source) for folder, _, names in os.walk(source) for name in names]
    return sorted(name for name in names
                  if name.endswith(TEXT) and not name.startswith(("build/", ".git/", "vendor/")) and os.path.isfile(os.path.join(source, name)))


def judge(source):
    texts = {}
    for name in files(source):
        with open(os.path.join(source, name), encoding="utf-8", errors="replace") as file:
            texts[name] = file.read()
    found = [(title, [f"{name} {finding}" for name, text in texts.items() for finding in rule(name, text)]) for title, rule in RULES.items()]
    found += [(title, rule(texts)) for title, rule in c_rules.OF_THE_TREE.items()]
    failed = 0
    for number, (title, findings) in enumerate(found, 1):
        failed |= bool(findings)
        for finding in findings:
            print(f"# {finding}")
        print(f"{'not ok' if findings else 'ok'} {number} - {title} ({len(texts)} files)")
    print(f"1..{len(found)}")
    return failed


def self_test():
    head = f"/* {SPDX}\n */\n"
    samples = [
        (layer_leaks, "plugin/store/rows/a.c", "#include <lmdb.h>\n", "plugin/store/db/lmdb/a.c"),
        (layer_leaks, "plugin/store/rows/a.c", '#include "store/db/lmdb/engine.h"\n', "plugin/store/maintenance/a.c"),
        (layer_leaks, "plugin/event/a.c", "#include <jansson.h>\n", "command/a.c"),
        (layer_leaks, "cli/a.c", '#include "vendor/tomlc17/tomlc17.h"\n', "command/toml.c"),
        (layer_leaks, "plugin/rules/policy/a.c", "#include <time.h>\n", "plugin/store/a.c"),
        (layer_leaks, "plugin/render/a.c", '#include "store/store.h"\n', "plugin/flow/a.c"),
        (layer_leaks, "hostsim/a.c", '#include "rules/policy/plan.h"\n', "plugin/flow/a.c"),
        (first_line, "plugin/a.c", "int a;\n", "plugin/a.py"),
        (length, "plugin/a.c", "\n" * (MAX_LINES + 1), "plugin/a.json"),
        (forbidden, "a.md", "see /ho" + "me/somebody/x\n", None),
        (forbidden, "a.md", "TO" + "DO: later\n", None),
        (forbidden, "a.c", "<" * 7 + " HEAD\n", None),
        (columns, "a.c", "x" * (MAX_COLUMNS + 1), "a.md"),
        (forbidden, "a.c", "int a; \n", "a.md"),
        (forbidden, "a.md", "a\u202eb\n", "a.json"),
        (header_guard, "plugin/a.h", head, "plugin/a.c"),
        (guarded_load, "plugin/a.c", "n = list ? list->count + 1 : 1;\n", "plugin/a.py"),
        (guarded_load, "plugin/a.c", "n = count ? all[count - 1].n\n    - last : last;\n", "plugin/a.py"),
        (guarded_load, "plugin/a.c", "n = none ? 1 : list->count + 1;\n", "plugin/a.py"),
        (guarded_load, "plugin/a.c", "n = list ? 1 + list->count : 1;\n", "plugin/a.py"),
    ]
    results = [(f"{rule.__name__} finds it in {path}" + (f", not in {innocent}" if innocent else ""),
                rule(path, text) and not (innocent and rule(innocent, text))) for rule, path, text, innocent in samples]
    results += [(f"{rule.__name__} finds {found!r}, not {passed!r}", rule(path, found) and not rule(path, passed))
                for rule, path, found, passed in c_rules.SAMPLES + comments.SAMPLES + agents.SAMPLES + sql_rules.SAMPLES]
    results += c_rules.tree_samples()
    for number, (title, good) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(results)}")
    return not all(good for _, good in results)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else judge(sys.argv[1]))
