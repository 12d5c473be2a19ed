#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""symbols.py SOURCE_DIR BUILD_DIR: checks the external names of the product's objects. Prints TAP.

Each must begin with a word of its module, and another file of the product or a test must use it. `symbols.py --self-test` gives both rules something
to find.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import graph  # pylint: disable=wrong-import-position

# folder -> prefixes of its external names: its own name, or the name of a file or type.
PREFIXES = {
    "agents/call": "hook",
    "agents/deliver": "hook",
    "agents/hook": "verb",
    "agents/hosts": "host hosts",
    "agents/node": "call instance text throw value",
    "agents/setup": "change json mcp setup verb",
    "agents/transcript": "hook",
    "agents/turn": "hook",
    "agents/wait": "hook",
    "bench": "bench calls duel fleet raw samples sqlite target",
    "cli": "config event sessions verb",
    "cli/alert": "alert",
    "cli/doctor": "doctor verb",
    "cli/excerpt": "excerpt failure lines pattern patterns",
    "cli/feed": "verb",
    "cli/run": "child leftover report run supervise tail verb waiting watchdog",
    "cli/tail": "tail verb",
    "cli/timeline": "timeline verb",
    "cli/top": "ages draw editor grid listing owners screen terminal top",
    "cli/watch": "changes filter folders known outbox repository scan tree verb",
    "command": "address ask careful checkout cli common config destination due follow help host input interrupt json kit layers listeners mailbox message near orders owner paths patience print project recipes script secret session show stamp state store subscriptions terminal toml verb",
    "common": "arena buffer clock fail file folder json large libc mask plain quote random sha256 siphash spawn store utf8",
    "hostkit": "hk hostkit",
    "hostsim": "verb",
    "hostsim/conformance": "cases suite trial verb",
    "hostsim/demo": "demo host journal screen script verb workshop",
    "hostsim/dev": "build pane sources talk verb",
    "hostsim/host": "agent commits foreign place process simhost verb wire",
    "hostsim/reading": "reader reading",
    "hostsim/scenario": "scenario",
    "hostsim/sim": "check expect plain processes request schedule sim verb",
    "hostsim/sim/model": "act attachment bytes carrier items message model run urgency",
    "recipes": "pointer recipe template",
    "mcp": "mcp verb",
    "subscribe": "events http outputs plain process report retry saved sender sse subscribe transfer",
    "listen": "attempt base64 counts ed25519 forward http judge listen peers routes server signature socket take",
    "plugin/config": "config",
    "plugin/entry": "entry",
    "plugin/event": "event facts field message session",
    "plugin/flow": "calls collect compact declare flow fork lease life message push react recall report rewind step turn",
    "plugin/instance": "configuration handed instance publisher remembered session unseen wake",
    "plugin/query": "past query request stream",
    "plugin/render": "escape fold lookalike neutralize render structure",
    "plugin/rules/policy": "backlog plan policy",
    "plugin/rules/producers": "calls edits produce",
    "plugin/rules/turns": "turns",
    "plugin/session": "attach copies decision ending inherit ledger op orphans outdated pending planning publish reply stored",
    "plugin/store/maintenance": "maintenance",
    "plugin/store/dump": "dump",
    "plugin/store/db": "crc32c db owner places store",
    "plugin/store/maintenance_postgres": "maintenance",
    "plugin/store/db/postgres": "db pg tables",
    "plugin/store/db/lmdb": "datafile db digest directory env flush heads locks readers recover rings shared waiters walk",
    "plugin/store/forget": "purge retention store sweep visit",
    "plugin/store/open": "store",
    "plugin/store/push": "push store",
    "plugin/store/rows": "content dedup delivery head inbox item memory message meta outline outlines rate record row run session store tools transition",
    "plugin/store/wake": "store",
    "plugin/values": "level message outcome outline run system",
}
# Names that other programs have chosen, and look for.
CHOSEN_OUTSIDE = {
    "main": "the C library's",
    "tidings_entry": "the contract's: hosts look it up",
    "napi_register_module_v1": "Node's",
    "node_api_module_get_api_version_v1": "Node's",
    "send": "hostsim kills a process in a commit that goes to a server",
    **{name: "the bench counts these calls" for name in
       ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "pwrite", "pwrite64", "fdatasync")},
}
PUBLIC = ("hostkit_",)  # hostkit's API, for hosts
WITH_LIBRARY = {"raw_record_bytes": "bench_push.c uses it if there is SQLite"}  # a bare system has no such library


