#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mcp_server.py [NAME]: an MCP server with one tool, `take`, whose result has as many lines as the call asks for. JSON-RPC on stdin and stdout."""
import json
import sys

TOOL = {"name": "take", "description": "Takes notes", "inputSchema": {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": sys.argv[1] if len(sys.argv) > 1 else "notes", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        count = params["arguments"]["lines"]
        return {"content": [{"type": "text", "text": "\n".join(f"line {number} of {count}" for number in range(1, count + 1))}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request.get("params", {}))}), flush=True)
