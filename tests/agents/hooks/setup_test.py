#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings setup` on realistic configurations: existing content stays, a second run changes nothing, --remove restores the file, and an unreadable
file is refused."""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

from kit import TIDINGS, main
from loose_json import strict

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tested import says, tested  # pylint: disable=wrong-import-position
FILES = {"claude": ".claude/settings.json", "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json", "codex": ".codex/hooks.json",
         "copilot": ".copilot/hooks/tidings.json"}
VERSIONS = {name: says(name) for name in ("claude", "gemini", "qwen", "pi", "opencode", "copilot", "kilo")}
EVENTS = {"claude": {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Notification", "SubagentStop", "Stop", "StopFailure",
                     "ConfigChange", "SessionEnd"},
          "gemini": {"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent", "SessionEnd"},
          "qwen": {"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Notification", "SubagentStop", "Stop", "StopFailure", "SessionEnd"},
          "copilot": {"SessionStart", "UserPromptSubmit", "PostToolUse", "Notification", "SubagentStop", "Stop", "SessionEnd"},
          "codex": {"SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "SubagentStop", "Stop", "Interrupt", "SessionEnd"}}


def programs(place, **versions):
    """Makes stand-ins for the agents, with the parts that setup runs."""
    folder = os.path.join(place.dir, "bin")
    os.makedirs(folder, exist_ok=True)
    for name, version in {**VERSIONS, **versions}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{version}'\n")
        os.chmod(os.path.join(folder, name), 0o755)
    with open(os.path.join(folder, "codex"), "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncase $1 in --version) echo '{says('codex')}' ;; *) exec '{sys.executable}' -S -E '{HERE}/fake_codex.py' \"$@\" ;; esac\n")
    os.chmod(os.path.join(folder, "codex"), 0o755)
    place.env["PATH"] = f"{folder}:{os.environ['PATH']}"
    os.makedirs(os.path.join(place.dir, ".codex"), exist_ok=True)
    place.env["CODEX_HOME"] = os.path.join(place.dir, ".codex")


def path(place, name):
    return os.path.join(place.dir, name)


def write(place, name, text, mode=0o644):
    os.makedirs(os.path.dirname(path(place, name)), exist_ok=True)
    with open(path(place, name), "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.chmod(path(place, name), mode)


def read(place, name):
    with open(path(place, name), encoding="utf-8", newline="") as file:
        return file.read()


def commands(value, event):
    """Returns the commands without their guard, which lets the agent continue if the program is gone."""
    lines = [hook["command"] for group in value["hooks"][event] for hook in group["hooks"]]
    guarded = [re.fullmatch(r"test -x (.+) && exec (\1 hook \w+(?: --wake)?)(?: --room \d+)? \|\| echo {}|test -x (.+) && exec (\3 hook \w+ --wait) \|\| :", line) for line in lines]
    return [found[2] or found[4] if found else line for found, line in zip(guarded, lines)]


def test_raised_limit(place):
    """Codex shows 7,500 tokens of an answer if its hook asks for it, and warns if a hook asks whose context it does not show: only the hooks whose context it shows ask, and tell tidings the room"""
    programs(place)
    place.ok("setup", "codex")
    for event, groups in json.loads(read(place, FILES["codex"]))["hooks"].items():
        [hook] = groups[0]["hooks"]
        raised = event in ("SessionStart", "UserPromptSubmit", "PostToolUse")
        assert hook.get("additionalContextLimit") == (7500 if raised else None) and (" --room 27000 " in hook["command"]) == raised, (event, hook)
    said = place.run("doctor", "--json").json
    assert any("one answer has at most 27000 bytes" in finding["text"] and "9000" in finding["text"] for finding in said if finding["topic"] == "Codex CLI"), said
    place.ok("setup", "codex", "--remove")


def test_program_is_gone(place):
    """a hook whose program has disappeared answers with an empty object, a waiter prints nothing, and neither fails"""
    programs(place)
    gone = os.path.join(place.dir, "a place", "tidings")
    os.makedirs(os.path.dirname(gone))
    shutil.copy(TIDINGS, gone)
    done = subprocess.run([gone, "setup", "claude"], env=place.env, cwd=place.work, capture_output=True, check=False)
    assert done.returncode == 0, done
    hooks = [hook["command"] for group in json.loads(read(place, FILES["claude"]))["hooks"]["Stop"] for hook in group["hooks"]]
    for exists in (True, False):
        if not exists:
            os.remove(gone)
        for line, says in zip(hooks, (b"{}", b"")):
            ran = subprocess.run(["sh", "-c", line], input=b"{}", env=place.env, cwd=place.work, capture_output=True, check=False)
            assert ran.returncode == 0 and ran.stdout.strip() == says, (line, ran)


def test_bare(place):
    """without a configuration setup writes the hooks of the host's events; a second run changes nothing, and --remove leaves nothing"""
    programs(place)
    for host, name in FILES.items():
        said = place.ok("setup", host)
        assert b"not the tested version" not in said.err and f"+++ {path(place, name)}" in said.text and "is set up" in said.text, said
        for other in ("VS Code", "Cursor"):
            assert (f"The hooks also run in {other}, if it is there" in said.text) == (host == "claude" or (host, other) == ("copilot", "VS Code")), said
        value = json.loads(read(place, name))
        assert set(value["hooks"]) == EVENTS[host], value
        for event in EVENTS[host]:
            assert f"{TIDINGS} hook {host}" in [command.removesuffix(" --wake") for command in commands(value, event)], value
            for hook in (hook for group in value["hooks"][event] for hook in group["hooks"]):
                seconds = 604800 if "--wait" in hook["command"] else 3 if event in ("SessionEnd", "Interrupt") else 10
                assert hook["timeout"] == seconds * (1000 if host == "gemini" else 1), (event, hook)
        before = read(place, name)
        assert place.ok("setup", host).text.endswith("was set up already; nothing changed.\n")
        assert read(place, name) == before
        place.ok("setup", host, "--remove")
        assert not any(os.path.exists(path(place, name + end)) for end in ("", ".before-tidings"))
        assert "was not set up; nothing changed" in place.ok("setup", host, "--remove").text


