# SPDX-License-Identifier: MIT
"""common.py: the shared part of the protocols.

A protocol is a module with NAME, handles(path), read(path, body) -> {"items", "tools", "stream"}, stream(parts, body), which yields (event,
data) or (HOLD, gate), and whole(parts, body), for requests that do not stream.
An item of a conversation is {"role": system|user|assistant|tool, "text"}; calls and their results also have "id", and calls have "call", the name.
"""
import itertools
import json

HOLD = object()  # instead of an event: send nothing more until the gate is open

_numbers = itertools.count(1)


def item(role, text, **more):
    return {"role": role, "text": text, **{key: value for key, value in more.items() if value is not None}}


def fresh_id(prefix):
    """Returns a new id, because agents take two messages with one id for one message."""
    return f"{prefix}_{next(_numbers)}"


def call_id(part):
    """Returns a call's id: the script's, or a new one, which the call keeps."""
    if "id" not in part:
        part["id"] = fresh_id("call")
    return part["id"]


def text_of(content):
    """Returns the text of a message's content, which is a string or a list of blocks; blocks that are no text become JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(block) for block in content)
    if isinstance(content.get("text"), str):
        return content["text"]
    return json.dumps(content, ensure_ascii=False)
