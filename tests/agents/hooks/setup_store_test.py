#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings setup --store URL`: hooks and modules name the store, a URL with a password is refused, and --remove takes the store out."""
import json
import os
import subprocess
import sys

from kit import main
from setup_test import FILES, path, programs, read, write

URL = "postgresql://me@/fleet?host=/nowhere&schema=te'am"


def all_lines(place, host):
    return [hook["command"] for groups in json.loads(read(place, FILES[host]))["hooks"].values() for group in groups for hook in group["hooks"]]


def test_store(place):
    """with --store all hooks and modules use that store, and doctor names it; without --store they use the user's own again; --remove takes it out"""
    programs(place)
    modules = {"opencode": ".config/opencode/plugin/tidings.ts", "pi": ".pi/agent/extensions/tidings.ts"}
    place.env["TIDINGS_MODULES"] = path(place, "modules")
    for host in [*FILES, *modules]:
        if host in modules:
            write(place, f"modules/{host}.ts", "export default 1;\n")
        name = modules[host] if host in modules else FILES[host]
        said = place.ok("setup", host, "--store", URL).text
        assert URL in said and "TIDINGS_STORE" in said, said
        if host in modules:
            assert f"process.env.TIDINGS_STORE = {json.dumps(URL)};" in read(place, name)
        else:
            for line in all_lines(place, host):
                words = subprocess.run(["sh", "-c", line.replace("test -x", "printf '%s\\n'", 1).replace("&& exec", "", 1).split("||")[0]],
                                       capture_output=True, text=True, check=True).stdout.splitlines()
                assert words[words.index("--store") + 1] == URL and words[2:4] == ["hook", host], words
        before = read(place, name)
        assert "nothing changed" in place.ok("setup", host, "--store", URL).text and read(place, name) == before
        if host not in ("claude", "opencode"):
            place.ok("setup", host, "--remove")
            continue
        found = [finding["text"] for finding in place.run("doctor", "--json").json if "its store" in finding["text"] or "another store" in finding["text"]]
        assert len(found) == 2 and "cannot be used" in found[0] and "commands that you type use another store" in found[1], (host, found)
        place.ok("setup", host)
        assert "postgresql" not in read(place, name)
        place.ok("setup", host, "--store", URL)
        place.ok("setup", host, "--remove")
        assert not os.path.exists(path(place, name))


def test_store_refused(place):
    """setup refuses a URL with a password, says where the password belongs, and writes it neither into a file nor into a message"""
    programs(place)
    for url in ("postgresql://me:hunter2@db/fleet", "postgres://me@db/fleet?schema=a&password=hunter2", "postgresql://me@db/fleet?%70assword=hunter2",
                "postgresql://me@db/fleet?sslpassword=hunter2", "postgresql://a@b:hunter2@db/fleet"):
        said = place.refused("setup", "claude", "--store", url, code=2, says=["~/.pgpass", "password"])
        assert "hunter2" not in said.said, said
    place.refused("setup", "claude", "--store", "/some/folder", code=2, says="expected the URL of a database")
    place.refused("setup", "claude", "--store", "postgresql://me@db/a b", code=2, says="%20")
    place.refused("setup", "claude", "--store", URL, "--remove", code=2, says="--store and --remove exclude each other")
    assert not os.path.exists(path(place, FILES["claude"]))


if __name__ == "__main__":
    sys.exit(main(globals()))
