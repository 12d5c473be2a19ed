# SPDX-License-Identifier: MIT
"""common.py: what the protocols share.

A protocol is a module with NAME, handles(path), read(path, body) -> {"items", "tools", "stream"}, stream(parts, body), which yields (event,
data) or (HOLD, gate), and whole(parts, body), for requests that do not stream.
An item of a conversation is {"role": system|user|assistant|tool, "text", and of calls and their results "id", of calls "call": the name}.
"""
import itertools
import json

HOLD = object()  # in the place of an event: send nothing more until the gate is opened

_numbers = itertools.count(1)


def item(role, text, **more):
    return {"role": role, "text": text, **{key: value for key, value in more.items() if value is not None}}


def fresh_id(prefix):
    """Hosts take two messages with one id for one message."""
    return f"{prefix}_{next(_numbers)}"


def call_id(part):
    """A call's id: the script's, or a fresh one, the same each time it is asked for."""
    if "id" not in part:
        part["id"] = fresh_id("call")
    return part["id"]


def text_of(content):
    """The text of a message's content: a string, or a list of blocks, of which those that are no text are shown as JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(block) for block in content)
    if isinstance(content.get("text"), str):
        return content["text"]
    return json.dumps(content, ensure_ascii=False)