def is_ours(name):
    return name not in CHOSEN_OUTSIDE and re.fullmatch(r"[A-Za-z]\w*", name)


def misnamed(defined):
    """Finds external names without a prefix of their folder. `defined`: name -> files."""
    found = []
    for name, paths in sorted(defined.items()):
        for path in sorted(paths):
            folder = os.path.dirname(path)
            allowed = PREFIXES.get(folder, "").split()
            if is_ours(name) and name.split("_")[0] not in allowed:
                found.append(f"{path} has the external name {name}; names of {folder}/ begin with {', '.join(allowed) or 'something to be said in PREFIXES'}")
    return found


def unused(defined, used, words):
    """Finds external names without another user. `used`: name -> files whose objects use it. `words`: the words in tests, and in files that this
    build has not compiled."""
    return [f"{', '.join(sorted(paths))}: nobody else uses {name}: it is static, or goes"
            for name, paths in sorted(defined.items())
            if is_ours(name) and not name.startswith(PUBLIC) and not used.get(name, set()) - paths
            and name not in words and name not in WITH_LIBRARY]


def idle(defined):
    """Finds unused rows of PREFIXES and unused words in them."""
    present = {(os.path.dirname(path), name.split("_")[0]) for name, paths in defined.items() for path in paths}
    return [f"PREFIXES: nothing in {folder}/ begins with {word}" for folder, words in PREFIXES.items()
            for word in words.split() if (folder, word) not in present]


def words_of(root, names):
    found = set()
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
            found |= set(re.findall(r"\w+", file.read()))
    return found


def judge(root, build):
    binaries = {path: binary for path, binary in graph.objects(build, root).items() if os.path.exists(binary)}
    defined, used = {}, {}
    for path, kind, name in graph.symbols(binaries):
        if kind in "TDBRV":
            defined.setdefault(name, set()).add(path)
        elif kind in "Uw":
            used.setdefault(name, set()).add(path)
    tests = [os.path.join(folder, name) for top in ("tests", "docs/examples") for folder, _, names in os.walk(os.path.join(root, top))
             for name in names if name.endswith((".c", ".h"))]
    # Files that this build has not compiled, without headers, which declare names that they do not use.
    absent = [path for path in graph.sources(root) if path.endswith(".c") and path not in binaries]
    rules = [
        (f"external names begin with their module's word ({len(defined)} names of {len(binaries)} objects)", misnamed(defined)),
        ("somebody else uses each external name", unused(defined, used, words_of(root, tests + absent))),
        ("each prefix of the table is in use", [] if absent else idle(defined)),
    ]
    for number, (title, findings) in enumerate(rules, 1):
        for finding in findings:
            print(f"# {finding}")
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
    print(f"1..{len(rules)}")
    return any(findings for _, findings in rules) or not binaries


def self_test():
    path = "plugin/config/a.c"
    samples = [
        ("a name without its module's word is found", misnamed({"read_it": {path}}) and not misnamed({"config_read": {path}})),
        ("a folder without a row is found", misnamed({"config_read": {"elsewhere/a.c"}})),
        ("a name that only its own file uses is found", unused({"config_read": {path}}, {"config_read": {path}}, set())),
        ("one that another file uses is not", not unused({"config_read": {path}}, {"config_read": {"plugin/flow/a.c"}}, set())),
        ("nor is one that a test uses", not unused({"config_read": {path}}, {}, {"config_read"})),
        ("nor is one whose user needs a library", not unused({"raw_record_bytes": {"bench/raw.c"}}, {}, set())),
        ("nor are hostkit's API and names that others chose", not unused({"hostkit_open": {"hostkit/a.c"}, "main": {"cli/a.c"}}, {}, set())),
        ("a row of the table that nothing needs is found", idle({"config_read": {path}}) and
         not [finding for finding in idle({"config_read": {path}}) if "plugin/config/" in finding]),
    ]
    for number, (title, good) in enumerate(samples, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(samples)}")
    return not all(good for _, good in samples)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else judge(*sys.argv[1:3]))
