#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of `codex` that setup uses: --version, and app-server with hooks/list."""
import json
import os
import re
import sys
import zlib

HOME = os.path.realpath(os.environ["CODEX_HOME"])
TRUST = os.path.join(HOME, "config.toml")
ENTRY = '\n?\\[hooks\\.state\\."{}"\\]\ntrusted_hash = "(.*)"\n'


def load(path):
    return json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}


def config():
    text = open(TRUST, encoding="utf-8").read() if os.path.exists(TRUST) else ""
    return text + "\n" if text and not text.endswith("\n") else text


def entry(key):
    return re.search(ENTRY.format(re.escape(key)), config())


def hooks_list():
    path = os.path.join(HOME, "hooks.json")
    if os.path.exists(os.path.join(HOME, "blind")):
        return
    for event, groups in load(path).get("hooks", {}).items():
        for number, group in enumerate(groups):
            for place, hook in enumerate(group["hooks"]):
                key, digest = f"{path}:{event}:{number}:{place}", f"{zlib.crc32(json.dumps(hook).encode()):08x}"
                known = entry(key)
                trust = "untrusted" if known is None else "trusted" if known[1] == digest else "modified"
                yield {"key": key, "command": hook["command"], "sourcePath": path, "currentHash": digest, "trustStatus": trust}


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        print(json.dumps({"method": "some/notification", "params": {"id": request["id"]}}))
        answers = {"initialize": lambda _: {}, "hooks/list": lambda _: {"data": [{"hooks": list(hooks_list())}]}}
        if os.path.exists(os.path.join(HOME, "broken")):
            print(json.dumps({"id": request["id"], "error": {"code": -1, "message": "config.toml:3: no"}}), flush=True)
        else:
            print(json.dumps({"id": request["id"], "result": answers[request["method"]](request["params"])}), flush=True)


if sys.argv[1:] == ["app-server"]:
    serve()
else:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from tested import says  # importing it takes a third of the start
    print(says("codex"))