OTHERS = [
    '{"theme":"dark"}',
    '{"hooks": {}}',
    '{}\n',
    '',
    '{ }\r\n',
    '{"hooks": {}, "n": [12345678901234567890, -0.5e-3], "hooks": {"Other": []}}',
    '{\n\t"theme": "dark",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "echo tidings hook"}]}\n\t\t]\n\t},\n\t"z": [1, 2]\n}\n',
    '// mine\n{\n    "a": 1, // one\n    /* two */ "b": {"c": [ ]}, // three\n}\n',
    '{\r\n  "a": "}]\\"//",\r\n  "hooks": {"Other": [{"matcher": "x", "hooks": []}]}\r\n}\r\n',
    '{\n  "a": 1 // no comma\n}',
    '{"hooks": {"AfterTool": [{"hooks": [{"type": "command", "command": "x"}]}], "PostToolUse": [{"hooks": [{"type": "command", "command": "y"}]}]}}',
    '{\n  "hooks": {"Stop": [], "AfterTool": [ ]},\n  "a": 1\n}\n',
]


def test_others(place):
    """text that a person has written stays to the byte while the hooks are there, and the file is as before when they are removed"""
    programs(place)
    for host in ("claude", "gemini"):
        for text in OTHERS:
            name = FILES[host]
            write(place, name, text, 0o600)
            place.ok("setup", host)
            value, old = strict(read(place, name)), strict(text)
            for event in EVENTS[host]:
                assert f"{TIDINGS} hook {host}" in commands(value, event), read(place, name)
            for key in set(old) - {"hooks"}:
                assert value[key] == old[key], (key, value)
            for event, groups in old.get("hooks", {}).items():
                assert value["hooks"][event][:len(groups)] == groups, value
            assert os.stat(path(place, name)).st_mode & 0o777 == 0o600
            assert read(place, name + ".before-tidings") == text
            if host == "claude":
                place.ok("setup", host, "--no-wake")
            assert read(place, name + ".before-tidings") == text
            for piece in ("// mine", "// one", "/* two */", "// three", "// no comma"):
                assert (piece in read(place, name)) == (piece in text), (piece, read(place, name))
            assert "nothing changed" in place.ok("setup", host, *(["--no-wake"] if host == "claude" else [])).text
            place.ok("setup", host, "--remove")
            assert read(place, name) == text and not os.path.exists(path(place, name) + ".before-tidings")


def lines_end_alike(text):
    return text.count("\r\n") == text.count("\n")


