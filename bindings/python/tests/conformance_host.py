#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host through which hostsim plays its scenarios (docs/scenarios.md): each request of hostsim becomes a call of the package, and the typed reply
goes back as JSON. Exits when hostsim closes descriptor 3."""
import json
import socket
import struct
import sys

from tidings import Tidings, TidingsError


def receive(channel, count):
    data = bytearray()
    while len(data) < count and (more := channel.recv(count - len(data))):
        data += more
    return bytes(data) if len(data) == count else None


def without_none(**members):
    return {name: value for name, value in members.items() if value is not None}


def notification(one):
    shown = {"kind": {"source": one.source, "name": one.name}, "level": one.level, "message": one.text}
    return {**shown, **without_none(data=one.data, count=one.count if one.count > 1 else None)}


def action(one):
    shown = without_none(type=one.type, cause=one.cause, source=one.origin)
    if one.type == "start_turn":
        shown["messages"] = [{"id": m.id, "content": m.content, "queued_at": m.queued_at_ms, "trigger": m.trigger} for m in one.messages]
    return shown


def status(one):
    if one is None:
        return None
    return {"state": one.state, **without_none(phase=one.phase), "messages": list(one.messages), "started_at": one.started_at_ms, "attempt": one.attempt,
            "message": one.detail, "orphaned": list(one.orphaned)}


def shown(reply):
    """Converts a typed reply to JSON as in schema/reply.schema.json."""
    parts = [{"role": p.voice, "place": p.place, "text": p.text, **without_none(call_id=p.call_id, tool=p.tool)} for p in reply.parts]
    return {"delivery": reply.delivery_id, "notifications": [notification(one) for one in reply.notifications], "messages": parts,
            "actions": [action(one) for one in reply.actions], "steered": list(reply.steered), "status": status(reply.status), "duplicate": reply.duplicate,
            "wake_at": reply.wake_at_ms, **without_none(ledger=reply.ledger)}


class Host:
    def __init__(self):
        self.kit = None

    def open(self, request):
        config = request.get("config")
        self.kit = Tidings.open(plugin=request["plugin"], store=request["store"], host_name=request.get("host_name"), role=request.get("role", "host"),
                                configuration=None if config is None else json.loads(config), probe=False)
        return {}

    def event(self, request):
        return {"reply": shown(self.kit.event_json(request["event"]))}

    def tool_result(self, request):
        delivery = self.kit.tool_result(request["session"], request.get("content", ""), call_id=request.get("call_id", ""), tool=request.get("tool", ""),
                                        room=request.get("room", 0))
        return {"reply": shown(delivery.reply), "content": delivery.content}

    def chat_request(self, request):
        delivery = self.kit.chat_request(request["session"], request.get("content", ""), origin=request.get("source", "user"), messages=request.get("messages"),
                                         room=request.get("room", 0))
        return {"reply": shown(delivery.reply), "content": delivery.content}

    def settle(self, request):
        return {"reply": shown(self.kit.settle(request["delivery"], committed=request["outcome"] == "committed"))}

    def query(self, request):
        return {"answer": self.kit.query(**json.loads(request["query"]))}

    def swap(self, _):
        self.kit.swap()
        return {}

    def close(self, _):
        if self.kit:
            self.kit.close()
        return {}

    def answer(self, request):
        try:
            return getattr(self, request["op"])(request)
        except TidingsError as error:
            return {"error": {"code": error.code or "TIDINGS_E_OPEN", "text": error.text}, "content": request.get("content", "")}


def main():
    channel = socket.socket(fileno=3)
    host = Host()
    while header := receive(channel, 4):
        request = json.loads(receive(channel, struct.unpack(">I", header)[0]))
        answer = json.dumps(host.answer(request)).encode()
        channel.sendall(struct.pack(">I", len(answer)) + answer)
        if request["op"] == "close":
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
