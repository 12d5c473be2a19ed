#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""newcomer.py ROOT npm|apt|arm64: types a newcomer's lines in the system below ROOT, where /packages has the packages and /agent has Claude Code. Prints TAP.

The lines are those of README.md. Files in /packages replace downloads from a registry, and a script replaces the model. On arm64 there is no agent. A
script replaces it, and the test calls the hooks as the agent would.
"""
import glob
import json
import os
import pathlib
import shlex
import subprocess
import sys
import threading
import time

from model.server import ModelServer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "agents"))
import tested  # pylint: disable=wrong-import-position

HOME, PROJECT = "/newcomer", "/newcomer/project"
failures = 0


def check(holds, title, told=""):
    global failures  # pylint: disable=global-statement
    failures += not holds
    print(f"{'ok' if holds else 'not ok'} - {title}", flush=True)
    if not holds:
        print("".join(f"# {line}\n" for line in str(told).splitlines()[-40:]), end="", flush=True)
    return holds


class System:
    def __init__(self, root, url):
        self.root = root
        self.env = {"PATH": "/agent/node_modules/.bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TERM": "dumb",
                    "ANTHROPIC_API_KEY": "sk-ant-fake-key-of-a-test", "ANTHROPIC_BASE_URL": url, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", "DEBIAN_FRONTEND": "noninteractive", "npm_config_update_notifier": "false"}
        os.makedirs(f"{root}{PROJECT}")
        with open(f"{root}{HOME}/.claude.json", "w", encoding="utf-8") as file:
            json.dump({"hasCompletedOnboarding": True, "bypassPermissionsModeAccepted": True,
                       "projects": {PROJECT: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}, file)

    def types(self, line):
        done = subprocess.run(["chroot", self.root, "/bin/sh", "-c", f"cd {PROJECT} && {line}"], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
        return done.returncode, done.stdout

    def works(self, line):
        code, told = self.types(line)
        return check(code == 0, line, told)


def files(root, *patterns):
    return " ".join(path[len(root):] for pattern in patterns for path in sorted(glob.glob(f"{root}/packages/{pattern}")))


def lines(root, how):
    """The commands that install and remove the packages."""
    if how == "npm":
        return (f"npm install -g --no-audit --no-fund {files(root, 'npm/tidings-[0-9]*.tgz', 'npm/tidings-linux-x64-gnu-*.tgz')}",
                "npm uninstall -g tidings @tidings/linux-x64-gnu")
    arch = "arm64" if how == "arm64" else "amd64"
    return (f"apt install -y {files(root, f'deb/libtidings-hostkit1_*_{arch}.deb', f'deb/tidings_*_{arch}.deb')}",
            "apt purge -y tidings libtidings-hostkit1")


def author(system, root):
    """Somebody writes a host: the example is compiled as its page says, and delivers. The plugin for PostgreSQL loads."""
    system.works("apt install -y --no-install-recommends gcc libc6-dev pkgconf "
                 + files(root, "deb/libtidings-hostkit-dev_*_amd64.deb", "deb/tidings-postgres_*_amd64.deb"))
    system.works("cc /usr/share/doc/libtidings-hostkit-dev/examples/host.c -o host $(pkgconf --cflags --libs tidings-hostkit)")
    code, told = system.types("./host $(pkgconf --variable=plugin tidings-hostkit) store")
    check(code == 0 and "- The build failed." in told, "the example host delivers", told)
    code, told = system.types("tidings store check --store 'postgresql://u@127.0.0.1:1/d?schema=s'")
    check(code and "libpq" not in told and "refused" in told, "a store in a database is looked for, so the plugin is there", told)
    check("conformance" in system.types("hostsim --help")[1], "hostsim starts")
    system.works("apt purge -y tidings-postgres libtidings-hostkit-dev")


def purged(system):
    left = system.types("dpkg -l 'tidings*' 'libtidings*' 2>/dev/null | grep -c '^.[^n]' ; find /usr /etc /var/lib -name '*tidings*' -not -path '/var/lib/dpkg/*'")[1]
    check(left.strip() == "0", "purging leaves nothing", left)


def hook(event, **more):
    """A line that calls the hook as Claude Code would."""
    given = {"session_id": "s1", "transcript_path": f"{HOME}/.claude/projects/x/s1.jsonl", "cwd": PROJECT, "hook_event_name": event, **more}
    return f"hook {shlex.quote(json.dumps(given))}"


def agent(command):
    """Runs a shell in place of Claude Code that stays alive between its hooks. A hook gives up if the emulator is too slow. Then the agent continues, and the next
    hook delivers."""
    start, prompt = hook("SessionStart", source="startup"), hook("UserPromptSubmit", prompt="hello")
    return f"""
