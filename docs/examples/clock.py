#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clock.py: an MCP server with one event, for the walk of docs/mcp.md: a tick each time that it is polled."""
import json
import sys

EVENTS = {"events": [{"name": "tick", "delivery": ["poll"]}]}
count = 0
for line in sys.stdin:
    request = json.loads(line)
    method, result = request["method"], {}
    if method == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"extensions": {"io.modelcontextprotocol/events": {}}}}
    if method == "events/list":
        result = EVENTS
    if method == "events/poll":
        old = request["params"]["cursor"]
        count = int(old or 0) + 1
        tick = {"eventId": f"tick-{count}", "name": "tick", "data": {"message": f"tick number {count}"}}
        result = {"events": [tick] if old else [], "cursor": str(count), "nextPollMs": 1000}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {**result, "resultType": "complete"}}), flush=True)
