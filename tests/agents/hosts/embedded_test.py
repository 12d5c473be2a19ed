#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embedded_test.py [NAME]: tests agents that run inside other programs, with the hooks or the plugin that setup has written: a program of the Claude Agent SDK, and
agents that speak the Agent Client Protocol with acpx: claude-agent-acp, codex-acp and `opencode acp`. Prints TAP."""
import pathlib
import sys

import hook_scenarios
import opencode_test
from hook_hosts import Agent, Claude, Codex
from model.server import ModelServer
from node_hosts import Place, Tap, installed_host

HERE = pathlib.Path(__file__).parent


def folder():
    return installed_host("acp", npm_config_omit="optional") / "node_modules"  # the agents' own programs are other packages


def node():
    return installed_host("pi") / "node_modules" / ".bin" / "node"


class Embedded:
    """Starts the agent inside another program."""

    def acpx(self, prompt, *agent):
        words = " ".join(f"'{word}'" for word in agent)
        return [node(), folder() / ".bin" / "acpx", "--approve-all", "--cwd", self.place.project, "--agent", words, "exec", prompt]


class Program(Embedded, Claude):
    """A program of the Claude Agent SDK."""

    def command(self, prompt, session):
        sdk = folder() / "@anthropic-ai" / "claude-agent-sdk" / "sdk.mjs"
        return [node(), HERE / "program.mjs", sdk, self.program, prompt, *([session] if session else [])]


class ClaudeAcp(Embedded, Claude):
    """Sets a variable with which acpx, like editors, lets claude-agent-acp read the user's settings."""

    def environment(self):
        return super().environment() | {"CLAUDE_CODE_EXECUTABLE": str(installed_host("claude") / "node_modules" / ".bin" / "claude"), "ACPX_CLAUDE_INCLUDE_USER_SETTINGS": "1"}

    def configure(self):
        """Chooses another mode than the default, `auto`, in which a server of Anthropic's judges each command."""
        super().configure()
        (self.place.home / "claude" / "settings.json").write_text('{"permissions": {"defaultMode": "bypassPermissions"}}\n')

    def command(self, prompt, session):
        return self.acpx(prompt, node(), folder() / ".bin" / "claude-agent-acp")


class CodexAcp(Embedded, Codex):
    def environment(self):
        return super().environment() | {"CODEX_PATH": str(installed_host("codex") / "node_modules" / ".bin" / "codex")}

    def configure(self):
        super().configure()
        config = self.place.home / "codex" / "config.toml"
        config.write_text('approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' + config.read_text())

    def command(self, prompt, session):
        return self.acpx(prompt, node(), folder() / ".bin" / "codex-acp")


class OpencodeAcp(Embedded, Agent):
    name, title = "opencode", "opencode"
    shell = opencode_test.Opencode.shell

    def __init__(self, place, model):  # it has a plugin instead of hooks
        self.place, self.model, self.process, self.session = place, model, None, None
        opencode_test.configure(place, model)
        place.tidings("setup", "opencode")
        self.env = place.env

    def command(self, prompt, session):
        return self.acpx(prompt, opencode_test.program(), "acp")


NAMES = {"sdk": Program, "claude-acp": ClaudeAcp, "codex-acp": CodexAcp, "opencode-acp": OpencodeAcp}


def main():
    tap = Tap()
    for name in sys.argv[1:] or NAMES:
        with Place() as place, ModelServer([], place.root / "requests.jsonl") as model:
            agent = NAMES[name](place, model)
            try:
                tap.run(hook_scenarios.news_at_a_tool_result, agent)
            finally:
                agent.end_all()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
