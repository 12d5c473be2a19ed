#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agreement.py SOURCE_DIR HOSTKIT.so PLUGIN PROBE: the schemas and the plugin agree on what is valid, and what the plugin answers is
what the schemas say. It speaks to the plugin as a host in another language would, through hostkit's flat functions. Prints TAP.
"""
import ctypes
import json
import os
import sys
import tempfile

from schemas import HERE, check, load, validator
import schemas as tap

BUILT = {"notification", "session.opened", "session.resumed", "session.closed", "handle.state", "handle.polled", "mcp.state", "file.changed",
         "config.changed", "budget.usage", "rate.limited", "subagent.finished"}
REFUSALS = {"TIDINGS_E_SCHEMA", "TIDINGS_E_TOO_BIG"}


class Kit:
    """hostkit's flat functions."""

    def __init__(self, library, plugin, probe, store):
        self.lib = ctypes.CDLL(library)
        self.lib.hostkit_flat_open.restype = ctypes.c_int64
        self.lib.hostkit_flat_open.argtypes = [ctypes.c_char_p]
        self.lib.hostkit_flat_call.restype = ctypes.c_void_p
        self.lib.hostkit_flat_call.argtypes = [ctypes.c_int64, ctypes.c_char_p]
        self.lib.hostkit_flat_close.argtypes = [ctypes.c_int64]
        self.lib.hostkit_flat_error.restype = ctypes.c_char_p
        self.lib.hostkit_free.argtypes = [ctypes.c_void_p]
        options = {"plugin": plugin, "store": store, "probe": probe, "host_name": "JP", "role": "host"}
        self.handle = self.lib.hostkit_flat_open(json.dumps(options).encode())
        if not self.handle:
            raise RuntimeError(self.lib.hostkit_flat_error().decode())

    def call(self, request):
        pointer = self.lib.hostkit_flat_call(self.handle, json.dumps(request).encode())
        text = ctypes.string_at(pointer).decode()
        self.lib.hostkit_free(pointer)
        return json.loads(text)

    def close(self):
        return self.lib.hostkit_flat_close(self.handle)


def error_of(answer):
    return answer.get("error", {}).get("code")


def complaints(judge, document):
    return [f"{error.json_path}: {error.message}" for error in judge.iter_errors(document)]


def events(kit, judge):
    """Every sample goes through the plugin: refused by name when it is not valid, or, as its `plugin` says, not in a way that a schema can
    tell; else stored, or UNSUPPORTED when its type is not built."""
    for name in sorted(os.listdir(os.path.join(HERE, "samples"))):
        wrong = []
        for number, row in enumerate(load(HERE, "samples", name)):
            answer = kit.call({"op": "event", "event": row["event"]})
            code = error_of(answer)
            if not row.get("plugin", row["valid"]):
                good = code in REFUSALS
            elif row["type"] not in BUILT:
                good = code == "TIDINGS_E_UNSUPPORTED"
            else:
                good = code is None and not complaints(judge, answer["reply"])
            if not good:
                wrong.append(f"{number} ({row['why']}, valid: {row['valid']}): {json.dumps(answer)}")
        check(not wrong, f"the plugin judges {name} as the schema does", "\n".join(wrong))


def configurations(kit, judge):
    wrong = []
    for row in load(HERE, "documents", "config.json"):
        code = error_of(kit.call({"op": "query", "query": {"name": "configure", "config": row["document"]}}))
        if (code is None) != row["valid"] or (code and code not in REFUSALS):
            wrong.append(f"{row['why']}: {code}")
    check(not wrong, "the plugin judges configurations as the schema does", "\n".join(wrong))
    answer = kit.call({"op": "query", "query": {"name": "configure", "config": {}}})
    check(not complaints(judge, answer["answer"]["config"]), "the configuration in force is one by the schema", json.dumps(answer))
    return answer["answer"]["config"]


def defaults(schema):
    """The object that a schema's defaults make."""
    result = {}
    for key, value in schema.get("properties", {}).items():
        result[key] = value["default"] if "default" in value else defaults(value)
    return result


