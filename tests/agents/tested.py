# SPDX-License-Identifier: MIT
"""The versions of the agents that the tests run: agents/hosts/versions.txt has them."""
import pathlib
import re

VERSIONS = pathlib.Path(__file__).resolve().parents[2] / "agents" / "hosts" / "versions.txt"


def tested():
    """Returns each agent's version."""
    return dict(re.findall(r"^(\w+) +\S+@([\d.]+) ", VERSIONS.read_text(encoding="utf-8"), re.MULTILINE))


def says(agent):
    """Returns what `AGENT --version` prints with that version."""
    return {"codex": "codex-cli {}", "claude": "{} (Claude Code)", "copilot": "GitHub Copilot CLI {}."}.get(agent, "{}").format(tested()[agent])
