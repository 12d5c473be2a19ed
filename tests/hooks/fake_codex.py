#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""As much of `codex` as setup talks to: --version, and app-server with hooks/list and config/batchWrite. The trust it keeps in a file of its own."""
import hashlib
import json
import os
import sys

HOME = os.environ["CODEX_HOME"]
TRUST = os.path.join(HOME, "config.toml")  # JSON here; setup does not look into it


def load(path):
    return json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}


def hooks_list():
    path = os.path.join(HOME, "hooks.json")
    for event, groups in load(path).get("hooks", {}).items():
        for number, group in enumerate(groups):
            for hook in group["hooks"]:
                key, digest = f"{path}:{event}:{number}:0", hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                known = load(TRUST).get(key)
                trust = "untrusted" if known is None else "trusted" if known["trusted_hash"] == digest else "modified"
                yield {"key": key, "command": hook["command"], "sourcePath": path, "currentHash": digest, "trustStatus": trust}


def batch_write(edits):
    trust = load(TRUST)
    for edit in edits:
        if edit["mergeStrategy"] == "upsert":
            assert edit["keyPath"] == "hooks.state"
            trust.update(edit["value"])
        else:
            assert edit["value"] is None
            del trust[edit["keyPath"].removeprefix('hooks.state."').removesuffix('"')]
    with open(TRUST, "w", encoding="utf-8") as file:
        json.dump(trust, file)
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
