# SPDX-License-Identifier: MIT
"""chat.py: OpenAI's chat completions."""
import json
import time

from .common import HOLD, call_id, fresh_id, item, text_of

NAME = "chat"


def handles(path):
    return path.endswith("/chat/completions")


def read(path, body):
    items = []
    for message in body.get("messages", []):
        role = message["role"]
        if role == "tool":
            items.append(item("tool", text_of(message.get("content")), id=message.get("tool_call_id")))
            continue
        text = text_of(message.get("content"))
        calls = message.get("tool_calls") or []
        if text or not calls:
            items.append(item("system" if role == "developer" else role, text))
        for call in calls:
            items.append(item("assistant", call["function"]["arguments"], id=call["id"], call=call["function"]["name"]))
    tools = [tool["function"]["name"] for tool in body.get("tools") or [] if "function" in tool]
    return {"items": items, "tools": tools, "stream": bool(body.get("stream"))}


def chunk(body, delta, finish=None, *, id):
    return {"id": id, "object": "chat.completion.chunk", "created": int(time.time()), "model": body.get("model", "fake-1"),
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def usage(body):
    return {"prompt_tokens": body["prompt_tokens"], "completion_tokens": 10, "total_tokens": body["prompt_tokens"] + 10}


def tool_call(index, part):
    return {"index": index, "id": call_id(part), "type": "function",
            "function": {"name": part["call"], "arguments": json.dumps(part.get("arguments", {}))}}


def stream(parts, body):
    calls, id = 0, fresh_id("chatcmpl")
    yield None, chunk(body, {"role": "assistant", "content": ""}, id=id)
    for part in parts:
        if "hold" in part:
            yield HOLD, part["hold"]
        elif "text" in part:
            yield None, chunk(body, {"content": part["text"]}, id=id)
        else:
            yield None, chunk(body, {"tool_calls": [tool_call(calls, part)]}, id=id)
            calls += 1
    yield None, chunk(body, {}, "tool_calls" if calls else "stop", id=id)
    yield None, {**chunk(body, {}, id=id), "choices": [], "usage": usage(body)}
    yield None, "[DONE]"


def whole(parts, body):
    calls = [part for part in parts if "call" in part]
    message = {"role": "assistant", "content": "".join(part.get("text", "") for part in parts)}
    if calls:
        message["tool_calls"] = [tool_call(index, part) for index, part in enumerate(calls)]
    return {"id": fresh_id("chatcmpl"), "object": "chat.completion", "created": int(time.time()), "model": body.get("model", "fake-1"), "usage": usage(body),
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}
