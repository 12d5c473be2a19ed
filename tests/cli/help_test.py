#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests --help, the man pages and the completions, which are all made from the tables of the verbs."""
import json
import os
import re
import shutil
import subprocess
import sys

from kit import DEADLINE_S, Skip, main

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agents"))
from tested import says  # pylint: disable=wrong-import-position

PAGES = os.environ["TIDINGS_CLI_PAGES"]


def verbs(place):
    return place.ok("help", "--names").text.split()


def test_declared_tools(place):
    """config check asks a session which kinds its tools have declared, and names other kinds"""
    place.event("tools.declared", {"tool": "cargo_check", "kinds": ["stopped", "warnings"]})
    config = os.path.join(place.dir, "tools.json")

    def named(tool, kind):
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"conversation": {"tools": {tool: {"notifications": {kind: False}}}}}, file)

    for tool, kind in (("cargo_check", "warnings"), ("cargo_check", "waiting"), ("cargo_check", "changed"), ("git", "anything")):
        named(tool, kind)
        place.ok("config", "check", "-s", "s", config)
    named("cargo_check", "stoped")
    place.ok("config", "check", config)
    place.refused("config", "check", "-s", "s", config,
                  says=["conversation.tools.cargo_check.notifications.stoped", "expected one of stopped, warnings, waiting, failed, finished, changed"])
    place.ok("config", "check", config, env={"TIDINGS_SESSION": "another"})


def test_help(place):
    """every verb has help with its options and an example, on stdout, within 80 columns"""
    overview = place.ok("--help").text
    assert place.ok("help").text == overview
    for verb in verbs(place):
        assert re.search(rf"^  {verb} +\w", overview, re.M), (verb, overview)
        text = place.ok(verb, "--help").text
        assert text == place.ok("help", verb).text == place.ok(verb, "-h").text
        assert text.startswith(f"usage: tidings {verb} ") and "\nExamples:\n  " in text and "--help" in text, text
        prose = text.split("\nExamples:\n")[0].split("\n", 1)[1]
        assert all(len(line) <= 80 for line in prose.splitlines()), text


PROGRAMS = {"make": "echo made", "npm": "echo tested", "jq": "exec cat", "docker": "echo '{}'", "npx": "exec cat",
            "journalctl": "echo '{\"PRIORITY\":\"3\",\"MESSAGE\":\"it failed\",\"__CURSOR\":\"c\"}'",
            **{name: f"echo '{says(name)}'" for name in ("codex", "claude", "gemini")}}