def test_line_ends(place):
    """a file with CRLF gets no LF alone; --remove restores it, even without the copy"""
    programs(place)
    name = FILES["gemini"]
    for text in ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "hooks": {\r\n    "AfterTool": [ // mine\r\n      {"hooks": []} // one\r\n    ]\r\n  }\r\n}\r\n'):
        write(place, name, text)
        place.ok("setup", "gemini")
        assert lines_end_alike(read(place, name)) and commands(strict(read(place, name)), "AfterTool") == [f"{TIDINGS} hook gemini"], read(place, name)
        os.remove(path(place, name) + ".before-tidings")
        place.ok("setup", "gemini", "--remove")
        assert read(place, name) == text, read(place, name)


def test_changed_since(place):
    """changes that a person has made since stay, and so does the copy of the earlier file, which --remove names"""
    programs(place)
    name = FILES["claude"]
    write(place, name, '{"a": 1}\n')
    place.ok("setup", "claude")
    write(place, name, read(place, name).replace('"a": 1', '"a": 2'))
    said = place.ok("setup", "claude", "--remove").text
    assert read(place, name) == '{"a": 2}\n' and f"{path(place, name)}.before-tidings stays" in said, said
    assert read(place, name + ".before-tidings") == '{"a": 1}\n'


def test_two_of_one_name(place):
    """if two members have one name, the last one counts: setup and --remove do not change which one that is, and --remove takes hooks out of both"""
    programs(place)
    name = FILES["gemini"]
    mine, other = ('[{"hooks": [{"type": "command", "command": "%s"}]}]' % command for command in ("mine", "other"))
    for text in ('{"hooks": {"AfterTool": %s}, "hooks": {}}' % mine, '{"hooks": {}, "hooks": {"AfterTool": %s}}' % mine,
                 '{"hooks": {"AfterTool": %s}, "hooks": {"AfterTool": %s}}' % (mine, other), '{"hooks": {"AfterTool": %s, "AfterTool": []}}' % mine):
        write(place, name, text)
        place.ok("setup", "gemini")
        old, value = strict(text)["hooks"].get("AfterTool", []), strict(read(place, name))["hooks"]["AfterTool"]
        assert value[:-1] == old and set(strict(read(place, name))["hooks"]) == EVENTS["gemini"], read(place, name)
        os.remove(path(place, name) + ".before-tidings")
        place.ok("setup", "gemini", "--remove")
        assert strict(read(place, name)) == strict(text) and read(place, name).count('"hooks": {') == text.count('"hooks": {'), read(place, name)
    place.ok("setup", "gemini")
    ours = read(place, name).strip()
    write(place, name, ours[:-1] + ', "hooks": {"AfterTool": %s}}' % mine)
    os.remove(path(place, name) + ".before-tidings")
    place.ok("setup", "gemini", "--remove")
    assert "tidings" not in read(place, name) and commands(strict(read(place, name)), "AfterTool") == ["mine"], read(place, name)


def test_refused(place):
    """setup refuses a file that it cannot read, names the line, and writes nothing"""
    programs(place)
    for text, says in (('{\n  "a": 1\n  "b": 2\n}\n', "line 3"), ('{"a": "x\n', "line 1"), ('{"a": "x\\', "it ends"), ("[]", "expected a JSON object"), ('{"hooks": []}', "hooks: expected an object"),
                       ('{"hooks": {"Stop": {}}}', "hooks.Stop: expected a list"), ("{}\n{}\n", "line 2"), ("{'a': 1}", "line 1"), ("{\n/* x", "line 2"),
                       ("[" * 1000, "deeper than 64 levels"), ("// only\n", "comments only"), ('{"a": tru}', "a value was expected"),
                       ('{\n"a": "\\x"}', "line 2"), ('{\n"a\tb": 1}', "line 2"), ('{"a": "\\u12g4"}', "line 1")):
        write(place, FILES["claude"], text)
        place.refused("setup", "claude", says=[path(place, FILES["claude"]), says])
        assert read(place, FILES["claude"]) == text
        assert sorted(os.listdir(path(place, ".claude"))) == ["settings.json"], text


def test_dry_run(place):
    """--dry-run shows the same diff and writes nothing"""
    programs(place)
    write(place, FILES["gemini"], '{\n  "a": 1\n}\n')
    shown = place.ok("setup", "gemini", "--dry-run").text
    assert os.listdir(path(place, ".gemini")) == ["settings.json"] and read(place, FILES["gemini"]) == '{\n  "a": 1\n}\n'
    said = place.ok("setup", "gemini").text
    assert shown in said, (shown, said)
    assert "Nothing would change." in place.ok("setup", "gemini", "--dry-run").text


def test_diff(place):
    """setup prints a diff that patch accepts"""
    programs(place)
    text = "{\n" + "".join(f'  "k{number}": {number},\n' for number in range(30)) + '  "hooks": {\n    "Stop": [\n    ]\n  },\n' + \
        "".join(f'  "l{number}": {number},\n' for number in range(30)) + '  "end": 1\n}'
    write(place, FILES["claude"], text)
    shown = place.ok("setup", "claude", "--dry-run").text
    place.ok("setup", "claude")
    target = read(place, FILES["claude"])
    write(place, FILES["claude"], text)
    done = subprocess.run(["patch", "-p0", path(place, FILES["claude"])], input=shown, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and read(place, FILES["claude"]) == target, (done, shown)
    assert "@@" in shown and "k5" not in shown, shown


def test_moved_program(place):
    """a program that was installed elsewhere before is replaced, by itself and in groups with others"""
    programs(place)
    old = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}, {"type": "command", "command": "'/old place/tidings' hook claude"}]}],
                     "PreToolUse": [{"hooks": [{"type": "command", "command": "/old/tidings hook claude --wait"}]}]}}
    write(place, FILES["claude"], json.dumps(old, indent=2))
    place.ok("setup", "claude")
    value = json.loads(read(place, FILES["claude"]))
    assert "/old" not in json.dumps(value) and commands(value, "Stop")[0] == "mine" and "PreToolUse" not in value["hooks"], value
    assert commands(value, "Stop")[1:] == [f"{TIDINGS} hook claude", f"{TIDINGS} hook claude --wait"], value
    place.ok("setup", "claude", "--no-wake")
    assert commands(json.loads(read(place, FILES["claude"])), "Stop") == ["mine", f"{TIDINGS} hook claude"]


