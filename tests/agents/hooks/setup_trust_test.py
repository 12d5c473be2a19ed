#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that `tidings setup` changes only its own entries among the hooks that Codex trusts, and leaves alone what a person has reviewed or has not."""
import json
import os
import subprocess
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


def hooks_known(place):
    """Returns the hooks that Codex lists: command, key, hash and trust of each."""
    lines = "".join(json.dumps({"id": 1, "method": method, "params": {}}) + "\n" for method in ("initialize", "hooks/list"))
    done = subprocess.run([os.path.join(place.dir, "bin/codex"), "app-server"], input=lines, env=place.env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["result"]["data"][0]["hooks"]


def trusted(place):
    return {hook["command"]: hook["trustStatus"] for hook in hooks_known(place) if hook["command"].startswith("mine")}


def trust(place, commands):
    """Does what Codex does when a person reviews these hooks."""
    entries = "".join(f'\n[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\nenabled = true\n' for hook in hooks_known(place) if hook["command"] in commands)
    write(place, CONFIG, read(place, CONFIG) + entries)


def put_beside_ours(place):
    """Puts hooks of a person around those of tidings, in their groups and in many groups after them; all but one are trusted."""
    hooks = json.loads(read(place, FILES["codex"]))["hooks"]
    hooks["Stop"] = [*hooks["Stop"], *(group(f"mine {number}", f"mine {number} too") for number in range(12))]
    hooks["PostToolUse"] = [*hooks["PostToolUse"], group("mine last"), group("mine new")]
    hooks["SessionStart"][0]["hooks"].append(group("mine within")["hooks"][0])
    hooks["Other"] = [group("mine elsewhere")]
    put_hooks(place, **hooks)
    commands = [hook["command"] for groups in hooks.values() for one in groups for hook in one["hooks"] if hook["command"].startswith("mine")]
    trust(place, set(commands) - {"mine new"})
    return {command: "untrusted" if command == "mine new" else "trusted" for command in commands}


def test_others_stay_trusted(place):
    """hooks of a person beside those of tidings stay trusted when setup changes its own and when --remove takes them out, and --dry-run shows what moves"""
    programs(place)
    put_hooks(place, Stop=[group("mine first")])
    place.ok("setup", "codex")
    expected = put_beside_ours(place)
    assert trusted(place) == expected, trusted(place)
    for words in (("--no-wake",), (), ("--no-wake", "--no-mcp"), ("--store", "postgresql://me@db/x?schema=y")):
        before = read(place, CONFIG)
        place.ok("setup", "codex", *words)
        assert trusted(place) == expected, (words, before, read(place, CONFIG))
        assert all(hook["trustStatus"] == "trusted" for hook in hooks_known(place) if "tidings" in hook["command"]), words
    shown = place.ok("setup", "codex", "--remove", "--dry-run").text
    assert shown[shown.rindex("--- "):] in place.ok("setup", "codex", "--remove").text and "+[hooks.state." in shown, shown
    assert trusted(place) == expected, read(place, CONFIG)
    assert read(place, CONFIG).count("trusted_hash") == read(place, CONFIG).count("enabled = true") == list(expected.values()).count("trusted"), read(place, CONFIG)
    assert not any("tidings" in hook["command"] for hook in hooks_known(place))


def test_entry_in_the_way(place):
    """an entry of a hook that is gone gives way to one that moves to its place"""
    programs(place)
    place.ok("setup", "codex")
    hooks = json.loads(read(place, FILES["codex"]))["hooks"]
    put_hooks(place, **{**hooks, "Stop": [*hooks["Stop"], group("mine 1", "mine 2")]})
    trust(place, {"mine 1", "mine 2"})
    write(place, CONFIG, read(place, CONFIG) + f'\n{key(place, "Stop", 0, 1)}\ntrusted_hash = "gone"\n')
    place.ok("setup", "codex", "--remove")
    assert trusted(place) == {"mine 1": "trusted", "mine 2": "trusted"} and "gone" not in read(place, CONFIG), read(place, CONFIG)


def test_other_forms(place):
    """entries in a form that setup does not edit: it refuses if one would have to move, and else leaves those of its former hooks, which is harmless"""
    programs(place)
    place.ok("setup", "codex", "--no-mcp")
    ours = json.loads(read(place, FILES["codex"]))["hooks"]
    hash_of = {hook["key"]: hook["currentHash"] for hook in hooks_known(place)}
    text = "[hooks.state]\n" + "".join(f'"{name}" = {{ trusted_hash = "{value}" }}\n' for name, value in hash_of.items())
    write(place, CONFIG, text)
    put_hooks(place, **{**ours, "Stop": [*ours["Stop"], group("mine")]})
    moving = text + f'"{path(place, FILES["codex"])}:Stop:1:0" = {{ trusted_hash = "x" }}\n'
    write(place, CONFIG, moving)
    before = read(place, FILES["codex"])
    for words in (("--remove",), ("--remove", "--dry-run")):
        place.refused("setup", "codex", *words, says=["1 hooks of others would have to move", "nothing was changed"])
        assert read(place, CONFIG) == moving and read(place, FILES["codex"]) == before
    write(place, CONFIG, text)
    said = place.ok("setup", "codex", "--remove")
    assert "still lists hooks of tidings" in said.said and "no longer trusted" not in said.text and read(place, CONFIG) == text, said


if __name__ == "__main__":
    sys.exit(main(globals()))
