#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The agent is found above its hook however it was started, whatever stands between the two, and whatever /proc shows.

An agent here is a small program that starts its hook and continues. A row of CHAINS has the way in which the agent is started, the programs between it and the
hook, and the process to which the session belongs. Programs that this machine lacks are left out and reported.
"""
import glob
import json
import os
import platform
import shutil
import signal
import subprocess
import sys

from calls import log
from kit import DEADLINE_S, NOBODY, TIDINGS, Place, Skip, as_nobody, end, gone, main, until

PYTHON = os.path.realpath(sys.executable)
# This agent starts a hook through a shell, like the real agents, prints its own pid in its namespace, and ends when its input ends.
AGENT = """#!{python}
import os, subprocess, sys
hook = subprocess.run(["sh", "-c", sys.argv[1]], input=sys.stdin.buffer.readline(), stdout=subprocess.PIPE, start_new_session={alone})
sys.stdout.buffer.write(str(os.getpid()).encode() + b" " + hook.stdout.strip() + b"\\n")
sys.stdout.flush()
sys.stdin.read()
"""
NODE_AGENT = """#!/usr/bin/env node
const text = require("fs").readSync, line = Buffer.alloc(65536), length = text(0, line);
{title}
const hook = require("child_process").spawnSync("sh", ["-c", process.argv[2]], {{input: line.subarray(0, length), detached: {detached}}});
process.stdout.write(process.pid + " " + String(hook.stdout).trim() + "\\n", () => text(0, line));
"""
FORKING = """#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
  pid_t child = fork();
  if (child == 0) execvp(argv[1], argv + 1);
  return argc < 2 || waitpid(child, NULL, 0) < 0;
}
"""
WRAP_PYTHON = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
WRAP_NODE = 'const a = process.argv.slice(process.argv[1] ? 2 : 1); process.exit(require("child_process").spawnSync(a[0], a.slice(1), {stdio: "inherit"}).status)'


def have(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip(f"there is no {name}")


def write(place, name, text, mode=0o755):
    path = os.path.join(place.dir, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


# -- how an agent is started: functions (place) -> command, to which the hook's command line is added ------------------------------------------------------------


def script(name, alone=False, options=" -SE"):
    """A script whose name the kernel gives to its process. With the options its interpreter starts in a third of the time."""
    return lambda place: [write(place, name, AGENT.format(python=PYTHON + options, alone=alone))]


def through(*words, path="agents/claude"):
    """A script that is an argument of an interpreter."""
    return lambda place: [*words, write(place, path, AGENT.format(python=PYTHON, alone=False))]


def node(path="bin/claude", title="", detached="false", words=()):
    def start(place):
        have("node")
        return ["node", *words, write(place, path, NODE_AGENT.format(title=title, detached=detached))]
    return start


def binary(name):
    """A program whose file has this name."""
    def start(place):
        source, program = write(place, "agent.py", AGENT.format(python=PYTHON, alone=False)), os.path.join(place.dir, "native", name)
        os.makedirs(os.path.dirname(program))
        shutil.copy(PYTHON, program)
        place.env["PYTHONHOME"] = sys.prefix
        return [program, source]
    return start


def unknown(place):
    """A program without any sign that it is an agent."""
    return [PYTHON, "-SE", "-c", AGENT.format(python=PYTHON, alone=False)]


def in_front(words, start, *needs):
    def started(place):
        have(*needs)
        return [*words, *start(place)]
    return started


def below_stdbuf(place):
    if os.environ.get("TIDINGS_SANITIZE"):
        raise Skip("stdbuf loads its library before the sanitizer's, which refuses that")
    return in_front(["stdbuf", "-oL"], CLAUDE, "stdbuf")(place)


# -- the programs between agent and hook: functions (place, line) -> line
# -----------------------------------------------------------------------------------------------------


def plain(_, line):
    return line


def replaced(_, line):
    return f"exec {line}"


def shell(*words, needs=()):
    def wrap(_, line):
        have(words[0], *needs)
        return " ".join([*words, f"'{line}; true'"])
    return wrap


def wrapper(*words, after=""):
    def wrap(_, line):
        have(words[0])
        return f"{' '.join(words)} {line}{after}"
    return wrap


def forking(place, line):
    """A wrapper in C that forks and waits."""
    have("cc")
    program = os.path.join(place.dir, "wrap")
    subprocess.run(["cc", "-x", "c", "-o", program, "-"], input=FORKING.encode(), check=True)
    return f"{program} {line}"


def python_file(place, line):
    return f"{PYTHON} {write(place, 'wrap.py', WRAP_PYTHON)} {line}; true"


def python_line(_, line):
    return f"{PYTHON} -c '{WRAP_PYTHON}' {line}; true"


def node_file(place, line):
    have("node")
    return f"node {write(place, 'wrap.js', WRAP_NODE)} {line}; true"


def loader(_, line):
    found = glob.glob("/lib64/ld-linux-*.so.*") + glob.glob("/lib/ld-linux-*.so.*") + glob.glob("/lib/ld-musl-*.so.1")
    if not found:
        raise Skip("no dynamic loader was found")
    return f"{found[0]} /bin/sh -c '{line}; true'; true"


def emulator():
    found = shutil.which(f"qemu-{platform.machine()}") or shutil.which(f"qemu-{platform.machine()}-static")
    if not found:
        raise Skip(f"there is no qemu-{platform.machine()}")
    return found


def emulated(_, line):
    return f"{emulator()} /bin/sh -c '{line}; true'; true"


def emulated_agent(place):
    return [emulator(), *through(PYTHON)(place)]


def called(name):
    """A shell under the name of a rare shell."""
    def wrap(place, line):
        program = os.path.join(place.dir, "shells", name)
        os.makedirs(os.path.dirname(program))
        shutil.copy(os.path.realpath(shutil.which("dash") or shutil.which("sh")), program)
        return f"{program} -c '{line}; true'; true"
    return wrap


def unshared(*options):
    def wrap(_, line):
        have("unshare")
        if subprocess.run(["unshare", *options, "true"], capture_output=True, check=False).returncode:
            raise Skip(f"unshare {' '.join(options)} is not permitted")
        return f"unshare {' '.join(options)} {line}; true"
    return wrap


CLAUDE = script("agents/claude")
CHAINS = {
    # how the agent was started
    "a script called by its name": (script("agents/claude", options=""), plain), "with options in its first line": (CLAUDE, plain), "that replaces its shell by the hook": (CLAUDE, replaced), "a program of its own": (binary("claude"), plain),
    "a program for a platform": (binary("claude-linux-x64"), plain), "a hook in a session of its own": (script("agents/claude", True), plain),
    "a script of an interpreter": (through(PYTHON), plain), "with options": (through(PYTHON, "-I", "-X", "utf8"), plain),
    "a script of node": (node(), plain), "a script of node with an extension": (node("bin/claude.cjs"), plain), "an npm package": (node("lib/node_modules/@anthropic-ai/claude-code/cli.js"), plain),
    "options of node": (node(words=("--no-warnings", "-r", "fs")), plain), "a title of its own": (node("bin/start.js", 'process.title = "claude";'), plain),
    "a detached hook of node": (node(detached="true"), plain), "below sh": (in_front(["sh", "-c", '"$@"; true', "sh"], CLAUDE), plain),
    "below env": (in_front(["env", "A=1"], CLAUDE), plain), "below nice": (in_front(["nice", "-n", "1"], CLAUDE), plain), "below nohup": (in_front(["nohup"], CLAUDE, "nohup"), plain),
    "below setsid": (in_front(["setsid", "-w"], CLAUDE, "setsid"), plain), "below timeout": (in_front(["timeout", "1000"], CLAUDE, "timeout"), plain),
    "below stdbuf": (below_stdbuf, plain), "below another program": (in_front([PYTHON, "-c", WRAP_PYTHON], CLAUDE), plain),
    "below an agent of the same name": (in_front([PYTHON, "-c", WRAP_PYTHON], in_front(["sh", "-c", '"$@"; true', "claude"], CLAUDE)), plain), "under a name that nobody knows": (unknown, plain),
    "unknown, and replacing its shell": (unknown, replaced), "an emulated agent": (emulated_agent, plain),
    # the programs between agent and hook
    "sh": (CLAUDE, shell("sh", "-c")), "bash": (CLAUDE, shell("bash", "-c")), "dash": (CLAUDE, shell("dash", "-c")), "zsh": (CLAUDE, shell("zsh", "-c")), "fish": (CLAUDE, shell("fish", "-c")),
    "busybox": (CLAUDE, shell("busybox", "sh", "-c")), "nu of an unknown agent": (unknown, called("nu")), "pwsh of an unknown agent": (unknown, called("pwsh")), "nu": (CLAUDE, called("nu")), "three shells": (CLAUDE, lambda p, line: shell("sh", "-c")(p, f'sh -c "{line}; true"')),
    "env in between": (CLAUDE, wrapper("env", "A=1", after="; true")), "nice in between": (CLAUDE, wrapper("nice", after="; true")), "timeout in between": (CLAUDE, wrapper("timeout", "1000", after="; true")),
    "setsid in between": (CLAUDE, wrapper("setsid", "-w", after="; true")), "a pipe": (CLAUDE, wrapper("cat", "|", after=" | cat")), "a subshell": (CLAUDE, lambda _, line: f"({line}; true); true"),
    "a forking wrapper": (CLAUDE, forking), "python with a file": (CLAUDE, python_file), "python with a line": (CLAUDE, python_line), "node in between": (CLAUDE, node_file),
    "flock": (CLAUDE, wrapper("flock", "lock", after="; true")), "flock of an unknown agent": (unknown, wrapper("flock", "lock", after="; true")), "xargs": (CLAUDE, lambda p, line: f"cat >in; echo '{line} <in' | xargs -0 sh -c"),
    "the dynamic loader": (CLAUDE, loader), "the loader of an unknown agent": (unknown, loader), "an emulator": (CLAUDE, emulated), "an emulator of an unknown agent": (unknown, emulated),
    "unshare -f": (CLAUDE, unshared("-f", "-m")), "unshare of users": (CLAUDE, unshared("-U", "-r", "-f")), "unshare of an unknown agent": (unknown, unshared("-f", "-m")),
    "script": (CLAUDE, lambda p, line: f"cat >in; script -qefc '{line} <in >out' /dev/null; cat out"), "an agent of node behind python": (node(), python_line),
    "an npm package behind node": (node("lib/node_modules/@anthropic-ai/claude-code/cli.js"), node_file)}


def body(place, event="UserPromptSubmit", **fields):
    return json.dumps({"session_id": "s", "hook_event_name": event, "transcript_path": "/projects/x/s.jsonl", "cwd": place.work, "prompt": "x", **fields}).encode() + b"\n"


def line_of(*words):
    return " ".join([TIDINGS, "hook", "--budget", "60s", *words, "claude"])


def started(place, start, wrap, **more):
    """Returns the agent, after it has called its hook, and its pid in its own namespace."""
    line = wrap(place, line_of())
    agent = place.start(command=[*start(place), line], stdin=subprocess.PIPE, **more)
    agent.stdin.write(body(place))
    agent.stdin.flush()
    pid, _, answer = agent.stdout.readline().partition(b" ")
    assert answer.strip() == b"{}", (line, answer, agent.poll(), log(place))
    return agent, int(pid)


def owner(place):
    return place.ok("status", "-s", "s", "--json").json["attachment"]


def one_chain(place, name):
    agent, pid = started(place, *CHAINS[name])
    found = owner(place)
    assert found["alive"] and found["pid"] == pid, (name, found, pid, log(place))
    assert log(place) == [], (name, log(place))
    end(agent, signal.SIGKILL)


def test_chains(_):
    """the agent is the owner, however it was started and whatever stands between it and its hook"""
    missing, failed = [], []
    for name in CHAINS:
        with Place() as place:
            try:
                one_chain(place, name)
            except Skip as reason:
                missing.append(f"{name}: {reason}")
            except AssertionError as error:
                failed.append(f"{name}: {error}")
    print(f"# sum: {len(CHAINS) - len(missing)} of {len(CHAINS)} ways of starting an agent were tried" + "".join(f"; left out: {text}" for text in missing))
    assert not failed, "\n".join(failed)


def test_agent_ends_behind_a_wrapper(place):
    """when an agent is killed, the process that waits for its session ends, and so does the wrapper around that process"""
    place.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    command = f"{PYTHON} {write(place, 'wrap.py', WRAP_PYTHON)} {line_of('--wait')}"
    agent = place.start(command=[*CLAUDE(place), command], stdin=subprocess.PIPE, start_new_session=True)
    agent.stdin.write(body(place, "Stop"))
    agent.stdin.flush()
    waits = until(lambda: [path for path in glob.glob(os.path.join(place.store, "wake.*"))], "it waits")
    end(agent, signal.SIGKILL)
    until(lambda: gone(int(os.path.basename(waits[0]).split(".")[1])), "what waits has ended")
    assert agent.stdout.read() == b"" and log(place) == [], log(place)  # the wrapper has the other end of the pipe


# -- agents that /proc does not show -----------------------------------------------------------------------------------------------------------------------------


# Mounts /proc again in a new PID namespace, and becomes another user. The first process waits for its child, and then for orphans.
INSIDE = """import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).mount(b"proc", b"/proc", b"proc", 0, sys.argv[1].encode()) == 0
os.setgroups([]); os.setresgid({user}, {user}, {user}); os.setresuid({user}, {user}, {user})
sys.exit(subprocess.run(sys.argv[2:]).returncode)
""".format(user=NOBODY)
HIDDEN_AGENT = AGENT.replace("import os,", "import ctypes, os,").replace("hook = ", "assert ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) == 0  # PR_SET_DUMPABLE\nhook = ")


def inside(place, options, command):
    """Starts a command in a namespace whose /proc is mounted with these options, as another user, who owns the place."""
    have("unshare")
    if os.geteuid() or subprocess.run(["unshare", "-mpf", "true"], capture_output=True, check=False).returncode:
        raise Skip("only root makes namespaces here")
    as_nobody(place.env)
    place.env["HOME"] = place.dir
    for folder, folders, files in os.walk(place.dir):
        for name in (".", *folders, *files):
            os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    return place.start(command=["unshare", "-mpf", "/usr/bin/python3", "-c", INSIDE, options, *command], stdin=subprocess.PIPE)


def answer_inside(place, options, agent, event=body):
    process = inside(place, options, [*agent, f"{line_of()} 2>&1"])
    process.stdin.write(event(place))
    process.stdin.flush()
    line = process.stdout.readline()
    process.stdin.close()
    assert process.wait(DEADLINE_S) == 0, process.stderr.read()
    return line.partition(b" ")[2]


def test_hidden_agent(place):
    """an agent that /proc does not show gets its notifications, and the log and doctor say what is wrong"""
    source = write(place, "agents/claude", HIDDEN_AGENT.format(python="/usr/bin/python3", alone=False))
    place.ok("push", "-s", "s", "the disk is full")
    assert b"the disk is full" in answer_inside(place, "hidepid=invisible", [source])
    [line] = log(place)
    assert "cannot be read in /proc: it is hidden (hidepid)" in line, line
    for folder, _, files in os.walk(place.dir):
        for name in (".", *files):
            os.chown(os.path.join(folder, name), 0, 0)
    said = place.run("doctor").text
    assert "note     sessions: a hook call of session s found no agent" in said and line in said, said


def test_first_process_is_a_script(place):
    """if an agent ends while its hook starts, and the first process is a script of node, that process does not become the owner, and doctor says that no agent was found"""
    have("node", "unshare")
    if subprocess.run(["unshare", "-mpf", "--kill-child", "--mount-proc", "true"], capture_output=True, check=False).returncode:
        raise Skip("namespaces are not permitted")
    pipe = os.path.join(place.dir, "go")
    os.mkfifo(pipe)
    source = 'import {spawnSync} from "child_process"; import {writeFileSync} from "fs"; spawnSync(process.argv[2], {stdio: "inherit"}); writeFileSync(process.argv[3], "x\\n"); setInterval(() => {}, 86400000);\n'
    server, given, ended = write(place, "server.mjs", source), write(place, "in", body(place).decode()), os.path.join(place.dir, "ended")
    agent = write(place, "agents/claude", f"#!/bin/sh\n(read -r line <{pipe}; {line_of()} <{given} >/dev/null; : >{ended}) &\n")
    place.start(command=["unshare", "-mpf", "--kill-child", "--mount-proc", "node", server, agent, pipe])
    until(lambda: os.path.exists(ended), "the hook has ended")  # before that, a look at the store from outside its namespace could make the store
                                                                # refuse the hook
    until(lambda: log(place), "it says that no agent was found")
    [line] = log(place)
    assert "no agent found: none of the processes above this one is Claude Code" in line and "node 1" in line, line
    until(lambda: (status := place.run("status", "-s", "s", "--json")).code == 0 and not status.json["attachment"]["alive"], "the session has no living host")
    until(lambda: "a hook call of session s found no agent" in place.run("doctor").text, "doctor can look, and says so")


def test_owners_that_end_at_once(place):
    """doctor names a session whose hooks find another process each time, and shows the last lines of the log"""
    source = write(place, "wrap.py", AGENT.format(python=PYTHON, alone=True))
    for _ in range(3):
        agent = place.start(command=[PYTHON, source, line_of()], stdin=subprocess.PIPE)
        assert agent.communicate(body(place), DEADLINE_S)[0].endswith(b"{}\n")
    lines = log(place)
    assert len(lines) == 2 and all("the session's process has ended between two calls: pid " in line for line in lines), lines
    said = place.run("doctor").text
    assert "warning  sessions: 2 hook calls of session s found no agent that lasts" in said and all(line in said for line in lines), said
    place.opened()
    assert "no agent that lasts" not in place.run("doctor").text


def test_proc_without_the_system(place):
    """if /proc shows only processes, the log says which file cannot be read"""
    source = write(place, "agents/claude", AGENT.format(python="/usr/bin/python3", alone=False))
    answer = answer_inside(place, "subset=pid", [source])
    assert answer == b"{}\n", answer
    [line] = log(place)
    assert "/proc/sys/kernel/random/boot_id cannot be read" in line and "subset=pid" in line, line


if __name__ == "__main__":
    sys.exit(main(globals()))
