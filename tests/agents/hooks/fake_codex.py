#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As much of `codex` as setup talks to: --version, and app-server with hooks/list and config/batchWrite, which writes config.toml as Codex 0.169.0 was seen
to: line ends are made its own, and the header above the hashes stays when the last of them goes."""
import hashlib
import json
import os
import re
import sys

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
            for hook in group["hooks"]:
                key, digest = f"{path}:{event}:{number}:0", hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                known = entry(key)
                trust = "untrusted" if known is None else "trusted" if known[1] == digest else "modified"
                yield {"key": key, "command": hook["command"], "sourcePath": path, "currentHash": digest, "trustStatus": trust}


def header(text):
    if re.search(r"^\[hooks\.state\]$", text, re.M):
        return text
    if "[hooks.state." in text:
        return text.replace("[hooks.state.", "[hooks.state]\n[hooks.state.", 1)
    return text + ("\n" if text else "") + "[hooks.state]\n"


def batch_write(edits):
    text = config()
    for edit in edits:
        if edit["mergeStrategy"] == "upsert":
            assert edit["keyPath"] == "hooks.state"
            text = header(text)
            for key, value in edit["value"].items():
                text = re.sub(ENTRY.format(re.escape(key)), "", text) + f'\n[hooks.state."{key}"]\ntrusted_hash = "{value["trusted_hash"]}"\n'
        else:
            assert edit["value"] is None
            key = edit["keyPath"].removeprefix('hooks.state."').removesuffix('"')
            text, count = re.subn(ENTRY.format(re.escape(key)), "", text)
            assert count == 1
    with open(TRUST, "w", encoding="utf-8") as file:
        file.write(text)
    return {"status": "ok"}


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        print(json.dumps({"method": "some/notification", "params": {"id": request["id"]}}))
        answers = {"initialize": lambda _: {}, "hooks/list": lambda _: {"data": [{"hooks": list(hooks_list())}]},
                   "config/batchWrite": lambda params: batch_write(params["edits"])}
        if os.path.exists(os.path.join(HOME, "broken")):
            print(json.dumps({"id": request["id"], "error": {"code": -1, "message": "config.toml:3: no"}}), flush=True)
        else:
            print(json.dumps({"id": request["id"], "result": answers[request["method"]](request["params"])}), flush=True)


if sys.argv[1:] == ["app-server"]:
    serve()
else:
    print("codex-cli 0.169.0")