def test_examples(place):
    """every example works when it is copied, beside an agent that works in the folder"""
    folder = os.path.join(place.dir, "bin")
    os.makedirs(folder)
    for name, script in PROGRAMS.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(os.path.join(folder, name), 0o755)
    path = ":".join([folder, os.path.dirname(os.environ["TIDINGS_CLI"]), place.env["PATH"]])
    env = {**place.env, "PATH": path, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "prompt": "hi"}
    subprocess.run("git init -q && git commit -q --allow-empty -m first && mkdir src docs", shell=True, cwd=place.work, env=env, check=True)
    place.opened("s")
    place.ok("push", "-s", "s", "the first of the first session, which the example of explain means")
    first = place.ok("pending", "-s", "s", "--json").json["items"][0]["id"]  # the id has a random part
    place.ok("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()), stdin="what the example of export looks for")
    delivery = place.ok("history", "-s", "s", "--json").json["deliveries"][0]["id"]
    place.ok("submit", "-s", "s", "--id", "m-5fd2a1c09b7e4433", "taken back by the example of submit")
    place.ok("submit", "-s", "s", "queued")
    place.ok("submit", "-s", "s", "--id", "m-0b7e44335fd2a1c0", "changed by the examples of queue")
    place.ok("submit", "-s", "my-session", "what the example of wait waits for")
    os.makedirs(place.logs, mode=0o700)
    for handle in ("make-3f9a2c", "tests-07be44"):
        with open(os.path.join(place.logs, handle + ".log"), "w", encoding="utf-8") as file:
            file.write("what the examples of log print\n")
    os.makedirs(os.path.join(place.dir, ".local/state"))
    place.ok("push", "--create", "-s", "deploy-of-2024", "x")  # the example of store forget counts this
    os.symlink(place.store, os.path.join(place.dir, ".local/state/tidings"))  # the example of store salvage looks here
    with open(os.path.join(place.work, "token"), "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("a secret of the examples of listen\n")
    with open(os.path.join(place.work, "listen.json"), "w", encoding="ascii") as file:
        json.dump({"listen": {"routes": [{"path": "/hooks/ci", "recipe": "github", "secret_file": "token"}]}}, file)
    with open(os.path.join(place.work, "request.txt"), "w", encoding="ascii") as file:
        file.write("X-GitHub-Event: ping\n\n{}\n")
    # This codex is no app server, so setup cannot make it trust the hooks, and doctor reports that. Also, there is no terminal here.
    expected = {"tidings setup codex": 1, "tidings doctor": 1, "tidings top": 1}
    for verb in verbs(place):
        text = place.ok("help", verb).text.split("\nExamples:\n")[1]
        examples = re.findall(r"^  (\S.*)\n      \S", text, re.M)
        assert examples, verb
        for example in examples:
            if verb in ("listen", "subscribe") and not os.path.exists(os.path.join(os.path.dirname(os.environ["TIDINGS_CLI"]), f"tidings-{verb}")):
                continue  # this machine lacks its library
            if example == "tidings explain 17":
                example = f"tidings explain {first}"
            if example == "tidings history 2817163442":
                example = f"tidings history {delivery}"
            if "tidings listen -c" in example:
                example = f"timeout 1 {example}; [ $? = 124 ]"
            if "tidings watch" in example or verb == "subscribe" or "tail -f" in example:
                example = f"timeout 1 {example}; [ $? = 124 ]"  # the example runs until it is stopped
            if "postgresql://" in example and not os.path.exists(os.path.join(os.environ["TIDINGS_BUILD_DIR"], "tidings-postgres.so")):
                continue  # a sanitizer's build and musl's have none
            done = subprocess.run(["bash", "-o", "pipefail", "-c", example], cwd=place.work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE_S, check=False)
            assert done.returncode == expected.get(example, 0), (example, done)


PRINTS_NO_DATA = {"watch", "feed", "listen", "subscribe", "setup", "hook", "mcp", "help", "timeline", "top"}


def test_json(place):
    """every verb that prints data takes --json"""
    for verb in verbs(place):
        assert ("\n      --json " in place.ok("help", verb).text) == (verb not in PRINTS_NO_DATA), verb
    place.opened()
    assert place.ok("export", "-s", "s", "--json").json == []
    assert place.ok("event", "--json", stdin='{"type": "message.submitted", "session": "s", "data": {"id": "m1", "content": "x"}}').json["actions"] == []
    place.refused("event", "--json", "--actions", code=2, says="exclude each other", stdin="{}")
    assert place.ok("config", "check", "--json").json == {"ok": True, "file": None, "files": []}
    assert set(place.ok("config", "show", "--json").json) == {"config", "origins", "files"}


def test_wrong(place):
    """unknown verbs and options are refused"""
    place.refused("psuh", code=2, says="unknown verb 'psuh'")
    place.refused("--psuh", code=2, says="unknown option '--psuh'")
    place.refused("help", "psuh", code=2, says="unknown verb 'psuh'")
    place.refused("help", "--man", "--names", code=2, says="exclude each other")
    place.refused("help", "--completion", "tcsh", code=2, says="not one of bash, zsh, fish")
    for verb in verbs(place):
        # Some agents take exit code 2 of a hook as a refusal of their next step.
        place.refused(verb, "--no-such-option", code=1 if verb == "hook" else 2, says="--no-such-option")


def test_version(place):
    """the version is the project's"""
    assert re.fullmatch(r"tidings \d+\.\d+\.\d+\n", place.ok("version").text)
    assert place.ok("--version").text == place.ok("version").text
    assert set(place.ok("version", "--json").json) == {"version", "abi"}


def test_pages(place):
    """the build has printed a man page for each verb, and completions for each shell"""
    assert set(os.listdir(os.path.join(PAGES, "man1"))) == {"tidings.1"} | {f"tidings-{verb}.1" for verb in verbs(place)}
    for verb in verbs(place):
        with open(os.path.join(PAGES, "man1", f"tidings-{verb}.1"), encoding="utf-8") as file:
            assert file.read() == place.ok("help", "--man", verb).text
    for shell, name in (("bash", "tidings"), ("zsh", "_tidings"), ("fish", "tidings.fish")):
        with open(os.path.join(PAGES, shell, name), encoding="utf-8") as file:
            assert file.read() == place.ok("help", "--completion", shell).text


def test_man_words(place):
    """a man page has the words of --help, also those of a long paragraph"""
    for verb in verbs(place):
        page = place.ok("help", "--man", verb).text
        for written, meant in (("\\-", "-"), ("\\(aq", "'"), ("\\&", ""), ("\\e", "\\")):
            page = page.replace(written, meant)
        page = " ".join(re.sub(r"^\.(PP|nf|fi)$", "", page, flags=re.M).split())
        for paragraph in place.ok("help", verb).text.split("\n\n")[1:]:
            if not paragraph.lstrip().startswith(("-", "Examples:", "Exit")):
                assert " ".join(paragraph.split()) in page, (verb, paragraph)


def test_man(place):
    """the man pages render without a warning, and have the options of --help"""
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    for verb in verbs(place):
        path = os.path.join(PAGES, "man1", f"tidings-{verb}.1")
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", path], check=False, capture_output=True)
        assert done.returncode == 0 and not done.stderr, (verb, done.stderr)
        page = " ".join(re.sub(r".\x08", "", done.stdout.decode()).split())
        for option in re.findall(r"^ .*?(--[a-z-]+)", place.ok("help", verb).text.split("\nExamples:")[0], re.M):
            assert option in page, (verb, option)
        assert "EXIT STATUS" in page and "EXAMPLES" in page, page


def shell(name, script, place, *, want):
    if not shutil.which(name):
        raise Skip(f"{name} is not installed")
    path = os.path.dirname(os.environ["TIDINGS_CLI"]) + ":" + place.env["PATH"]
    done = subprocess.run([name, *want, script], env={**place.env, "PATH": path}, cwd=place.work, check=False, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.decode()


BASH = """
source "$1/bash/tidings"
compopt() { :; }
COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tidings
printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(place, *words):
    script = os.path.join(place.dir, "complete.bash")
    with open(script, "w", encoding="utf-8") as file:
        file.write(BASH)
    path = os.path.dirname(os.environ["TIDINGS_CLI"]) + ":" + place.env["PATH"]
    done = subprocess.run(["bash", script, PAGES, "tidings", *words], env={**place.env, "PATH": path}, cwd=place.work, check=False, capture_output=True, timeout=DEADLINE_S)
    assert not done.stderr, done
    return done.stdout.decode().split("\n")[:-1]


def test_bash(place):
    """bash completes verbs, options, their values, sessions, files and commands"""
    if not shutil.which("bash"):
        raise Skip("bash is not installed")
    place.ok("push", "-s", "my session", "x")
    for name in ("file.c", "file.h"):
        with open(os.path.join(place.work, name), "w", encoding="utf-8"):
            pass
    assert bash(place, "pu") == ["push"]
    assert set(verbs(place)) < set(bash(place, ""))
    assert bash(place, "push", "--le") == ["--level"]
    assert bash(place, "push", "-l", "c") == bash(place, "push", "--level", "c") == bash(place, "push", "--level", "=", "c") == ["critical"]
    assert bash(place, "push", "-s", "my") == ["my\\ session"]
    assert bash(place, "config", "s") == ["show", "schema"] or bash(place, "config", "s") == ["schema", "show"]
    assert bash(place, "help", "sta") == ["status", "stats"] or bash(place, "help", "sta") == ["stats", "status"]
    assert sorted(bash(place, "watch", "file")) == ["file.c", "file.h"]
    assert "sh" in bash(place, "run", "--", "sh") and sorted(bash(place, "run", "--", "cat", "fi")) == ["file.c", "file.h"]
    assert bash(place, "pending", "") in ([], [""])


def test_zsh(place):
    """zsh reads its completions"""
    shell("zsh", os.path.join(PAGES, "zsh", "_tidings"), place, want=["-f", "-n"])


def test_fish(place):
    """fish reads its completions and completes by them"""
    script = f"source {PAGES}/fish/tidings.fish; complete -C 'tidings pu'; echo ==; complete -C 'tidings push --level c'; echo ==; complete -C 'tidings config sc'"
    out = shell("fish", script, place, want=["--no-config", "-c"])
    first, second, third = out.split("==\n")
    assert first.startswith("push\t") and second.split("\t")[0] == "critical" and third.split("\t")[0].strip() == "schema", out


if __name__ == "__main__":
    sys.exit(main(globals()))