hook() {{ printf %s "$1" | sh -c {shlex.quote(command)} >/tmp/answer; }}
again() {{ until "$@"; do [ "$(date +%s)" -lt {int(time.time()) + 300} ] || exit 3; done; }}
begin() {{ {start}; tidings sessions | grep -q s1; }}
ask() {{ {prompt}; grep 'failed with exit code 1' /tmp/answer; }}
again begin
tidings run -- false
again ask"""


def without_agent(root):
    """Installed, used and purged."""
    system = System(root, "http://127.0.0.1:9")
    install, remove = lines(root, "arm64")
    with open(f"{root}/usr/local/bin/claude", "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho '{tested.says('claude')}'\n")
    os.chmod(f"{root}/usr/local/bin/claude", 0o755)
    check(system.types("uname -m && dpkg --print-architecture")[1].split() == ["aarch64", "arm64"], "this is a Debian for arm64")
    system.types("apt purge -y 'tidings*' 'libtidings*'")  # removes the rest of an interrupted run
    if not system.works(install) or not system.works("tidings setup claude"):
        return 1
    with open(f"{root}{HOME}/.claude/settings.json", encoding="utf-8") as file:
        hooks = json.load(file)["hooks"]
    commands = {hooks[event][0]["hooks"][0]["command"] for event in ("SessionStart", "UserPromptSubmit")}
    check(len(commands) == 1, "the hooks call one command", commands)
    command = commands.pop()
    code, told = system.types(agent(command))
    check(code == 0 and "failed with exit code 1" in told, "the next prompt has the notification of `tidings run -- false`", told)
    check("set up in" in system.types("tidings doctor")[1], "tidings doctor says that Claude Code is set up")
    system.works(f"apt install -y {files(root, 'deb/libtidings-hostkit-dev_*_arm64.deb', 'deb/tidings-postgres_*_arm64.deb')}")
    check("conformance" in system.types("hostsim --help")[1], "hostsim starts")
    system.works("apt purge -y tidings-postgres libtidings-hostkit-dev")
    system.works(remove)
    check(system.types(f"echo {{}} | sh -c {shlex.quote(command)}") == (0, "{}\n"), "the agent goes on without it")
    purged(system)
    return failures != 0


def asked(model):
    return [request["text"] for request in model.requests if request["tools"]]


def main(root, how):
    if how == "arm64":
        return without_agent(root)
    call = {"call": "Bash", "arguments": {"command": "true", "description": "as the test says"}}
    rules = [{"prompt": "Good day.", "answers": [[{"hold": "gate"}, call], [{"text": "The same to you."}]]}, {"prompt": "And now?", "answers": [[{"text": "Nothing."}]]}]
    with ModelServer(rules) as model:
        system = System(root, model.url)
        install, remove = lines(root, how)
        if not system.works(install) or not system.works("tidings setup claude"):
            return 1
        claude = "claude --dangerously-skip-permissions"
        agent = threading.Thread(target=system.works, args=(f"{claude} -p 'Good day.'",))
        agent.start()
        deadline = time.monotonic() + 300
        while not asked(model) and agent.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        code, told = system.types("tidings run -- false")
        check(code == 1, "tidings run -- false", told)
        model.release("gate")
        agent.join()
        texts = asked(model)
        check("failed with exit code 1" not in texts[0], "the request before has no notification")
        check(len(texts) > 1 and "Command `false`" in texts[1] and "failed with exit code 1" in texts[1], "the agent's next request has the notification", f"{len(texts)} requests; " + system.types("cat ~/.local/state/tidings/logs/hook.log; tidings history")[1])
        if how == "npm":
            system.works("npx --no-install tidings --version")
        check("set up in" in system.types("tidings doctor")[1], "tidings doctor says that Claude Code is set up")
        system.works(remove)
        check(system.types("command -v tidings")[0] != 0, "the command is gone")
        system.works(f"{claude} --continue -p 'And now?'")
        system.works(install)
        code, told = system.types("tidings doctor")
        check("set up in" in told, "installed again, it works as before", told)
        system.works("tidings setup claude --remove")
        if how == "apt":
            author(system, root)
        system.works(remove)
        if how == "apt":
            purged(system)
    return failures != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
