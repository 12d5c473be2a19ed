#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A host in another language: it uses the shared library through ctypes, with integers and strings only.

Usage: flat_from_python.py LIBRARY PLUGIN OTHER_BUILD PROBE
"""
import ctypes
import json
import os
import select
import sys
import tempfile
import threading

library_path, plugin, other_build, probe = sys.argv[1:]
kit = ctypes.CDLL(library_path)
kit.hostkit_flat_open.restype = ctypes.c_int64
kit.hostkit_flat_open.argtypes = [ctypes.c_char_p]
kit.hostkit_flat_call.restype = ctypes.c_void_p  # freed by the caller, so not c_char_p
kit.hostkit_flat_call.argtypes = [ctypes.c_int64, ctypes.c_char_p]
kit.hostkit_flat_push.restype = ctypes.c_int32
kit.hostkit_flat_push.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p]
kit.hostkit_flat_close.restype = ctypes.c_int32
kit.hostkit_flat_close.argtypes = [ctypes.c_int64]
kit.hostkit_flat_wake_descriptor.restype = ctypes.c_int32
kit.hostkit_flat_wake_descriptor.argtypes = [ctypes.c_int64]
kit.hostkit_flat_next_session.restype = ctypes.c_void_p
kit.hostkit_flat_next_session.argtypes = [ctypes.c_int64]
kit.hostkit_flat_error.restype = ctypes.c_char_p
kit.hostkit_free.argtypes = [ctypes.c_void_p]


def call(handle, **request):
    answer = kit.hostkit_flat_call(handle, json.dumps(request).encode())
    text = ctypes.string_at(answer).decode()
    kit.hostkit_free(answer)
    return json.loads(text)


def next_session(handle):
    pointer = kit.hostkit_flat_next_session(handle)
    text = ctypes.string_at(pointer).decode()
    kit.hostkit_free(pointer)
    return text


def same(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: got {got!r}, expected {expected!r}")


with tempfile.TemporaryDirectory() as root:
    store = os.path.join(root, "störe")
    handle = kit.hostkit_flat_open(json.dumps({"plugin": plugin, "store": store, "probe": probe, "host_name": "JP"}).encode())
    if handle <= 0:
        sys.exit("open: " + kit.hostkit_flat_error().decode())
    same("info", call(handle, op="info")["build_id"], "A")
    same("push", kit.hostkit_flat_push(handle, b"s", b"tool.failed", 2, "fälled".encode()), 0)

    answer = call(handle, op="tool_result", session="full", tool="bash", call_id="c1", content="ök")
    same("content", answer["content"], "first, ök, last")
    same("delivery", answer["reply"]["delivery"], "17")
    same("outgoing", [m["role"] for m in answer["outgoing"]], ["developer", "carrier", "block", "user", "tool"])
    same("settle", call(handle, op="settle", delivery="17", outcome="committed")["reply"]["status"]["state"], "idle")
    rings = kit.hostkit_flat_wake_descriptor(handle)
    waiting = select.poll()
    waiting.register(rings, select.POLLIN)
    same("quiet", waiting.poll(0), [])
    same("swap", call(handle, op="swap", plugin=other_build), {"generation": 2})
    call(handle, op="event", event={"type": "ring"})
    same("rung", waiting.poll(10000), [(rings, select.POLLIN)])
    same("who", [next_session(handle), next_session(handle)], ["rung", ""])
    os.close(rings)

    errors = []

    def push_some():
        for _ in range(50):
            if kit.hostkit_flat_push(handle, b"s", b"k", 0, b"m"):
                errors.append(kit.hostkit_flat_error())

    threads = [threading.Thread(target=push_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    same("swap under load", call(handle, op="swap", plugin=plugin), {"generation": 3})
    for thread in threads:
        thread.join()
    same("errors", errors, [])

    same("bad level", kit.hostkit_flat_push(handle, b"s", b"k", 9, b"m"), -1)
    same("error text", kit.hostkit_flat_error(), b"level is 9, expected 0 (info) to 3 (critical)")
    same("bad op", call(handle, op="dance")["error"]["code"], "TIDINGS_E_SCHEMA")
    same("close", kit.hostkit_flat_close(handle), 0)
    same("closed", call(handle, op="info")["error"]["code"], "TIDINGS_E_NOT_FOUND")
    with open(os.path.join(store, "log"), encoding="utf-8") as log:
        lines = log.read().splitlines()
    same("events", sum(" event " in line for line in lines), 202)
    same("first event", '"message":"fälled"' in lines[0], True)
print("ok")
