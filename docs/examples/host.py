#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A whole host in Python, with nothing but its standard library: a notification is pushed, delivered with a tool's result, and settled; then the host
sleeps until another process wakes it with a notification. python3 host.py LIBTIDINGS-HOSTKIT.SO TIDINGS.SO STORE"""
import ctypes
import json
import os
import select
import sys
import time


class Tidings:
    """hostkit's flat functions: integers, and JSON in strings."""

    def __init__(self, library, **options):
        self.kit = ctypes.CDLL(library)
        self.kit.hostkit_flat_open.argtypes, self.kit.hostkit_flat_open.restype = [ctypes.c_char_p], ctypes.c_int64
        self.kit.hostkit_flat_call.argtypes, self.kit.hostkit_flat_call.restype = [ctypes.c_int64, ctypes.c_char_p], ctypes.c_void_p
        self.kit.hostkit_flat_close.argtypes = [ctypes.c_int64]
        self.kit.hostkit_flat_error.restype = ctypes.c_char_p
        self.kit.hostkit_free.argtypes = [ctypes.c_void_p]
        self.handle = self.kit.hostkit_flat_open(json.dumps(options).encode())
        if not self.handle:
            raise OSError(self.kit.hostkit_flat_error().decode())

    def call(self, op, **members):
        pointer = self.kit.hostkit_flat_call(self.handle, json.dumps({"op": op, **members}).encode())
        if not pointer:
            raise MemoryError
        try:
            answer = json.loads(ctypes.string_at(pointer))
        finally:
            self.kit.hostkit_free(pointer)
        if "error" in answer:
            raise OSError(f"{answer['error']['code']}: {answer['error']['text']}")
        return answer

    def event(self, type_, session, **data):
        return self.call("event", event={"type": type_, "session": session, "data": data})["reply"]

    def close(self):
        self.kit.hostkit_flat_close(self.handle)


def show_result(tidings, result):
    """On an error a host sends the result unchanged. An agent sends each part as the message or block of its role; here all go to standard output."""
    try:
        answer = tidings.call("tool_result", session="s", call_id="c1", tool="ls", content=result)
    except OSError as error:
        print(error, file=sys.stderr)
        answer = {"reply": {"delivery": None}, "outgoing": [{"text": result}]}
    try:
        sys.stdout.write("".join(part["text"] for part in answer["outgoing"]))  # to the model, and into the transcript with the delivery's id
        sys.stdout.flush()
        outcome = "committed"
    except OSError:
        outcome = "rolled_back"
    if delivery := answer["reply"]["delivery"]:
        tidings.call("settle", delivery=delivery, outcome=outcome)


def wait(tidings, descriptor):
    """Sleeps until there is something to do. Returns what to do then. A session may ring before that; its reply says when to look again."""
    again = {}
    while True:
        sessions = [session for session, at in again.items() if at <= time.time()]
        while session := tidings.call("next_session")["session"]:
            sessions.append(session)
        for session in sessions:
            reply = tidings.call("wake", session=session)["reply"]
            if reply["actions"]:
                return session, reply["actions"]
            again.pop(session, None)
            if reply["wake_at"]:
                again[session] = reply["wake_at"] / 1000
        select.select([descriptor], [], [], max(0, min(again.values()) - time.time()) if again else None)


def main(library, plugin, store):
    tidings = Tidings(library, plugin=plugin, store=store, host_name="Example")
    tidings.event("session.opened", "s", cwd=os.getcwd(), host="example")
    tidings.call("push", session="s", kind="tool.failed", level="error", message="The build failed.")
    show_result(tidings, "a.c\n")

    descriptor = tidings.call("wake_descriptor")["descriptor"]  # first the descriptor, then ask which sessions rang, then sleep
    while tidings.call("next_session")["session"]:
        pass
    print("waiting", flush=True)
    session, actions = wait(tidings, descriptor)
    for action in actions:
        print(f"session {session}: {action['type']}: {action['messages'][0]['content']}")
    os.close(descriptor)
    tidings.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
