#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_packages.py OUT PROGRAM: writes what the agents' own commands install: in OUT/agents a marketplace for Claude Code and an extension for Gemini CLI, in
OUT/npm the packages for opencode and pi.

The script runs PROGRAM to get the hooks that `tidings setup` writes. In the packages, hooks have no full path, but find `tidings` by PATH: an agent's
own packages do not know where npm or apt put it.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from archive import HERE, SOURCE, version
from npm_packages import finish, manifest

ABOUT = "Notifications for the conversation: what happens outside reaches the model with its next tool result or prompt"


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def hooks_of(program, agent, settings):
    """Returns what `tidings setup` writes for an agent, with the program from the path."""
    with tempfile.TemporaryDirectory() as home:
        with open(f"{home}/agent", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 0.0.0\n")
        os.chmod(f"{home}/agent", 0o755)
        env = {"HOME": home, "PATH": "/usr/bin:/bin"}
        subprocess.run([program, "setup", agent, "--program", f"{home}/agent"], env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{home}/{settings}", encoding="utf-8") as file:
            text = file.read()
    path = os.path.realpath(program)
    text = text.replace(f"test -x {path} && exec {path} hook", "command -v tidings >/dev/null && exec tidings hook")
    if path in text:
        raise ValueError(f"a hook of {agent} still names {path}")
    return json.loads(text)["hooks"]


def claude(program, out):
    author = {"name": "tidings authors"}
    write(f"{out}/.claude-plugin/marketplace.json", {"name": "tidings", "owner": author, "description": ABOUT, "plugins": [{"name": "tidings", "source": "./tidings", "description": ABOUT}]})
    write(f"{out}/tidings/.claude-plugin/plugin.json", {"name": "tidings", "version": version(), "description": ABOUT, "author": author, "license": "MIT"})
    write(f"{out}/tidings/hooks/hooks.json", {"hooks": hooks_of(program, "claude", ".claude/settings.json")})
    shutil.copy(f"{SOURCE}/LICENSE", f"{out}/tidings/LICENSE")


def gemini(program, out):
    write(f"{out}/gemini-extension.json", {"name": "tidings", "version": version(), "description": ABOUT})
    write(f"{out}/hooks/hooks.json", {"hooks": hooks_of(program, "gemini", ".gemini/settings.json")})
    shutil.copy(f"{SOURCE}/LICENSE", f"{out}/LICENSE")


def module(agent, name, out, **more):
    """Writes a module that loads the module in the package for this machine, which npm installs with `tidings`."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{HERE}/npm/module.js", encoding="utf-8") as file:
            text = file.read().replace("@AGENT@", agent)
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        shutil.copy(f"{SOURCE}/LICENSE", f"{folder}/LICENSE")
        finish(folder, manifest(f"@tidings/{agent}", type="module", main=name, dependencies={"tidings": version()}, **more), out)


def main(out, program):
    shutil.rmtree(f"{out}/agents", ignore_errors=True)
    claude(program, f"{out}/agents/claude")
    gemini(program, f"{out}/agents/gemini")
    module("opencode", "index.js", f"{out}/npm")
    # pi compiles a TypeScript file and the files that it imports. Node itself takes no TypeScript from node_modules.
    module("pi", "index.ts", f"{out}/npm", keywords=["pi-package"], pi={"extensions": ["./index.ts"]})


if __name__ == "__main__":
    main(*sys.argv[1:])
