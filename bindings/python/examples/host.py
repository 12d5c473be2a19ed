#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A whole host in Python: a notification is pushed, delivered with a tool's result, and settled; then the host sleeps until another process wakes it
with a notification. python3 host.py [TIDINGS.SO STORE]"""
from __future__ import annotations

import asyncio
import os
import sys

from tidings import Delivery, Outgoing, Tidings, TidingsError


def carry(kit: Tidings, content: str) -> Delivery:
    """On an error a host sends the result unchanged."""
    try:
        return kit.tool_result("s", content, call_id="c1", tool="ls")
    except TidingsError as error:
        print(error, file=sys.stderr)
        return Delivery(content, (Outgoing("carrier", True, content),))


def show_result(kit: Tidings, content: str) -> None:
    """An agent sends each part as the message or block of its voice; here all go to standard output."""
    delivery = carry(kit, content)
    written = False
    try:
        sys.stdout.write("".join(part.text for part in delivery.outgoing))  # to the model, and into the transcript with the delivery's id
        sys.stdout.flush()
        written = True
    finally:
        kit.settle(delivery.id, committed=written)


async def act_once(kit: Tidings) -> None:
    """Sleeps until something urgent is pushed, and says what to do then."""
    print("waiting", flush=True)
    async for woken in kit.wakes():
        for action in woken.reply.actions:
            print(f"session {woken.session}: {action.type}: {action.messages[0].content}")
        if woken.reply.actions:
            return


def main(plugin: str | None = None, store: str | None = None) -> None:
    with Tidings.open(plugin=plugin, store=store, host_name="Example") as kit:
        kit.event("session.opened", "s", {"cwd": os.getcwd(), "host": "example"})
        kit.push("s", "tool.failed", "The build failed.", level="error")
        show_result(kit, "a.c\n")
        asyncio.run(act_once(kit))


if __name__ == "__main__":
    main(*sys.argv[1:])
