# SPDX-License-Identifier: MIT
"""mcp_scenario.py: kills an MCP server of an agent that calls hooks. tidings could report this only if the agent's hooks did."""
import contextlib
import json
import os
import pathlib
import signal
import sys

from hook_scenarios import Gate, count, never, request, requests, rule, says
from node_hosts import until

SERVER = pathlib.Path(__file__).resolve().parent / "mcp_server.py"
NAME = "pelican"
COMMAND = {"command": sys.executable, "args": [str(SERVER), NAME]}


@contextlib.contextmanager
def rewritten(path, text):
    before = path.read_text(encoding="utf-8")
    path.write_text(text(before), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def in_settings(folder):
    return lambda agent: rewritten(agent.place.home / folder / "settings.json",
                                   lambda text: json.dumps(json.loads("\n".join(line for line in text.splitlines() if "//" not in line)) | {"mcpServers": {NAME: COMMAND}}))


def in_toml(agent):
    return rewritten(agent.place.home / "codex" / "config.toml",
                     lambda text: f"{text}\n[mcp_servers.{NAME}]\ncommand = {json.dumps(COMMAND['command'])}\nargs = {json.dumps(COMMAND['args'])}\n")


def in_state(agent):
    return rewritten(agent.place.home / "claude" / ".claude.json", lambda text: json.dumps(json.loads(text) | {"mcpServers": {NAME: COMMAND}}))


CONFIGURED = {"codex": in_toml, "claude": in_state, "gemini": in_settings(".gemini"), "qwen": in_settings(".qwen")}


@contextlib.contextmanager
def calls_kept(agent):
    """Records the input of the agent's hooks, in a folder of files."""
    folder, command = agent.place.root / "calls", agent.place.command
    real = command.rename(command.with_name("tidings-real"))
    folder.mkdir()
    command.write_text(f"""#!/bin/sh
[ "$1" = hook ] || exec '{real}' "$@"
file=$(mktemp '{folder}/call-XXXXXX')
cat >"$file"
exec '{real}' "$@" <"$file"
""", encoding="utf-8")
    command.chmod(0o755)
    try:
        yield folder
    finally:
        real.rename(command)


def servers(agent):
    """Finds the processes of this agent, by its home."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if NAME.encode() in (folder / "cmdline").read_bytes().split(b"\0") and f"HOME={agent.place.home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def kill_servers(agent):
    until(lambda: servers(agent), "the server runs")
    for pid in servers(agent):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not servers(agent), "the server is gone")


def mcp_server_is_lost(agent):
    """when an MCP server is killed while a tool runs, neither the hooks' input nor the transcript mentions it, so tidings reports nothing"""
    gate = Gate(agent, "beak")
    agent.model.replace([rule("Beak one", gate.tool, agent.shell("echo more"), {"text": "Well."}, {"text": "Well again."})])
    with CONFIGURED[agent.name](agent), calls_kept(agent) as folder:
        agent.start("Beak one: fish.")
        gate.wait()
        agent.attached()
        before = set(folder.iterdir())
        transcript = next(pathlib.Path(call["transcript_path"]) for path in before if (call := json.loads(path.read_text(encoding="utf-8"))).get("transcript_path"))
        written = transcript.stat().st_size if transcript.exists() else 0
        kill_servers(agent)
        agent.place.tidings("submit", "-s", agent.session, "Queued: fish again.")
        gate.open()
        agent.end()
        calls = [json.loads(path.read_text(encoding="utf-8")) for path in folder.iterdir() if path not in before]
    assert len(calls) >= 3 and not [call for call in calls if NAME in json.dumps(call)], calls
    said = transcript.read_bytes()[written:].decode(errors="replace")
    assert "beak has run" in said and NAME not in said, said
    assert len(requests(agent, "Beak one")) == 4
    for sent in requests(agent, "Beak one"):
        never(sent, "MCP server `")


def mcp_server_is_lost_while_idle(agent):
    """when an MCP server is killed while Claude Code idles, Claude Code itself tells its model at the next prompt; tidings does not"""
    agent.model.replace([rule("Beak two", {"text": "Hello."}), rule("Beak three", {"text": "I see."})])
    with CONFIGURED[agent.name](agent), agent.terminal("Beak two: hello.") as terminal:
        before = request(agent, "Beak two", 1)
        agent.attached()
        terminal.shows("Hello.")
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the agent is idle")
        kill_servers(agent)
        says(agent, terminal, "Beak three: and now?")
        after = request(agent, "Beak three", 1)
    assert count(after, NAME) > count(before, NAME), after["items"]
    never(after, "MCP server `")


BY_AGENT = {"codex": (mcp_server_is_lost,), "claude": (mcp_server_is_lost, mcp_server_is_lost_while_idle), "gemini": (mcp_server_is_lost,), "qwen": (mcp_server_is_lost,)}
