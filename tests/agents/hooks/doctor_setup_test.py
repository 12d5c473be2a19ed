#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that `tidings doctor` has one sentence, with its remedy, for each thing that is wrong with a set-up."""
import json
import os
import re
import shutil
import subprocess
import sys

from kit import TIDINGS, Skip, main
from setup_test import FILES, path, programs, read, write

TITLES = {"claude": "Claude Code", "codex": "Codex CLI", "gemini": "Gemini CLI", "qwen": "Qwen Code", "copilot": "GitHub Copilot CLI", "pi": "pi"}
SWITCHES = [("claude", ".claude/settings.json", '"disableAllHooks": true', "disableAllHooks is true"), ("claude", ".claude/settings.local.json", '"disableAllHooks": true', "disableAllHooks is true"),
            ("claude", "work/.claude/settings.json", '"disableAllHooks": true', "disableAllHooks is true"), ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks is false"),
            ("codex", "work/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks is false"), ("gemini", ".gemini/settings.json", '"hooksConfig": {"enabled": false}', "hooksConfig.enabled is false"),
            ("gemini", "work/.gemini/settings.json", '"hooksConfig": {"enabled": false}', "hooksConfig.enabled is false"), ("qwen", ".qwen/settings.json", '"disableAllHooks": true', "disableAllHooks is true")]


def ready(place, host):
    programs(place)
    place.env["HOME"] = place.dir
    place.ok("setup", host)


def findings(place, host, *severities):
    found = place.run("doctor", "--json")
    wrong = [finding for finding in found.json if finding["topic"] == TITLES[host] and finding["severity"] in (severities or ("warning", "problem"))]
    assert (found.code == 1) == any(finding["severity"] == "problem" for finding in found.json), found
    return wrong


def one_finding(place, host, severity, *words):
    found = findings(place, host)
    assert len(found) == 1 and found[0]["severity"] == severity and all(word in found[0]["text"] for word in words), (words, found)
    assert found[0]["remedy"] and (f"tidings setup {host}" in found[0]["remedy"] or "setting" in found[0]["remedy"]), found
    return found[0]["text"]


def edit(place, host, change):
    value = json.loads(read(place, FILES[host]))
    change(value["hooks"])
    write(place, FILES[host], json.dumps(value, indent=1))


def test_switched_off(place):
    """if a setting of the agent or of the project turns hooks off, doctor reports a problem that names the setting and its file"""
    for host in ("claude", "codex", "gemini", "qwen"):
        ready(place, host)
        assert not findings(place, host), findings(place, host)
    for host, name, setting, said in SWITCHES:
        before = read(place, name) if os.path.exists(path(place, name)) else None
        if name.endswith(".toml"):
            text = (before or "") + "\n" + setting
        else:
            text = "// as people have it\n" + (before or "{}").replace("{", "{" + setting + (", " if before else ""), 1)
        write(place, name, text)
        one_finding(place, host, "problem", "its hooks are switched off, so its sessions receive nothing", said, name.removeprefix("work/"))
        for off, on in (("true", "false"), ("false", "true")):
            if re.search(rf"{off}\b", setting):
                write(place, name, text.replace(setting, setting.replace(off, on)))
                assert not findings(place, host), (name, findings(place, host))
                break
        os.remove(path(place, name))
        if before is not None:
            write(place, name, before)