def test_other_name(place):
    """a program with another name is refused, because a second setup would not recognize its hooks; it removes the hooks of one called tidings"""
    programs(place)
    other = os.path.join(place.dir, "tid-copy")
    shutil.copy(TIDINGS, other)
    for words, code, says in (((), 1, f"this program is {other}, but a hook needs one called 'tidings'; nothing was changed"), (("--remove",), 0, "")):
        done = subprocess.run([other, "setup", "claude", *words], env=place.env, cwd=place.work, capture_output=True, text=True, check=False)
        assert done.returncode == code and says in done.stderr and not os.path.exists(path(place, FILES["claude"])), done
        place.ok("setup", "claude")


def test_wake(place):
    """if an idle session can be woken, a background process waits for it: setup says so, and --no-wake leaves the process out"""
    programs(place)
    for host, waking in (("codex", [f"{TIDINGS} hook codex --wake"]), ("claude", [f"{TIDINGS} hook claude", f"{TIDINGS} hook claude --wait"])):
        said = place.ok("setup", host).text
        assert "a background process waits to wake it" in said and f"'tidings setup {host} --no-wake'" in said, said
        value = json.loads(read(place, FILES[host]))
        assert commands(value, "Stop") == waking
        assert {event for event in EVENTS[host] if commands(value, event)[-1] == waking[-1]} == {"codex": {"SessionEnd", "Stop"}, "claude": {"SessionStart", "Stop", "UserPromptSubmit"}}[host], value
        said = place.ok("setup", host, "--no-wake").text
        assert "waits to wake it" not in said and commands(json.loads(read(place, FILES[host])), "Stop") == [f"{TIDINGS} hook {host}"], said
        assert "nothing changed" in place.ok("setup", host, "--no-wake").text
    assert "waits to wake it" not in place.ok("setup", "gemini").text


