#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the MCP server that `tidings setup` lists for Codex, which starts its MCP servers when a person resumes a session."""
import os
import sys
import tomllib

from kit import TIDINGS, main
from setup_test import FILES, lines_end_alike, path, programs, read, write

CONFIG = ".codex/config.toml"
ENTRY = f'[mcp_servers.tidings]\ncommand = "{TIDINGS}"\nargs = ["mcp", "--no-tools"]\n'
PLAIN = f'[mcp_servers.mine]\ncommand = "{TIDINGS}"\nargs = ["mcp"]\n'


def servers(place):
    return tomllib.loads(read(place, CONFIG)).get("mcp_servers", {})


def test_listed(place):
    """setup lists the server once, and --remove takes it out; text that a person has written stays to the byte"""
    programs(place)
    for text in (None, "", "a = 1", "# [mcp_servers.tidings]\n", "[mcp_servers]\n", 'model = "x"\r\n\r\n[analytics]\r\nenabled = false\r\n', '[mcp_servers.other]\ncommand = "x"\n\n# end\n', "day = 2026-01-01\n",
                 "[mcp_servers.wrapped]\ncommand = \"/opt/tidings\"\nargs = [\"mcp\", \"--\", \"x\"]\n", PLAIN + "enabled = false\n"):
        if text is not None:
            write(place, CONFIG, text, 0o600)
        said = place.ok("setup", "codex").text
        assert f"+++ {path(place, CONFIG)}" in said and "--no-mcp' leaves that out" in said, said
        there = read(place, CONFIG)
        assert there.startswith(text or "") and ENTRY in there.replace("\r\n", "\n") and lines_end_alike(there) == ("\r\n" in there), there
        assert servers(place)["tidings"] == {"command": TIDINGS, "args": ["mcp", "--no-tools"]}
        assert place.ok("setup", "codex").text.endswith("was set up already; nothing changed.\n") and read(place, CONFIG) == there
        assert "no longer receives" in place.ok("setup", "codex", "--remove").text
        assert (read(place, CONFIG) if text is not None else not os.path.exists(path(place, CONFIG))) in (text, True)
        assert not os.path.exists(path(place, CONFIG) + ".before-tidings")
        if text is not None:
            os.remove(path(place, CONFIG))


def test_left_out(place):
    """--no-mcp and --no-wake leave the server out, and remove one that is there; a server of tidings that has tools replaces it"""
    programs(place)
    for option in ("--no-mcp", "--no-wake"):
        place.ok("setup", "codex")
        assert "is set up" in place.ok("setup", "codex", option).text and not servers(place), read(place, CONFIG)
        assert "--no-mcp' leaves that out" not in place.ok("setup", "codex", option).text
    place.ok("setup", "codex")
    trusted = read(place, CONFIG)
    write(place, CONFIG, trusted + "\n" + PLAIN)
    place.ok("setup", "codex")
    assert set(servers(place)) == {"mine"}
    assert "nothing changed" in place.ok("setup", "codex").text and "lists no MCP server" not in place.run("doctor").text
    place.ok("setup", "codex", "--remove")
    assert read(place, CONFIG).strip() == PLAIN.strip()
    for words, says in ((("codex", "--no-mcp", "--remove"), "--no-mcp and --remove exclude each other"), (("claude", "--no-mcp"), "--no-mcp: Claude Code is set up without an MCP server"),
                        (("mcp", "zed", "--no-mcp"), "are not for 'setup mcp'")):
        place.refused("setup", *words, code=2, says=says)


def test_moved(place):
    """an entry of another installation gets this program, and keeps what a person has added; removing it needs no agent"""
    programs(place)
    write(place, CONFIG, '[mcp_servers.tidings]\ncommand = "/old/tidings" # old\nargs = ["mcp", "--no-tools"]\nstartup_timeout_sec = 3\n\n[b]\n')
    place.ok("setup", "codex")
    assert servers(place)["tidings"] == {"command": TIDINGS, "args": ["mcp", "--no-tools"], "startup_timeout_sec": 3}
    write(place, ".codex/broken", "")
    assert "8 hooks are no longer trusted" in place.ok("setup", "codex", "--remove").text
    assert not servers(place) and read(place, CONFIG).strip() == "[b]", read(place, CONFIG)


def test_refused(place):
    """setup refuses another server of that name, and a table in another form, leaves both alone, and names --no-mcp"""
    programs(place)
    for text, says in (('[mcp_servers.tidings]\ncommand = "x"\n', "mcp_servers.tidings: there is a server of that name already"), ("mcp_servers = {}\n", "has the table mcp_servers in a form"),
                       ('since = 2026-01-01\nmcp_servers = { docs = { command = "x" } }\n', "has the table mcp_servers in a form")):
        write(place, CONFIG, text)
        place.refused("setup", "codex", says=[path(place, CONFIG), says, "nothing was changed", "'tidings setup codex --no-mcp'"])
        place.refused("setup", "codex", "--dry-run", says=says)
        assert read(place, CONFIG) == text and not os.path.exists(path(place, FILES["codex"]))
        place.ok("setup", "codex", "--no-mcp")
        place.ok("setup", "codex", "--remove")
        assert read(place, CONFIG) == text


def test_no_toml(place):
    """setup refuses a config.toml that is not TOML, with the line, before it writes anything"""
    programs(place)
    for text, says in (('model = "m', "not TOML: line 1"), ("a = 1\na = 2\n", "not TOML: line 2")):
        write(place, CONFIG, text)
        for words in ((), ("--no-mcp",), ("--dry-run",), ("--remove",)):
            place.refused("setup", "codex", *words, says=[path(place, CONFIG), says, "it was not changed"])
            assert read(place, CONFIG) == text and os.listdir(path(place, ".codex")) == ["config.toml"], words


def test_dry_run(place):
    """--dry-run shows the change of the server, and writes nothing"""
    programs(place)
    said = place.ok("setup", "codex", "--dry-run").text
    assert "+[mcp_servers.tidings]" in said and not os.path.exists(path(place, CONFIG)), said
    place.ok("setup", "codex")
    assert "Nothing would change." in place.ok("setup", "codex", "--dry-run").text
    before = read(place, CONFIG)
    said = place.ok("setup", "codex", "--no-mcp", "--dry-run").text
    assert "-[mcp_servers.tidings]" in said and "Nothing would change." not in said and read(place, CONFIG) == before, said


def test_doctor(place):
    """doctor names a missing server, unless --no-wake was chosen, and a server whose program has disappeared"""
    programs(place)
    missing = "config.toml lists no MCP server of tidings"
    for words, there in (((), False), (("--no-mcp",), True), (("--no-wake",), False)):
        place.ok("setup", "codex", *words)
        assert (missing in place.run("doctor").text) == there, words
    place.ok("setup", "codex")
    write(place, CONFIG, read(place, CONFIG).replace(f'command = "{TIDINGS}"', 'command = "/gone/tidings"'))
    assert "the MCP server of tidings that config.toml lists has disappeared: /gone/tidings" in place.run("doctor").text


if __name__ == "__main__":
    sys.exit(main(globals()))
