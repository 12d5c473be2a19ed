#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that `tidings setup` changes only its own entries among the hooks that Codex trusts, and leaves alone what a person has reviewed or has not."""
import json
import sys

from kit import main
from setup_test import FILES, path, programs, read, write

CONFIG = ".codex/config.toml"


def group(*commands):
    return {"hooks": [{"type": "command", "command": command} for command in commands]}


def put_hooks(place, **events):
    write(place, FILES["codex"], json.dumps({"hooks": events}, indent=2) + "\n")


def key(place, event, number, hook=0):
    return f'[hooks.state."{path(place, FILES["codex"])}:{event}:{number}:{hook}"]'


def test_others_not_trusted(place):
    """a hook of another program whose command looks alike is never trusted by setup, not counted by doctor, and keeps a person's trust at --remove"""
    programs(place)
    names = ("/usr/local/bin/othertool hook codex-evil", "othertool hook codex", "/bin/nottidings hook codex", "tidings hook codexes")
    put_hooks(place, PostToolUse=[group(name) for name in names])
    assert "8 hooks are trusted" in place.ok("setup", "codex").text
    trusted = read(place, CONFIG)
    assert trusted.count("trusted_hash") == 8 and not any(key(place, "PostToolUse", number) in trusted for number in range(4)), trusted
    assert "config.toml trusts the hooks of tidings" in place.ok("doctor").text
    reviewed = f'\n{key(place, "PostToolUse", 1)}\ntrusted_hash = "x"\n'
    write(place, CONFIG, trusted + reviewed)
    assert "8 hooks are no longer trusted" in place.ok("setup", "codex", "--remove").text
    assert read(place, CONFIG).strip() == reviewed.strip(), read(place, CONFIG)


if __name__ == "__main__":
    sys.exit(main(globals()))
