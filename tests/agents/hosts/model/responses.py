# SPDX-License-Identifier: MIT
"""responses.py: OpenAI's Responses."""
import json
import time

from .common import HOLD, call_id, fresh_id, item, text_of

NAME = "responses"


def handles(path):
    return path.endswith("/responses")


def read(path, body):
    entries = body.get("input", [])
    if isinstance(entries, str):
        entries = [{"role": "user", "content": entries}]
    items = [item("system", body["instructions"])] if body.get("instructions") else []
    for entry in entries:
        kind = entry.get("type", "message")
        if kind == "message":
            role = entry["role"]
            items.append(item("system" if role == "developer" else role, text_of(entry.get("content"))))
        elif kind in ("function_call", "custom_tool_call"):
            items.append(item("assistant", entry.get("arguments") or entry.get("input") or "", id=entry["call_id"], call=entry["name"]))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            items.append(item("tool", text_of(entry.get("output")), id=entry["call_id"]))
        elif kind != "reasoning":
            items.append(item("other", json.dumps(entry)))
    tools = [tool.get("name", tool.get("type", "")) for tool in body.get("tools") or []]
    return {"items": items, "tools": tools, "stream": bool(body.get("stream"))}


def response(id, body, status, output):
    usage = {"input_tokens": body["prompt_tokens"], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": body["prompt_tokens"] + 10}
    return {"id": id, "object": "response", "created_at": int(time.time()), "status": status, "model": body.get("model", "fake-1"),
            "output": output, "parallel_tool_calls": True, "error": None, "incomplete_details": None,
            "usage": usage if status == "completed" else None}


def message_of(id, text, status):
    content = [{"type": "output_text", "text": text, "annotations": []}] if status == "completed" else []
    return {"type": "message", "id": id, "role": "assistant", "status": status, "content": content}


def call_of(part):
    base = {"id": f"item_{call_id(part)}", "call_id": call_id(part), "name": part["call"], "status": "completed"}
    if "input" in part:
        return {**base, "type": "custom_tool_call", "input": part["input"]}
    if "namespace" in part:
        base["namespace"] = part["namespace"]
    return {**base, "type": "function_call", "arguments": json.dumps(part.get("arguments", {}))}


class Events:
    """Numbers the events, and keeps the finished output items."""

    def __init__(self):
        self.sequence = 0
        self.output = []
        self.text = None
        self.message = ""
        self.id = fresh_id("resp")

    def event(self, kind, **data):
        self.sequence += 1
        return kind, {"type": kind, "sequence_number": self.sequence, **data}

    def text_delta(self, text):
        index = len(self.output)
        if self.text is None:
            self.text, self.message = "", fresh_id("msg")
            yield self.event("response.output_item.added", output_index=index, item=message_of(self.message, "", "in_progress"))
            yield self.event("response.content_part.added", item_id=self.message, output_index=index, content_index=0,
                             part={"type": "output_text", "text": "", "annotations": []})
        self.text += text
        yield self.event("response.output_text.delta", item_id=self.message, output_index=index, content_index=0, delta=text)

    def end_text(self):
        if self.text is None:
            return
        index, done = len(self.output), message_of(self.message, self.text, "completed")
        yield self.event("response.output_text.done", item_id=self.message, output_index=index, content_index=0, text=self.text)
        yield self.event("response.content_part.done", item_id=self.message, output_index=index, content_index=0, part=done["content"][0])
        yield self.event("response.output_item.done", output_index=index, item=done)
        self.output.append(done)
        self.text = None

    def call(self, part):
        index, done = len(self.output), call_of(part)
        started = {**done, "status": "in_progress", "input" if "input" in part else "arguments": ""}
        yield self.event("response.output_item.added", output_index=index, item=started)
        yield self.event("response.output_item.done", output_index=index, item=done)
        self.output.append(done)


def stream(parts, body):
    events = Events()
    yield events.event("response.created", response=response(events.id, body, "in_progress", []))
    for part in parts:
        if "hold" in part:
            yield HOLD, part["hold"]
        elif "text" in part:
            yield from events.text_delta(part["text"])
        else:
            yield from events.end_text()
            yield from events.call(part)
    yield from events.end_text()
    yield events.event("response.completed", response=response(events.id, body, "completed", events.output))


def whole(parts, body):
    output = [call_of(part) if "call" in part else message_of(fresh_id("msg"), part["text"], "completed") for part in parts if "hold" not in part]
    return response(fresh_id("resp"), body, "completed", output)