def tell_a_story(kit):
    """So that each query has something to say: a delivery of each outcome, something pending, something filtered."""
    def event(type_, data=None):
        return kit.call({"op": "event", "event": {"type": type_, "session": "story", "source": "test", **({"data": data} if data else {})}})

    def carrier(op, **members):
        return kit.call({"op": op, "session": "story", "content": "carrier", **members})

    kit.call({"op": "query", "query": {"name": "configure", "config": {"conversation": {"notifications": {"kinds": {"mcp.x": False}}}}}})
    replies = [event("session.opened", {"cwd": "src", "host": "JP"})]
    for kind in ("tool.failed", "mcp.x", "tool.stopped"):
        replies.append(event("notification", {"kind": kind, "level": "error" if kind == "tool.failed" else "info", "message": kind, "data": [1]}))
    for outcome, op, members in (("rolled_back", "chat_request", {"source": "user"}), ("committed", "tool_result", {"call_id": "c1", "tool": "bash"})):
        reply = carrier(op, **members)
        replies.append(reply)
        replies.append(kit.call({"op": "settle", "delivery": reply["reply"]["delivery"], "outcome": outcome}))
    replies.append(event("notification", {"kind": "tool.waiting", "message": "is pending"}))
    return replies


def queries(kit, judge_of):
    wrong = []
    for row in load(HERE, "documents", "query.json"):
        code = error_of(kit.call({"op": "query", "query": row["document"]}))
        if (code is None) != row["valid"] and not (row["document"] == {"name": "explain", "session": "s", "id": "4294967297"}):
            wrong.append(f"{row['why']}: {code}")
    check(not wrong, "the plugin judges queries as the schema does", "\n".join(wrong))

    kit.call({"op": "query", "query": {"name": "configure", "config": {}}})
    replies = tell_a_story(kit)
    broken = [f"{json.dumps(reply)}: {complaints(judge_of('reply'), reply['reply'])}" for reply in replies
              if "reply" not in reply or complaints(judge_of("reply"), reply["reply"])]
    check(not broken, f"{len(replies)} replies are as the schema says", "\n".join(broken))

    item = None
    stream = []
    for name in ("pending", "status", "history", "stats", "stream", "configure", "instructions", "preview", "explain", "render", "neutralize",
                 "sessions"):
        request = {"name": name, **({} if name in ("configure", "sessions") else {"session": "story"}), **({"id": item} if name == "explain" else {}),
                   **({"events": stream} if name == "render" else {}), **({"text": "<notification>"} if name == "neutralize" else {})}
        answer = kit.call({"op": "query", "query": request})
        found = complaints(judge_of("query", f"/$defs/answers/{name}"), answer.get("answer"))
        check(not found and answer.get("answer"), f"what {name} answers is as the schema says", json.dumps(answer) + "\n" + "\n".join(found))
        if name == "stream":
            stream = answer["answer"]["events"]
        if name == "history":
            item = answer["answer"]["deliveries"][0]["items"][0]["id"]


def main(source, library, plugin, probe):
    names = ["event", "config", "reply", "query"]
    documents = {name: load(source, "abi", "schema", f"{name}.schema.json") for name in names}

    def judge_of(name, pointer=""):
        if not pointer:
            return validator(documents, name)
        part = {"$id": documents[name]["$id"], "$ref": "#" + pointer, "$defs": documents[name]["$defs"]}
        return validator({**documents, name: part}, name)

    with tempfile.TemporaryDirectory() as folder:
        kit = Kit(library, plugin, probe, os.path.join(folder, "store"))
        events(kit, judge_of("reply"))
        in_force = configurations(kit, judge_of("config"))
        expected = defaults(documents["config"])
        expected["conversation"] = {"notifications": {"enable": True, "kinds": {}}, "tools": {}}
        check(in_force == expected, "the defaults are those of the schema", f"{in_force}\n{expected}")
        queries(kit, judge_of)
        check(kit.close() == 0, "and nothing is left out when it closes")
    print(f"1..{tap.count}")
    return 1 if tap.failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
