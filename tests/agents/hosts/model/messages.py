# SPDX-License-Identifier: MIT
"""messages.py: Anthropic's Messages."""
import json

from .common import HOLD, call_id, fresh_id, item, text_of

NAME = "messages"


def handles(path):
    return path.endswith("/messages")


def read(path, body):
    items = [item("system", text_of(body["system"]))] if body.get("system") else []
    for message in body.get("messages", []):
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_result":
                items.append(item("tool", text_of(block.get("content")), id=block["tool_use_id"]))
            elif block["type"] == "tool_use":
                items.append(item("assistant", json.dumps(block["input"]), id=block["id"], call=block["name"]))
            elif block["type"] not in ("thinking", "redacted_thinking"):
                items.append(item(message["role"], text_of(block)))
    return {"items": items, "tools": [tool["name"] for tool in body.get("tools") or []], "stream": bool(body.get("stream"))}


def message(body, content, stop):
    return {"id": fresh_id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "fake-1"), "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 100, "output_tokens": 10}}


def stop_reason(parts):
    return "tool_use" if any("call" in part for part in parts) else "end_turn"


def tool_use(part, arguments):
    return {"type": "tool_use", "id": call_id(part), "name": part["call"], "input": arguments}


def delta(index, kind, **data):
    return "content_block_delta", {"type": "content_block_delta", "index": index, "delta": {"type": kind, **data}}


def start(index, block):
    return "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}


def end(index):
    return "content_block_stop", {"type": "content_block_stop", "index": index}


def stream(parts, body):
    index, writing = 0, False
    yield "message_start", {"type": "message_start", "message": message(body, [], None)}
    for part in parts:
        if "hold" in part:
            yield HOLD, part["hold"]
            continue
        if "text" in part:
            if not writing:
                yield start(index, {"type": "text", "text": ""})
            writing = True
            yield delta(index, "text_delta", text=part["text"])
            continue
        if writing:
            yield end(index)
            index, writing = index + 1, False
        yield start(index, tool_use(part, {}))
        yield delta(index, "input_json_delta", partial_json=json.dumps(part.get("arguments", {})))
        yield end(index)
        index += 1
    if writing:
        yield end(index)
    yield "message_delta", {"type": "message_delta", "delta": {"stop_reason": stop_reason(parts), "stop_sequence": None},
                            "usage": {"output_tokens": 10}}
    yield "message_stop", {"type": "message_stop"}


def whole(parts, body):
    content = [tool_use(part, part.get("arguments", {})) if "call" in part else {"type": "text", "text": part["text"]}
               for part in parts if "hold" not in part]
    return message(body, content, stop_reason(parts))
