#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests how `tidings doctor` learns the agents' versions, whether they trust their hooks, and whether the installation that they name has disappeared."""
import json
import os
import re
import shutil
import subprocess
import sys

from calls import HOSTS
from kit import TIDINGS, main

TITLES = {"claude": "Claude Code", "gemini": "Gemini CLI", "pi": "pi"}


def doctor(place, host):
    """Returns all findings of doctor about an agent."""
    return [finding for finding in place.run("doctor", "--json").json if finding["topic"] == TITLES[host]]


def program(place, name, version, package, below=None):
    """Installs an agent like npm, as a link to a file of a package; the agent writes into its home whenever it runs."""
    folder, bin_folder = os.path.join(place.dir, "lib", below or name, "bundle"), os.path.join(place.dir, "bin")
    for made in (folder, bin_folder):
        os.makedirs(made, exist_ok=True)
    file, link = os.path.join(folder, f"{name}.js"), os.path.join(bin_folder, name)
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"#!/bin/sh\ntouch \"$HOME/{name}-was-here\"\necho {version}\n")
    os.chmod(file, 0o755)
    if package:
        with open(os.path.join(os.path.dirname(folder), "package.json"), "w", encoding="utf-8") as out:
            json.dump(package, out)
    if not os.path.lexists(link):
        os.symlink(file, link)
    place.env["PATH"] = f"{bin_folder}:/usr/bin:/bin"


def test_version(place):
    """the version is read from the files of the package, or from the program's path; the agent is not started"""
    place.env["HOME"] = place.dir
    unknown = "its files do not say its version"
    for name, package, said in (("gemini", {"name": "@google/gemini-cli", "version": "0.1.7", "bin": {"gemini": "bundle/gemini.js"}}, "its version is 0.1.7"),
                                ("gemini", {"name": "gemini-linux-x64", "version": "0.1.8"}, "its version is 0.1.8"), ("gemini", {"name": "gemini-cli", "bin": "bundle/gemini.js", "version": 7}, unknown),
                                ("gemini", {"name": "somebody/else", "version": "3.3.3", "bin": {"other": "x"}}, unknown), ("gemini", None, unknown), ("1.2/gemini/0.3.11", None, "its version is 0.3.11")):
        shutil.rmtree(os.path.join(place.dir, "lib"), ignore_errors=True)
        shutil.rmtree(os.path.join(place.dir, "bin"), ignore_errors=True)
        program(place, "gemini", "0.2.0", package, name)
        found = doctor(place, "gemini")
        assert any(f"{said}; the tested version is" in finding["text"] for finding in found), (package, found)
        assert not os.path.exists(os.path.join(place.dir, "gemini-was-here"))


