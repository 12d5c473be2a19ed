#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tidings doctor` says of agents: how it learns their versions, and that the installation which they name has disappeared."""
import json
import os
import shutil
import subprocess
import sys

from kit import TIDINGS, main

TITLES = {"claude": "Claude Code", "gemini": "Gemini CLI", "pi": "pi"}


def doctor(place, host):
    """All that it says of an agent."""
    return [finding for finding in place.run("doctor", "--json").json if finding["topic"] == TITLES[host]]


def program(place, name, version, package):
    """An agent that writes into its home whenever it runs, as npm installs it: a link to a file of a package."""
    folder, bin_folder = os.path.join(place.dir, "lib", name, "bundle"), os.path.join(place.dir, "bin")
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
    """the version is read from the files of the package, else asked for in an empty home: nothing is written into the agent's own"""
    place.env["HOME"] = place.dir
    for package, said in (({"name": "@google/gemini-cli", "version": "0.1.7", "bin": {"gemini": "bundle/gemini.js"}}, "0.1.7"),
                          ({"name": "gemini-linux-x64", "version": "0.1.8"}, "0.1.8"), ({"name": "gemini-cli", "bin": "bundle/gemini.js", "version": 7}, "0.2.0"),
                          ({"name": "somebody/else", "version": "3.3.3", "bin": {"other": "x"}}, "0.2.0"), (None, "0.2.0")):
        shutil.rmtree(os.path.join(place.dir, "lib"), ignore_errors=True)
        program(place, "gemini", "0.2.0", package)
        found = doctor(place, "gemini")
        assert any(f"its version is {said}; the tested version is" in finding["text"] for finding in found), (package, found)
        assert not os.path.exists(os.path.join(place.dir, "gemini-was-here"))


def test_installation_is_gone(place):
    """hooks and modules of an installation that has disappeared: a problem that names it; of one that is there, a warning"""
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


if __name__ == "__main__":
    sys.exit(main(globals()))
