#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tidings setup mcp HOST`: the entry, the wrapped servers, and the way back to the byte."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import main  # pylint: disable=wrong-import-position

FILES = {"amp": (".config/amp/settings.json", "amp.mcpServers"), "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
         "cursor": (".cursor/mcp.json", "mcpServers"), "lmstudio": (".lmstudio/mcp.json", "mcpServers"),
         "vscode": (".config/Code/User/mcp.json", "servers"), "zed": (".config/zed/settings.json", "context_servers")}
BEFORE = """// mine
{
  "theme": "dark", // of the editor
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": ["mcp-server-git", "--repository", "/src \\u00e9"],
      "env": {"A": "1"}
    },
    "remote": {"url": "https://example.org/mcp"},
    "bare": {"command": "/opt/bare server"}, // no arguments
  },
}
"""


def place_file(place, host, text=None):
    path = os.path.join(place.dir, FILES[host][0])
    if text is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_entry(place):
    """each host gets its entry in its own file, again changes nothing, and --remove takes all of it back"""
    for host, (_, member) in FILES.items():
        path = place_file(place, host)
        shown = place.ok("setup", "mcp", host, "--dry-run").text
        assert "+" in shown and not os.path.exists(path), shown
        assert "not tested" in place.ok("setup", "mcp", host).text
        entry = json.loads(read(path))[member]["tidings"]
        assert entry["command"].endswith("tidings") and entry["args"] == ["mcp"], entry
        assert place.ok("setup", "mcp", host).text == "Nothing changed.\n"
        place.ok("setup", "mcp", host, "--remove")
        assert not os.path.exists(path), read(path)
        assert place.ok("setup", "mcp", host, "--remove").text == "Nothing changed.\n"


def test_wrap(place):
    """--wrap puts tidings before the commands that are there, and --remove gives the file back to the byte"""
    path = place_file(place, "cursor", BEFORE)
    place.ok("setup", "mcp", "cursor", "--wrap")
    after = read(path)
    for piece in ('"args": ["mcp", "--", "uvx", "mcp-server-git", "--repository", "/src \\u00e9"]', '"args": ["mcp", "--", "/opt/bare server"]', "// of the editor",
                  '"env": {"A": "1"}', '"remote": {"url": "https://example.org/mcp"}'):
        assert piece in after, (piece, after)
    assert place.ok("setup", "mcp", "cursor", "--wrap").text == "Nothing changed.\n"
    place.ok("setup", "mcp", "cursor")
    assert '"tidings": {"command"' in read(path)
    place.ok("setup", "mcp", "cursor", "--remove")
    assert read(path) == BEFORE, read(path)


def test_remove_after_edits(place):
    """what a person has changed since stays when it is taken back"""
    path = place_file(place, "cursor", BEFORE)
    place.ok("setup", "mcp", "cursor", "--wrap")
    place_file(place, "cursor", read(path).replace("dark", "light"))
    place.ok("setup", "mcp", "cursor", "--remove")
    text = read(path)
    assert '"light"' in text and '"command": "uvx"' in text and '"args": ["mcp-server-git", "--repository", "/src \\u00e9"]' in text and "tidings" not in text, text


def test_goose(place):
    """goose keeps YAML: the entry is printed, and nothing is written"""
    shown = place.ok("setup", "mcp", "goose").text
    assert "type: stdio" in shown and 'args: ["mcp"]' in shown and not os.path.exists(os.path.join(place.dir, ".config")), shown
    place.refused("setup", "mcp", "goose", "--wrap", says="is YAML")


def test_refused(place):
    """what cannot be read or is in the way is named, and nothing is changed"""
    for text, says in (('{"mcpServers": ', "not JSON"), ('{"mcpServers": []}', "mcpServers: expected an object"), ("[]", "expected a JSON object"),
                       ("// only words\n", "holds comments only"), ('{"mcpServers": {"tidings": {"command": "other"}}}', "there is a server of that name already")):
        path = place_file(place, "cursor", text)
        place.refused("setup", "mcp", "cursor", says=says)
        assert read(path) == text
    place.refused("setup", "mcp", "emacs", code=2, says="'emacs' is not one of amp")
    place.refused("setup", "mcp", code=2, says="mcp and HOST are")
    place.refused("setup", "mcp", "zed", "--wrap", "--remove", code=2, says="exclude each other")
    place.refused("setup", "mcp", "zed", "--no-wake", code=2, says="not for 'setup mcp'")
    place.refused("setup", "claude", "--wrap", code=2, says="--wrap is for")


if __name__ == "__main__":
    sys.exit(main(globals()))