def test_folders(place):
    """an agent's own variable names its folder"""
    programs(place)
    elsewhere = path(place, "elsewhere")
    place.env["TIDINGS_MODULES"] = path(place, "modules")
    for module in ("opencode", "pi"):
        write(place, f"modules/{module}.ts", "export default 1;\n")
    for host, variable, name in (("codex", "CODEX_HOME", "hooks.json"), ("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
                                 ("qwen", "QWEN_HOME", "settings.json"), ("copilot", "COPILOT_HOME", "hooks/tidings.json"), ("opencode", "OPENCODE_CONFIG_DIR", "plugin/tidings.ts"),
                                 ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/tidings.ts"), ("kilo", "XDG_CONFIG_HOME", "kilo/plugin/tidings.ts"), ("pi", "PI_CODING_AGENT_DIR", "extensions/tidings.ts")):
        os.makedirs(elsewhere)
        place.ok("setup", host, env={variable: elsewhere})
        assert os.path.isfile(os.path.join(elsewhere, name)), (host, os.listdir(elsewhere))
        assert any(elsewhere in finding["text"] for finding in place.run("doctor", "--json", env={variable: elsewhere}).json if "set up in" in finding["text"]), host
        shutil.rmtree(elsewhere)
    assert set(os.listdir(place.dir)) <= {"bin", "work", "modules", ".codex", "state"}, os.listdir(place.dir)


def test_senseless(place):
    """setup refuses an option that would have no effect"""
    programs(place)
    place.refused("setup", "claude", "--config", "x", code=2, says="--config")  # the hooks would ignore the option
    place.refused("setup", code=2, says=["HOST is missing", "claude"])
    place.refused("setup", "gemini", "--no-wake", code=2, says="--no-wake: Gemini CLI")
    place.refused("setup", "claude", "--remove", "--no-wake", code=2, says="--no-wake and --remove exclude each other")


def test_links(place):
    """a configuration that is a symbolic link stays one"""
    programs(place)
    write(place, "dotfiles/claude.json", "{}\n")
    os.makedirs(path(place, ".claude"))
    os.symlink("../dotfiles/claude.json", path(place, ".claude/settings.json"))
    place.ok("setup", "claude")
    assert os.path.islink(path(place, ".claude/settings.json")) and "hook claude" in read(place, "dotfiles/claude.json")
    os.remove(path(place, "dotfiles/claude.json.before-tidings"))
    place.ok("setup", "claude", "--remove")
    assert os.path.islink(path(place, ".claude/settings.json"))
    assert read(place, ".claude/settings.json") == "{}\n"


def test_trust(place):
    """Codex trusts exactly the hooks of tidings after setup, even after they changed, and none after --remove"""
    programs(place)
    write(place, FILES["codex"], '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}\n')
    assert "8 hooks are trusted" in place.ok("setup", "codex").text
    trust = read(place, ".codex/config.toml")
    assert trust.count("trusted_hash") == 8 and f"{path(place, FILES['codex'])}:Stop:0:0" not in trust, trust
    trust = re.sub('= "[0-9a-f]+"', '= "old"', trust, count=1)
    write(place, ".codex/config.toml", trust)
    said = place.ok("setup", "codex").text
    assert "1 hooks are trusted" in said and f"+++ {path(place, '.codex/config.toml')}" in said, said
    assert "no longer trusted" in place.ok("setup", "codex", "--remove").text
    assert not os.path.exists(path(place, ".codex/config.toml"))
    for text in (None, 'model = "x" # mine\r\n[analytics]\r\nenabled = false', '[hooks.state."/other:stop:0:0"]\ntrusted_hash = "x"\n', "a = 1\n\n[b]\n"):
        if text is not None:
            write(place, ".codex/config.toml", text)
        place.ok("setup", "codex")
        place.ok("setup", "codex", "--remove")
        assert (read(place, ".codex/config.toml") if text is not None else not os.path.exists(path(place, ".codex/config.toml"))) in (text, True)
        assert not os.path.exists(path(place, ".codex/config.toml.before-tidings"))
    write(place, ".codex/broken", "")
    place.refused("setup", "codex", says=["config.toml:3: no", "/hooks"])


def test_trust_keeps_bytes(place):
    """the file that holds the trust keeps its mode, its line ends and every other byte, even without the copy of the earlier file"""
    programs(place)
    name, modes = ".codex/config.toml", itertools.cycle((0o644, 0o600, 0o664))
    for text in ('model = "x"\r\n\r\n[analytics]\r\nenabled = false\r\n', 'a = 1\n[hooks.state]', "# mine\n\n[hooks.state] # mine too\n\n# end\n", "day = 2026-01-01\n",
                 '[hooks.state."/other:Stop:0:0"]\ntrusted_hash = "x"\n\n[b]\nc = """\n[hooks.state]\n"""\n'):
        mode = next(modes)
        write(place, name, text, mode)
        assert "8 hooks are trusted" in place.ok("setup", "codex").text
        there = read(place, name)
        assert there.startswith(text) and os.stat(path(place, name)).st_mode & 0o777 == mode, there
        assert lines_end_alike(there) == ("\r\n" in text) and there.count("trusted_hash") == 8 + text.count("trusted_hash"), there
        os.remove(path(place, name) + ".before-tidings")
        write(place, name, there + "\n[new]\nx = 1\n", mode)
        place.ok("setup", "codex", "--remove")
        gap = "" if text.endswith("\n") else "\n"
        assert read(place, name) == text + gap + "\n[new]\nx = 1\n" and os.stat(path(place, name)).st_mode & 0o777 == mode, read(place, name)
    for text in ("hooks = {}\n", "[hooks]\nstate = {}\n", "day = 2026-01-01\nhooks = {}\n"):
        write(place, name, text)
        place.refused("setup", "codex", says=["config.toml has the table hooks.state in a form that setup does not edit", "/hooks"])
        assert read(place, name) == text
        place.ok("setup", "codex", "--remove")


def test_trust_by_other_names(place):
    """Codex trusts the hooks if its folder has another name; setup reports hooks that Codex does not see"""
    programs(place)
    os.symlink(".codex", path(place, "link"))
    write(place, "dotfiles/hooks.json", "{}\n")
    for name in (path(place, ".codex/"), path(place, "link"), os.path.relpath(path(place, ".codex"), place.work), place.dir + "//.codex/."):
        for linked in (False, True):
            if linked:
                os.symlink("../dotfiles/hooks.json", path(place, FILES["codex"]))
            place.env["CODEX_HOME"] = name
            assert "8 hooks are trusted" in place.ok("setup", "codex").text, name
            assert "Codex CLI: config.toml trusts the hooks of tidings" in place.ok("doctor").text
            assert "8 hooks are no longer trusted" in place.ok("setup", "codex", "--remove").text, name
            if linked:
                os.remove(path(place, FILES["codex"]))
    write(place, ".codex/blind", "")
    place.refused("setup", "codex", says=["does not list the hooks of tidings in", "/hooks"])
    assert "it does not trust 8 of the hooks of tidings" in place.refused("doctor").text


def test_versions(place):
    """setup names a version that was not tested, refuses an agent that is not there, and refuses an unknown name as a mistake"""
    programs(place, claude="3.0.1 (Claude Code)")
    said = place.ok("setup", "claude").said
    assert f"Claude Code 3.0.1 is not the tested version, {tested()['claude']}" in said, said
    place.refused("setup", "claude", "--program", "/not/there", says=["/not/there", "install Claude Code"])
    place.refused("setup", "emacs", code=2, says="'emacs' is not one of codex")
    place.refused("setup", code=2, says="HOST")
    place.refused("setup", "claude", env={"HOME": ""}, says="HOME is not set")


def test_modules(place):
    """opencode, pi and Kilo get a file that loads the installed module, Kilo that of opencode; setup leaves a file alone that it did not write"""
    programs(place)
    for host, module, name in (("opencode", "opencode", ".config/opencode/plugin/tidings.ts"), ("pi", "pi", ".pi/agent/extensions/tidings.ts"), ("kilo", "opencode", ".config/kilo/plugin/tidings.ts")):
        modules = path(place, f"modules/{host}")
        place.refused("setup", host, says="does not exist", env={"TIDINGS_MODULES": modules})
        write(place, f"modules/{host}/{module}.ts", "export default 1;\n")
        place.ok("setup", host, env={"TIDINGS_MODULES": modules})
        assert f'await import("{modules}/{module}.ts").catch(() => undefined)' in read(place, name)
        assert ('tidingsAgent = "Kilo"' in read(place, name)) == (host == "kilo") and [finding["severity"] for finding in place.run("doctor", "--json", env={"TIDINGS_MODULES": modules}).json if "set up in" in finding["text"]] == ["ok"]
        assert "nothing changed" in place.ok("setup", host, env={"TIDINGS_MODULES": modules}).text
        assert place.ok("setup", host, "--remove") and not os.path.exists(path(place, name))
        write(place, name, "// somebody's\n")
        for words in ([], ["--remove"]):
            place.refused("setup", host, *words, says=["line 1", "tidings did not write this file"], env={"TIDINGS_MODULES": modules})
        assert read(place, name) == "// somebody's\n"
        os.remove(path(place, name))


def test_read_only(place):
    """setup reports a folder that cannot be written, and leaves the files in it whole"""
    programs(place)
    if os.geteuid() == 0:
        write(place, ".claude", "a file where the folder should be")
        place.refused("setup", "claude", says=[".claude/settings.json"])
        assert read(place, ".claude") == "a file where the folder should be"
        return
    write(place, FILES["claude"], "{}\n")
    os.chmod(path(place, ".claude"), 0o500)
    place.refused("setup", "claude", says=["cannot write", "Permission denied"])
    os.chmod(path(place, ".claude"), 0o700)
    assert read(place, FILES["claude"]) == "{}\n"


if __name__ == "__main__":
    sys.exit(main(globals()))
