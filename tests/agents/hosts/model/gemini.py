# SPDX-License-Identifier: MIT
"""gemini.py: Google's generateContent."""
import json

from .common import HOLD, item, text_of

NAME = "gemini"


def handles(path):
    return path.endswith((":generateContent", ":streamGenerateContent"))


def read(path, body):
    system = body.get("systemInstruction")
    items = [item("system", text_of(system.get("parts") if isinstance(system, dict) else system))] if system else []
    for content in body.get("contents", []):
        role = "assistant" if content.get("role") == "model" else "user"
        for part in content.get("parts", []):
            if "functionCall" in part:
                call = part["functionCall"]
                items.append(item("assistant", json.dumps(call.get("args", {})), id=call.get("id"), call=call["name"]))
            elif "functionResponse" in part:
                result = part["functionResponse"]
                text = "\n".join(text_of(value) for value in result.get("response", {}).values())
                items.append(item("tool", text, id=result.get("id")))
            elif not part.get("thought"):
                items.append(item(role, text_of(part)))
    tools = [tool["name"] for group in body.get("tools") or [] for tool in group.get("functionDeclarations", [])]
    return {"items": items, "tools": tools, "stream": path.endswith(":streamGenerateContent")}


def answer(parts, body, finish=None):
    content = [{"functionCall": {"name": part["call"], "args": part.get("arguments", {}), **({"id": part["id"]} if "id" in part else {})}}
               if "call" in part else {"text": part["text"]} for part in parts if "hold" not in part]
    candidate = {"content": {"role": "model", "parts": content}, "index": 0, **({"finishReason": finish} if finish else {})}
    return {"candidates": [candidate], "modelVersion": "fake-1", "responseId": "r1",
            "usageMetadata": {"promptTokenCount": body["prompt_tokens"], "candidatesTokenCount": 10, "totalTokenCount": body["prompt_tokens"] + 10}}


def stream(parts, body):
    for part in parts:
        yield (HOLD, part["hold"]) if "hold" in part else (None, answer([part], body))
    yield None, answer([{"text": ""}], body, "STOP")


def whole(parts, body):
    return answer(parts, body, "STOP")
