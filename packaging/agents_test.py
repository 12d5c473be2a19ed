#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agents_test.py PACKAGES [AGENT…]: each agent installs tidings with its own command, from the files in PACKAGES or a registry on 127.0.0.1, and its next request has
the report of `tidings run -- false`. No `tidings setup` is run. Prints TAP. Runs in tests/agents/hosts, whose agents it uses.
"""
import json
import os
import pathlib
import subprocess
import sys

import node_hosts
import opencode_test
import pi_test
from hook_hosts import Claude, Gemini
from model.server import ModelServer
from node_hosts import until
from node_scenarios import TITLE
from registry import Registry

PACKAGES = pathlib.Path(sys.argv[1]).resolve()


class Place(node_hosts.Place):
    """With `tidings` from the registry, as npm installs it."""

    def __init__(self, registry):
        super().__init__()
        self.registry = registry
        self.env = {key: value for key, value in self.env.items() if key != "npm_config_offline"}
        self.env |= {"npm_config_registry": registry.url, "npm_config_cache": str(self.root / "npm"), "npm_config_update_notifier": "false"}

    def __enter__(self):
        ran = self.run("npm", "install", "-g", "--no-audit", "--no-fund", "--prefix", self.prefix, "tidings")
        installed = sorted(os.listdir(next(self.prefix.rglob("@tidings"))))
        assert len(installed) == 1, f"npm installed {installed}: {ran}"
        self.env["PATH"] = f"{self.prefix}/bin:{self.env['PATH']}"
        return self

    def run(self, *command):
        ran = subprocess.run([str(word) for word in command], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=600, check=False)
        assert ran.returncode == 0, f"{command}: exit {ran.returncode}: {ran.stdout}"
        return ran.stdout


class ClaudePlugin(Claude):
    """A marketplace in a folder, and its plugin"""

    def connect(self):
        self.place.env = self.env
        self.place.run(self.program, "plugin", "marketplace", "add", PACKAGES / "agents" / "claude")
        return self.place.run(self.program, "plugin", "install", "tidings@tidings")


class GeminiExtension(Gemini):
    """An extension in a folder"""

    def connect(self):
        self.place.env = self.env
        source = PACKAGES / "agents" / "gemini"
        # The agent asks a person whether the folder is trusted, and keeps the answer in this form.
        (self.place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(source): "TRUST_FOLDER", str(self.place.project): "TRUST_FOLDER"}))
        return self.place.run(self.program, "extensions", "install", source, "--consent")


class Prompted:
    """An agent that keeps running and takes prompts."""

    def complete(self, text):
        if not self.session:
            self.begin()
        self.prompt(text)
        self.settled()


class OpencodePlugin(Prompted, opencode_test.Opencode):
    """A package that its configuration names"""

    name = "opencode"

    def connect(self):
        path = self.place.home / ".config" / "opencode" / "opencode.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"plugin": ["@tidings/opencode"]}))

    def end_all(self):
        if self.server:
            self.kill()


class PiPackage(Prompted, pi_test.Pi):
    """A package"""

    name = "pi"

    def connect(self):
        self.place.run(self.bin / "node", self.bin / "pi", "install", "npm:@tidings/pi")

    def end_all(self):
        if self.lines:
            self.kill()


def by_hooks(agent, place, model):
    """The agent has begun a turn and continues with a tool's result. There is a second result in case the machine is so slow that the first hook gave
    up."""
    model.replace([TITLE, {"prompt": "Good day.", "answers": [[{"hold": "gate"}, agent.shell("true")], [agent.shell("true")], [{"text": "The same to you."}]]}])
    agent.start("Good day.")
    agent.attached()
    until(lambda: model.requests, "the first request")
    place.tidings("run", "--", "false", expect=1)
    model.release("gate")
    agent.end()


def by_module(agent, place, model):
    """The agent idles, and gets a second prompt."""
    model.replace([TITLE, {"prompt": "Good day.", "answers": [[{"text": "The same to you."}]]}])
    agent.complete("Good day.")
    place.tidings("run", "--", "false", expect=1)
    agent.complete("What is new?")


def reaches(make):
    def scenario(registry):
        with Place(registry) as place, ModelServer([]) as model:
            agent = make(place, model)
            try:
                (by_module if hasattr(agent, "complete") else by_hooks)(agent, place, model)
                asked = [request for request in model.requests if request["tools"]]
                counts = [request["text"].count("failed with exit code 1 after") for request in asked]
                assert counts[0] == 0 and counts[-1] == 1, counts
            finally:
                agent.end_all()
    scenario.__doc__ = f"{make.name}: {make.__doc__}, and the next request has the notification"
    return scenario


def main():
    tap = node_hosts.Tap()
    wanted = sys.argv[2:]
    with Registry(PACKAGES / "npm") as registry:
        for make in (ClaudePlugin, GeminiExtension, OpencodePlugin, PiPackage):
            if not wanted or make.name in wanted:
                tap.run(reaches(make), registry)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