def test_starts_nothing(place):
    """doctor runs no program of PATH, and says from Codex's files whether it trusts the hooks"""
    place.env |= {"HOME": place.dir, "CODEX_HOME": os.path.join(place.dir, ".codex")}
    hooks, trust, traps, trapped = (os.path.join(place.dir, name) for name in (".codex/hooks.json", ".codex/config.toml", "traps", "trapped"))
    os.mkdir(os.path.dirname(hooks))
    place.ok("setup", "codex", "--program", os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_codex.py"))
    os.mkdir(traps)
    for name in (*(host for host in HOSTS), "opencode", "pi", "env", "sh", "node", "npm", "git"):
        with open(os.path.join(traps, name), "w", encoding="utf-8") as out:
            out.write(f"#!/bin/bash\necho {name} >> '{trapped}'\necho 1.0.0\n")
        os.chmod(os.path.join(traps, name), 0o755)
    place.env["PATH"] = traps
    says = lambda: [finding["text"] for finding in place.run("doctor", "--json").json if finding["topic"] == "Codex CLI" and "trust" in finding["text"]]
    assert says() == ["config.toml trusts the hooks of tidings"], says()
    with open(trust, encoding="utf-8") as file:
        text = file.read()
    for changed, said in ((re.sub(r":PostToolUse:0:0", ":post_tool_use:0:0", text), "config.toml trusts"), (text.replace(":Stop:0:0", ":Stop:1:0"), "it does not trust 1 of the hooks"),
                          (re.sub(r'(?m)^trusted_hash.*', "x = 1", text), "it does not trust 8 of the hooks"), (text.replace("hooks.json:", "other.json:"), "it does not trust 8 of the hooks"),
                          ("a = \n", "config.toml cannot be read"), (None, "it does not trust 8 of the hooks")):
        os.remove(trust)
        if changed is not None:
            with open(trust, "w", encoding="utf-8") as file:
                file.write(changed)
        assert len(says()) == 1 and says()[0].startswith(said), (said, says())
        if "does not" in said:
            assert "-> Run 'tidings setup codex', or review the hooks in it with /hooks." in place.refused("doctor").text
        if changed is None:
            break
    assert not os.path.exists(trapped), open(trapped, encoding="utf-8").read()
    done = subprocess.run(["codex"], env=place.env, capture_output=True, text=True, check=True)
    assert done.stdout == "1.0.0\n" and os.path.exists(trapped), "a trap is no trap"


def test_installation_is_gone(place):
    """hooks and modules of an installation that has disappeared are a problem, which names it; those of another one that exists are a warning"""
    place.env |= {"HOME": place.dir, "TIDINGS_MODULES": os.path.join(place.dir, "o'ther place", "node")}
    other = os.path.join(place.dir, "o'ther place")
    os.makedirs(os.path.join(other, "node"))
    shutil.copy(TIDINGS, other)
    with open(os.path.join(other, "node", "pi.ts"), "w", encoding="utf-8") as out:
        out.write("export default () => {};\n")
    for host in TITLES:
        program(place, host, "1.0.0", None)
        done = subprocess.run([os.path.join(other, "tidings"), "setup", host], env=place.env, cwd=place.work, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done
    del place.env["TIDINGS_MODULES"]
    for host in TITLES:
        assert any(finding["severity"] == "warning" and "another installation" in finding["text"] for finding in doctor(place, host)), doctor(place, host)
    os.rename(other, os.path.join(place.dir, "elsewhere"))
    for host in TITLES:
        found = [finding for finding in doctor(place, host) if finding["severity"] == "problem"]
        assert len(found) == 1 and "has disappeared" in found[0]["text"] and other in found[0]["text"], doctor(place, host)
        assert found[0]["remedy"] == f"Run 'tidings setup {host}'."


# The files that the agents' own commands write, in the tested versions.
PACKAGES = {"claude": ({".claude/settings.json": {"extraKnownMarketplaces": {"tidings": {"source": {"source": "directory", "path": "/src"}}}, "enabledPlugins": {"tidings@tidings": True}}},
                       "claude plugin uninstall tidings@tidings"),
            "gemini": ({".gemini/extensions/tidings/gemini-extension.json": {"name": "tidings", "version": "0.2.0"}, ".gemini/extensions/extension-enablement.json": {"tidings": {"overrides": ["HOME/*"]}}},
                       "gemini extensions uninstall tidings"),
            "opencode": ({".config/opencode/opencode.json": {"plugin": ["other", "@tidings/opencode@0.2.0"]}}, 'from "plugin" in '),
            "pi": ({".pi/agent/settings.json": {"packages": [{"source": "npm:@tidings/pi", "extensions": ["index.ts"]}]}}, "pi remove npm:@tidings/pi")}
# The same files, but disabled.
OTHERS = {"claude": {".claude/settings.json": {"enabledPlugins": {"tidings@tidings": False, "tidingsmore@x": True}}},
          "gemini": {".gemini/extensions/tidings/gemini-extension.json": {"name": "tidings"}, ".gemini/extensions/extension-enablement.json": {"tidings": {"overrides": ["!HOME/*"]}}},
          "opencode": {".config/opencode/opencode.json": {"plugin": ["@tidings/opencode-more", 7]}}, "pi": {".pi/agent/settings.json": {"packages": ["npm:@tidings/pie", {}]}}}


def write_all(place, files):
    for name, value in files.items():
        path = os.path.join(place.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write("// as people have it\n" + json.dumps(value).replace("HOME", place.dir))


def test_own_packages(place):
    """setup refuses if an agent's own command has installed tidings; if both have installed it, doctor says what to remove"""
    modules = os.path.join(place.dir, "node")
    place.env |= {"HOME": place.dir, "TIDINGS_MODULES": modules}
    os.mkdir(modules)
    for name in ("opencode", "pi"):
        with open(os.path.join(modules, f"{name}.ts"), "w", encoding="utf-8") as out:
            out.write("export default () => {};\n")
    titles = {**TITLES, "opencode": "opencode"}
    bins = os.path.join(place.dir, "bin")
    for host, (files, removal) in PACKAGES.items():
        program(place, host, "1.0.0", None)
        says = lambda host=host: [finding for finding in place.run("doctor", "--json").json if finding["topic"] == titles[host]]
        write_all(place, OTHERS[host])
        assert any(finding["text"] == "it is not set up" for finding in says()), says()
        place.ok("setup", host)
        write_all(place, {name: value for name, value in files.items() if ".claude/settings" not in name})
        if host == "claude":  # one file has both settings
            with open(os.path.join(place.dir, ".claude/settings.json"), encoding="utf-8") as file:
                settings = json.loads(file.read().split("\n", 1)[1])
            write_all(place, {".claude/settings.json": settings | files[".claude/settings.json"]})
        twice = [finding for finding in says() if finding["severity"] == "problem"]
        assert len(twice) == 1 and "tidings is in it twice" in twice[0]["text"] and removal in twice[0]["remedy"] and f"setup {host} --remove" in twice[0]["remedy"], says()
        place.refused("setup", host, says=["would run each hook twice", removal])
        place.ok("setup", host, "--remove")
        if host in ("claude", "gemini") and not shutil.which("tidings", path=place.env["PATH"]):
            assert [finding["severity"] for finding in says() if "there is none" in finding["text"]] == ["problem"], says()
            os.symlink(TIDINGS, os.path.join(bins, "tidings"))
        assert any(finding["severity"] == "ok" and "set up by its own command" in finding["text"] for finding in says()), says()
        assert not any(finding["text"] == "it is not set up" or finding["severity"] == "problem" for finding in says()), says()
        place.refused("setup", host, "--dry-run", says="would run each hook twice")
        if os.path.exists(os.path.join(bins, "tidings")):
            os.remove(os.path.join(bins, "tidings"))


if __name__ == "__main__":
    sys.exit(main(globals()))
