#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agreement.py SOURCE_DIR HOSTKIT.so PLUGIN PROBE: tests that the schemas and the plugin accept the same input, and that the plugin's answers match
the schemas. Like a host in another language, it calls hostkit's flat functions. Prints TAP.
"""
import ctypes
import json
import os
import sys
import tempfile

from schemas import HERE, check, load, part_of, validator
import schemas as tap

REFUSALS = {"TIDINGS_E_SCHEMA", "TIDINGS_E_TOO_BIG"}
# Errors of a valid event that the session cannot take in its present state.
TOO_LATE = {"TIDINGS_E_STATE", "TIDINGS_E_NOT_FOUND", "TIDINGS_E_FIRED"}


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


def set_the_scene(kit, session, type_):
    """Prepares the messages m1 and m2 for the samples: either both wait while a turn runs, or m1 is offered."""
    if type_ not in ("turn.declined", "turn.started"):
        kit.call({"op": "event", "event": {"type": "turn.started", "session": session}})
    if type_ != "message.submitted":
        for id_ in ("m1", "m2"):
            kit.call({"op": "event", "event": {"type": "message.submitted", "session": session, "data": {"id": id_, "content": "x"}}})


def events(kit, judge):
    """Sends every sample to the plugin, each in a session of its own. An invalid sample must be refused by the name of its field, also if only the
    plugin can see the mistake (`plugin` in the sample). A valid one must be accepted, or, for messages and turns, refused because of the session's
    state. At least one sample of each type must be accepted."""
    for name in sorted(os.listdir(os.path.join(HERE, "samples"))):
        wrong = []
        taken = 0
        for number, row in enumerate(load(HERE, "samples", name)):
            event = row["event"]
            if event.get("session") == "s":
                event["session"] = f"{row['type']}-{number}"
                if isinstance(event.get("data"), dict) and event["data"].get("child") == "s":
                    event["data"]["child"] = event["session"]
                if isinstance(event.get("data"), dict) and event["data"].get("from") == ["s"]:
                    event["data"]["from"] = [event["session"]]
                set_the_scene(kit, event["session"], row["type"])
            answer = kit.call({"op": "event", "event": event})
            code = error_of(answer)
            if not row.get("plugin", row["valid"]):
                good = code in REFUSALS
            elif code is None:
                good = not complaints(judge, answer["reply"])
                taken += 1
            else:
                good = code in TOO_LATE and row["type"].startswith(("message.", "turn."))
            if not good:
                wrong.append(f"{number} ({row['why']}, valid: {row['valid']}): {json.dumps(answer)}")
        check(not wrong and taken, f"the plugin judges {name} as the schema does", "\n".join(wrong) or "none was taken")


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
    """Returns the object with all defaults of a schema."""
    result = {}
    for key, value in schema.get("properties", {}).items():
        if key != "$schema":  # this member is for editors; the plugin does not have it
            result[key] = defaults(value) if "properties" in value else value["default"]
    return result


def make_every_state(kit):
    """Fills the session so that each query has an answer: a delivery of each outcome, a pending and a filtered notification, a running turn, a
    waiting and a steered message, a stopped stream, and a turn that the plugin started."""
    def event(type_, data=None):
        return kit.call({"op": "event", "event": {"type": type_, "session": "story", "source": "test", **({"data": data} if data else {})}})

    def carrier(op, **members):
        return kit.call({"op": op, "session": "story", "content": "carrier", **members})

    kit.call({"op": "query", "query": {"name": "configure", "config": {"conversation": {"notifications": {"kinds": {"mcp.x": False}}}}}})
    replies = [event("session.opened", {"cwd": "src", "host": "JP"}), event("message.submitted", {"id": "m0", "content": "starts a turn"})]
    replies.append(carrier("chat_request", source="user", messages=["m0"]))
    replies.append(kit.call({"op": "settle", "delivery": replies[-1]["reply"]["delivery"], "outcome": "committed"}))
    replies.append(event("turn.finished"))
    for kind in ("tool.failed", "mcp.x", "tool.stopped"):
        replies.append(event("notification", {"kind": kind, "level": "error" if kind == "tool.failed" else "info", "message": kind, "data": [1]}))
    for outcome, op, members in (("rolled_back", "chat_request", {"source": "user"}), ("committed", "tool_result", {"call_id": "c1", "tool": "bash"})):
        reply = carrier(op, **members)
        replies.append(reply)
        replies.append(kit.call({"op": "settle", "delivery": reply["reply"]["delivery"], "outcome": outcome}))
    replies.append(event("notification", {"kind": "tool.waiting", "message": "is pending"}))
    replies.append(event("stream.started"))
    replies.append(event("notification", {"kind": "ci.failed", "level": "critical", "message": "stops the stream"}))
    replies.append(event("turn.aborted"))
    replies.append(event("turn.started", {"messages": ["tidings:1"]}))
    replies.append(event("message.submitted", {"id": "m1", "content": "waits", "trigger": {"kind": "webhook"}}))
    replies.append(event("message.submitted", {"id": "m2", "content": "corrects", "delivery": "steer"}))
    replies.append(event("session.compacting"))
    replies.append(event("session.compacted"))
    replies.append(event("tools.started"))
    replies.append(event("turn.stop"))
    return replies


def said_of_the_run(kit, judge_of):
    """Checks that the status and the transitions of history have exactly the members that the schema describes."""
    for name, path in (("status", ("answers", "status")), ("history", ("transition",))):
        answer = kit.call({"op": "query", "query": {"name": name, "session": "story"}})["answer"]
        if name == "status":  # only a closed session has that member
            for type_ in ("session.opened", "session.closed"):
                kit.call({"op": "event", "event": {"type": type_, "session": "ended", "source": "test"}})
            answer |= kit.call({"op": "query", "query": {"name": name, "session": "ended"}})["answer"]
        said = {key for row in answer["transitions"] for key in row} if name == "history" else set(answer)
        described = judge_of("query").schema["$defs"]
        for step in path:
            described = described[step]
        check(set(described["properties"]) == said, f"what {name} says of a run is described, and the other way round",
              f"{set(described['properties']) ^ said}")
    answer = kit.call({"op": "query", "query": {"name": "timeline", "session": "story"}})["answer"]
    described = judge_of("query").schema["$defs"]["answers"]["timeline"]["properties"]
    for rows in ("items", "deliveries", "messages"):
        undescribed = {key for row in answer[rows] for key in row} - set(described[rows]["items"]["properties"])
        check(answer[rows] and not undescribed, f"what timeline says of {rows} is described", f"{undescribed}")


# these queries name missing things, which a schema cannot detect
ABSENT = [{"name": "explain", "session": "s", **subject} for subject in ({"id": "4294967297"}, {"message": "m1"})]


def queries(kit, judge_of):
    wrong = []
    for row in load(HERE, "documents", "query.json"):
        code = error_of(kit.call({"op": "query", "query": row["document"]}))
        if (code is None) != row["valid"] and row["document"] not in ABSENT:
            wrong.append(f"{row['why']}: {code}")
    check(not wrong, "the plugin judges queries as the schema does", "\n".join(wrong))

    kit.call({"op": "query", "query": {"name": "configure", "config": {}}})
    replies = make_every_state(kit)
    broken = [f"{json.dumps(reply)}: {complaints(judge_of('reply'), reply['reply'])}" for reply in replies
              if "reply" not in reply or complaints(judge_of("reply"), reply["reply"])]
    check(not broken, f"{len(replies)} replies are as the schema says", "\n".join(broken))

    ledgers = [json.loads(reply["reply"]["ledger"]) for reply in replies if "ledger" in reply["reply"]]
    broken = [f"{ledger}: {found}" for ledger in ledgers if (found := complaints(judge_of("reply", "/$defs/ledger"), ledger))]
    check(len(ledgers) == 1 and ledgers[0]["pending"] and ledgers[0]["queued"][0]["trigger"] == {"kind": "webhook"} and not broken,
          "the ledger of a compacted session is as the schema says", "\n".join(broken) or json.dumps(ledgers))
    said_of_the_run(kit, judge_of)

    item = None
    stream = []
    for name in ("pending", "status", "history", "stats", "stream", "configure", "instructions", "preview", "explain", "render", "neutralize",
                 "sessions", "queue", "tools", "marker", "timeline", "totals"):
        request = {"name": name, **({} if name in ("configure", "sessions", "marker", "totals") else {"session": "story"}), **({"id": item} if name == "explain" else {}),
                   **({"events": stream} if name == "render" else {}), **({"text": "<notification>"} if name == "neutralize" else {})}
        answer = kit.call({"op": "query", "query": request})
        found = complaints(judge_of("query", f"/$defs/answers/{name}"), answer.get("answer"))
        check(not found and answer.get("answer"), f"what {name} answers is as the schema says", json.dumps(answer) + "\n" + "\n".join(found))
        if name == "stream":
            stream = answer["answer"]["events"]
        if name == "history":
            item = next(delivery for delivery in answer["answer"]["deliveries"] if delivery["items"])["items"][0]["id"]


def main(source, library, plugin, probe):
    names = ["event", "config", "reply", "query"]
    documents = {name: load(source, "abi", "schema", f"{name}.schema.json") for name in names}

    def judge_of(name, pointer=""):
        return part_of(documents, name, pointer) if pointer else validator(documents, name)

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
