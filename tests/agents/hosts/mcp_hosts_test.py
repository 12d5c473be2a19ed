#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mcp_hosts_test.py HOST: tests an agent from npm without hooks or module of tidings, with `tidings mcp` as one of its MCP servers and as the wrapper of another one, against a scripted model. The model must get the notification that waits for the
folder once, and it must count as delivered. Prints TAP. The server of tidings itself is tested only if TIDINGS_HOSTS_FULL is 1, because an agent takes seconds of CPU time.
"""
import json
import pathlib
import sys

import opencode_test
from hook_hosts import AGENTS
from hook_scenarios import count, requests, rule
from model.server import ModelServer
from node_hosts import FULL, Place, Tap, until

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 4  # the first call begins the session; while the store is busy, a result has no notification


def servers(place):
    """Returns program and arguments of each server by its name."""
    return {"wrapped": [str(place.command), "mcp", "--", sys.executable, str(HERE / "mcp_server.py")], "tidings": [str(place.command), "mcp"]}


def entries(place, **more):
    return {name: {"command": words[0], "args": words[1:], **more} for name, words in servers(place).items()}


def change_json(path, key, value):
    text = path.read_text(encoding="utf-8") if path.exists() else "{}"
    known = json.loads("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//")))
    path.write_text(json.dumps({**known, key: value}), encoding="utf-8")


def connect_codex(agent):
    """Configures Codex, which passes few variables on, so that its servers use the test's store."""
    path = agent.place.home / "codex" / "config.toml"
    text = "".join(f'\n[mcp_servers.{name}]\ncommand = {json.dumps(words[0])}\nargs = {json.dumps(words[1:])}\nenv = {{ XDG_STATE_HOME = {json.dumps(agent.env["XDG_STATE_HOME"])} }}\n'
                   for name, words in servers(agent.place).items())
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


CONNECT = {
    "codex": connect_codex,
    "claude": lambda agent: change_json(agent.place.home / "claude" / ".claude.json", "mcpServers", entries(agent.place)),
    "gemini": lambda agent: change_json(agent.place.home / ".gemini" / "settings.json", "mcpServers", entries(agent.place)),
    "qwen": lambda agent: change_json(agent.place.home / ".qwen" / "settings.json", "mcpServers", entries(agent.place)),
    "copilot": lambda agent: change_json(agent.place.home / ".copilot" / "mcp-config.json", "mcpServers", entries(agent.place, type="local", tools=["*"])),
}
# The name by which a model calls a tool of a server.
NAMES = {"claude": "mcp__{server}__{tool}", "qwen": "mcp__{server}__{tool}", "gemini": "mcp_{server}_{tool}", "copilot": "{server}-{tool}", "opencode": "{server}_{tool}"}


def call(agent, server, tool, **arguments):
    if agent.name == "codex":
        return {"call": tool, "namespace": f"mcp__{server}", "arguments": arguments}
    return {"call": NAMES[agent.name].format(server=server, tool=tool), "arguments": arguments}


class Opencode(opencode_test.Opencode):
    """opencode's server, used like an editor or terminal."""

    name = "opencode"
    complaints = end_all = lambda self: ""

    def connect(self):
        change_json(self.place.home / ".config" / "opencode" / "opencode.json", "mcp",
                    {name: {"type": "local", "command": words} for name, words in servers(self.place).items()})

    def run(self, text):
        if self.server is None:
            self.start()
        self.session = self.ask("POST", "/session", {})["id"]
        self.ask("POST", f"/session/{self.session}/prompt_async", {"parts": [{"type": "text", "text": text}]})
        until(lambda: self.answered(text) and self.session not in self.ask("GET", "/session/status"), "opencode is idle")
        return ""


def bare(host):
    """Returns the agent without the files of `tidings setup`."""
    return type(f"Bare{host.__name__}", (host,), {"connect": lambda self: CONNECT[self.name](self)})


def outcomes(agent):
    sessions = agent.place.ask("sessions")["sessions"]
    return [delivery["outcome"] for one in sessions for delivery in agent.place.ask("history", "-s", one["session"])["deliveries"]]


def told(agent, prompt, text, tool):
    """Pushes the text, lets the model call the tool several times, checks that the model got the text once, in a result, and returns the results."""
    agent.place.tidings("push", "--to", f"folder:{agent.place.project}", "-l", "warning", text)
    agent.model.replace([rule(prompt, *[tool() for _ in range(CALLS)], {"text": "I have read it."})])
    said = agent.run(f"{prompt}: go on.")
    sent = requests(agent, prompt)
    assert len(sent) > CALLS, f"{len(sent)} requests; it said {said[-1500:]}; the tools are {sent[-1]['tools'] if sent else 'unknown'}"
    there = count(sent[CALLS], text)
    results = [item["text"][:400] for item in sent[CALLS]["items"] if item["role"] == "tool"]
    assert there == 1, f"it is there {there} times, in {results}; {outcomes(agent)}"
    assert any(text in result for result in results), results
    until(lambda: "leased" not in outcomes(agent), "no delivery is open")
    return results


def wrapped(agent):
    """a notification is in a result of the wrapped server, beside that server's own words, once, and is committed"""
    results = told(agent, "Heron one", "The heron has landed.", lambda: call(agent, "wrapped", "take", lines=1))
    assert all("line 1 of 1" in result for result in results), results
    assert outcomes(agent).count("committed") == 1, outcomes(agent)


def served(agent):
    """the tool `news` of tidings' own server shows a pending notification, once, and that one is committed"""
    told(agent, "Heron two", "The heron has left.", lambda: call(agent, "tidings", "news"))
    assert outcomes(agent).count("committed") == 2, outcomes(agent)


def main():
    [name] = sys.argv[1:]
    tap = Tap()
    with Place() as place, ModelServer([], place.root / "requests.jsonl") as model:
        agent = (Opencode if name == "opencode" else bare(AGENTS[name]))(place, model)
        try:
            for scenario in (wrapped, served) if FULL else (wrapped,):
                tap.run(scenario, agent)
        finally:
            agent.end_all()
            if name == "opencode" and agent.server:
                agent.kill()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