def test_missing(place):
    """doctor names each missing hook: one that delivers notifications is a problem, another one is a warning"""
    for host in ("claude", "codex", "gemini", "qwen", "copilot"):
        ready(place, host)
        whole, heard = read(place, FILES[host]), {"UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "BeforeAgent", "AfterTool", "AfterAgent"}
        for event in json.loads(whole)["hooks"]:
            edit(place, host, lambda hooks, event=event: hooks.pop(event))
            text = one_finding(place, host, "problem" if event in heard else "warning", FILES[host], "lacks hooks of tidings: " + event)
            assert ("do not receive everything" in text) == (event in heard), text
            write(place, FILES[host], whole)
        edit(place, host, lambda hooks: (hooks.pop("Notification", hooks.pop("Interrupt", None)), hooks.pop("SessionEnd")))
        one_finding(place, host, "warning", ", SessionEnd")
        place.ok("setup", host)
        assert not findings(place, host), findings(place, host)


def test_edited(place):
    """doctor names a hook of tidings that somebody has changed, or that an older version wrote"""
    ready(place, "claude")
    edit(place, "claude", lambda hooks: hooks["PostToolUse"][0].update(matcher="Bash"))
    one_finding(place, "claude", "warning", "differ from those that this version writes: PostToolUse")
    place.ok("setup", "claude")
    edit(place, "claude", lambda hooks: hooks.update(PreToolUse=hooks["Stop"]))
    one_finding(place, "claude", "warning", "differ from those that this version writes: PreToolUse")
    write(place, ".pi/agent/extensions/tidings.ts", "export default () => {};\n")
    one_finding(place, "pi", "problem", "is not as tidings wrote it")


def test_twice(place):
    """doctor reports hooks that run twice, hooks of two installations, and hooks of another installation, which exists or has disappeared"""
    ready(place, "claude")
    whole = read(place, FILES["claude"])
    edit(place, "claude", lambda hooks: hooks["PostToolUse"].append(hooks["PostToolUse"][0]))
    one_finding(place, "claude", "problem", "has hooks of tidings twice, and both run: PostToolUse")
    write(place, FILES["claude"], whole)
    other = path(place, "other/tidings")
    os.mkdir(os.path.dirname(other))
    shutil.copy(TIDINGS, other)
    edit(place, "claude", lambda hooks: [hooks[event].extend(json.loads(json.dumps(hooks[event]).replace(TIDINGS, other))) for event in list(hooks)])
    one_finding(place, "claude", "problem", "has hooks of two installations of tidings: ", TIDINGS, other)
    place.ok("setup", "claude")
    assert not findings(place, "claude")
    write(place, FILES["claude"], whole.replace(TIDINGS, other))
    one_finding(place, "claude", "warning", "is set up for another installation of tidings, " + other)
    os.remove(other)
    one_finding(place, "claude", "problem", "has disappeared: " + other)


def test_vanished(place):
    """doctor distinguishes a set-up that something else has removed from one that never existed"""
    programs(place)
    place.env["HOME"] = place.dir
    write(place, FILES["claude"], '{"theme": "dark"}\n')
    assert [finding["text"] for finding in findings(place, "claude", "note") if "set up" in finding["text"]] == ["it is not set up"]
    place.ok("setup", "claude")
    write(place, FILES["claude"], '{"theme": "light"}\n')
    one_finding(place, "claude", "warning", "it was set up once", ".before-tidings is still there")


def test_home_is_read_only(place):
    """if no store can be made in the home, doctor reports a problem before the first push"""
    home = path(place, "home")
    os.makedirs(home, 0o555)
    place.env |= {"HOME": home, "XDG_STATE_HOME": path(place, "home/state")}
    command = [TIDINGS, "doctor"]
    if not os.geteuid():
        os.chmod(place.dir, 0o755)
        command = ["setpriv", "--reuid=65534", "--clear-groups", *command]
    done = subprocess.run(command, env=place.env, cwd="/", capture_output=True, text=True, check=False)
    if "Operation not permitted" in done.stderr or "cannot execute" in done.stderr or "failed to execute" in done.stderr:
        raise Skip("another user cannot run this build")
    assert done.returncode == 1 and f"so nothing can be pushed: {home}: Permission denied" in done.stdout and "TIDINGS_STORE or XDG_STATE_HOME" in done.stdout, done
    place.env |= {"XDG_STATE_HOME": place.state}
    assert "the first push creates it" in place.run("doctor").text


def installed(place, folder):
    """Makes a copy of the program and its plugin, like an installation."""
    program = path(place, f"{folder}/bin/tidings")
    os.makedirs(os.path.dirname(program))
    shutil.copy(TIDINGS, program)
    return program


def set_up_by(place, program, folders):
    """Runs setup with this program, and returns the command of Claude Code's hooks."""
    env = {**place.env, "PATH": ":".join([*folders, path(place, "bin"), "/usr/bin", "/bin"]), "HOME": place.dir}
    done = subprocess.run([program, "setup", "claude"], env=env, cwd=place.work, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    command = json.loads(read(place, FILES["claude"]))["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert subprocess.run([program, "doctor", "--json"], env=env, cwd=place.work, capture_output=True, text=True, check=False).stdout.count("set up in") == 1
    done = subprocess.run(["sh", "-c", command], env=env, cwd=place.work, input=b"{}", capture_output=True, check=False)
    assert done.stdout == b"{}\n", done
    return command


def test_path_survives_an_upgrade(place):
    """hooks name the link in PATH, or the tidings of PATH; a path with a version in it is the last choice, and doctor notes it"""
    programs(place)
    links = path(place, "links")
    os.mkdir(links)
    cellar, nix, plain = (installed(place, folder) for folder in ("Cellar/tidings/0.2.0", "node/v22.3.1", "opt/tidings"))
    link = os.path.join(links, "tidings")
    os.symlink(cellar, link)
    assert set_up_by(place, cellar, [links]) == f"test -x {link} && exec {link} hook claude || echo {{}}"
    assert set_up_by(place, cellar, [os.path.dirname(cellar)]) == "command -v tidings >/dev/null && exec tidings hook claude || echo {}"
    assert set_up_by(place, nix, [links]) == "command -v tidings >/dev/null && exec tidings hook claude || echo {}"
    assert set_up_by(place, plain, [links]) == f"test -x {plain} && exec {plain} hook claude || echo {{}}"
    assert set_up_by(place, plain, []) == f"test -x {plain} && exec {plain} hook claude || echo {{}}"
    assert set_up_by(place, cellar, []) == f"test -x {cellar} && exec {cellar} hook claude || echo {{}}"
    programs(place)
    place.env["HOME"] = place.dir
    assert any("which an upgrade may move" in finding["text"] for finding in findings(place, "claude", "note")), findings(place, "claude", "note")
    set_up_by(place, cellar, [links])
    os.remove(link)  # the upgrade
    os.rename(path(place, "Cellar/tidings/0.2.0"), path(place, "Cellar/tidings/0.3.0"))
    os.symlink(path(place, "Cellar/tidings/0.3.0/bin/tidings"), link)
    assert not any("disappeared" in finding["text"] for finding in findings(place, "claude"))
    place.env["PATH"] = f"{path(place, 'bin')}:/usr/bin:/bin"
    place.ok("setup", "claude", "--remove")
    assert "tidings" not in read(place, FILES["claude"]) if os.path.exists(path(place, FILES["claude"])) else True


if __name__ == "__main__":
    sys.exit(main(globals()))
