# SPDX-License-Identifier: MIT
"""users.py: tests the user's view of a store in a database: the demo, an agent whose hooks use the store, doctor's findings, the machine that has a
session, and the kinds that its tools have declared."""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "agents")]
import kit  # pylint: disable=wrong-import-position
import tested  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


def check_demo(server):
    url = f"postgresql://fleet@/fleet?host={server.folder}"
    for more in ([], ["--store", url]):
        done = subprocess.run([kit.HOSTSIM, "demo", "--fleet", "--fast", "--plugin", kit.PLUGIN, *more], capture_output=True, text=True, check=False)
        last = done.stdout.splitlines()[-1:]
        expect(done.returncode == 0 and re.fullmatch(r"pushed (\d+), delivered \1, lost 0, twice 0", last[0] if last else ""), f"the demo {more[:1]}: {last} {done.stderr}")
        expect(done.stdout.count("SIGKILL") == 2 and "machine B: the session goes on" in done.stdout, "it is killed twice, and goes on at the other machine")
    expect(server.sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'case%'") == "0", "it leaves no schema")
    for words in (["--store", url], ["--fleet", "--store", "/a/folder"]):
        expect(subprocess.run([kit.HOSTSIM, "demo", *words], capture_output=True, check=False).returncode == 2, f"{words[0]} is a mistake there")


class Agent:
    """The hooks of Claude Code, in a home of their own."""

    def __init__(self, home):
        self.home = home
        os.makedirs(os.path.join(home, "bin"))
        program = os.path.join(home, "bin", "claude")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho '{tested.says('claude')}'\n")
        os.chmod(program, 0o755)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG", "TIDINGS_STORE", "PG"))}
        self.env |= {"HOME": home, "PATH": f"{home}/bin:{os.environ['PATH']}", "TIDINGS_PLUGIN": kit.PLUGIN, "CLAUDE_ENV_FILE": f"{home}/env.sh"}

    def tidings(self, *words, **more):
        return kit.tidings(*words, env=self.env, check=False, **more)

    def call(self, event, **fields):
        """Runs the hook's command from the settings, like the agent."""
        with open(os.path.join(self.home, ".claude", "settings.json"), encoding="utf-8") as file:
            [group] = json.load(file)["hooks"][event]
        data = {"hook_event_name": event, "session_id": "claude-1", "cwd": self.home, "transcript_path": f"{self.home}/.claude/projects/x/claude-1.jsonl", **fields}
        done = subprocess.run(["sh", "-c", group["hooks"][0]["command"]], input=json.dumps(data), env=self.env, capture_output=True, text=True, check=False)
        return done.stdout


def check_agent(server, url, home):
    agent = Agent(home)
    done = agent.tidings("setup", "claude", "--store", url)
    expect(done.returncode == 0 and url in done.stdout, f"setup says the store {done.stderr}")
    # On a busy machine a hook may not reach the store within its budget, and then writes nothing.
    kit.wait_for(lambda: agent.call("SessionStart", source="startup") is not None and os.path.exists(os.path.join(home, "env.sh")), "a hook in its budget")
    with open(os.path.join(home, "env.sh"), encoding="utf-8") as file:
        expect(f"TIDINGS_STORE='{url}'" in file.read(), "the commands of its model use the store")
    kit.tidings("push", "-S", url, "-s", "claude-1", "-l", "error", "seen through a hook")
    # A hook that would take longer than its budget, on a busy machine, shows nothing; the next one does.
    shown, deadline = "", time.monotonic() + 120
    while "seen through a hook" not in shown and time.monotonic() < deadline:
        shown = agent.call("UserPromptSubmit", prompt="go on")
    expect("seen through a hook" in shown, "its hook shows what was pushed to the store")
    said = agent.tidings("doctor").stdout
    expect(f"Claude Code: its store {url}, which can be reached".replace("its store", "its store is") in said, f"doctor: it can be reached {said if 'reached' not in said else ''}")
    expect("commands that you type use another store" in said, "doctor: commands look elsewhere")
    agent.env["TIDINGS_STORE"] = url
    expect("use another store" not in agent.tidings("doctor").stdout, "doctor: and now they do not")
    expect("claude-1" in agent.tidings("sessions").stdout, "sessions lists it")
    del agent.env["TIDINGS_STORE"]
    server.stop()
    done = agent.tidings("doctor")
    expect("cannot be used" in done.stdout and "cannot be reached" in done.stdout and done.returncode == 1, "doctor: the server is gone")
    expect(agent.call("UserPromptSubmit", prompt="go on").strip() in ("", "{}"), "the agent goes on without it")
    done = agent.tidings("setup", "claude", "--remove")
    expect(not os.path.exists(os.path.join(home, ".claude", "settings.json")), "--remove takes it back")


def check_machine(url):
    """A host in another PID namespace looks like a host on another machine."""
    unshare = kit.apart()
    if not unshare:
        print("ok - a machine # SKIP no PID namespace may be made here")
        return
    host = subprocess.Popen([*unshare, sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "asked.py"), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    event = {"op": "event", "event": {"type": "session.opened", "session": "elsewhere", "data": {"host": "Some Agent"}}}
    host.stdin.write(json.dumps(event) + "\n")
    host.stdin.flush()
    expect("reply" in host.stdout.readline(), "a host opens a session on another machine")
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        machine = re.escape(file.read()[:8]) + r"/\d+"
    said = kit.tidings("status", "-S", url, "-s", "elsewhere").stdout
    expect(re.search(rf"Some Agent, pid \d+ on machine {machine}, running, attached", said), f"status names it: {said.splitlines()[-1:]}")
    said = kit.tidings("sessions", "-S", url).stdout
    expect(re.search(rf"running .* session:elsewhere  of Some Agent  on machine {machine}", said), f"sessions names it: {said.splitlines()[:1]}")
    [session] = [row for row in json.loads(kit.tidings("status", "--all", "-S", url, "--json").stdout)["sessions"] if row["session"] == "elsewhere"]
    expect(re.fullmatch(machine, session["machine"]) and session["alive"], "the query has it")
    host.kill()
    host.wait(120)
    opened = {"check": False, "input": '{"type": "session.opened", "session": "here"}'}
    kit.wait_for(lambda: not kit.tidings("event", "--as-host", "-S", url, **opened).returncode, "a busy machine opens a session within the budget")
    expect(" on machine" not in kit.tidings("status", "-S", url, "-s", "here").stdout, "of this machine nothing is said")
    expect("other machines see this one as " in kit.tidings("doctor", "-S", url, check=False).stdout, "doctor says its name")


def check_drop(server):
    """An agent that calls hooks has no connection between two calls; its store is not dropped while it lives, on any machine."""
    url = kit.make_store(server, "dropped")
    unshare = kit.apart()
    deliver = "sleep 1000 & echo $!; until echo x | tidings deliver --at chat-request -S '%s' -s %s --owner $! >/dev/null || [ $((n += 1)) = 100 ]; do :; done; read over"
    for session, before in (("near", []), ("far", unshare)):
        if before is None:
            print("ok - drop beside another machine # SKIP no PID namespace may be made here")
            continue
        env = {**os.environ, "PATH": f"{kit.BUILD}:{os.environ['PATH']}"}
        agent = subprocess.Popen([*before, "sh", "-c", deliver % (url, session)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        pid = agent.stdout.readline().strip()
        kit.wait_for(lambda: server.sql(f"SELECT count(*) FROM dropped.session WHERE name = '{session}' AND owner IS NOT NULL") == "1", "the agent has a session")
        done = kit.tidings("store", "drop", url, check=False)
        expect("TIDINGS_E_STATE" in done.stderr and f"pid {pid} " in done.stderr and f'"{session}"' in done.stderr, f"an agent between two calls ({session}): {done.stderr.strip()}")
        if not before:
            os.kill(int(pid), signal.SIGKILL)
        agent.communicate("\n", timeout=120)
    late = {**os.environ, "LD_PRELOAD": os.path.join(kit.BUILD, "tests/fleet-clock-off.so"), "TIDINGS_TEST_CLOCK_OFF": "3700"}
    server.stop()
    server.start(env=late)
    done = kit.tidings("store", "drop", url, check=False)
    expect(not done.returncode and server.sql("SELECT to_regnamespace('dropped') IS NULL") == "t", f"an hour later the store is dropped {done.stderr.strip()}")
    server.stop()
    server.start()


def check_waiters(server, url):
    """A process that sleeps until it is woken leaves no file when it ends; if it was killed, the next one removes its file.
    The folder of the FIFOs may have a long name."""
    def waiters(more="true"):
        return int(server.sql(f"SELECT count(*) FROM tidings.waiter WHERE {more}"))

    gone = "NOT EXISTS (SELECT FROM pg_stat_activity WHERE int4send(pid) = substr(process, 13, 4))"
    with tempfile.TemporaryDirectory() as short:
        folder = f"{short}/{'long name' * 20}"
        os.mkdir(folder)
        killed = kit.Asked(url, {"XDG_RUNTIME_DIR": folder})
        killed.event("session.opened", "sleeper")
        expect("descriptor" in killed.ask("wake_descriptor"), "a host sleeps")
        expect(waiters() == 1 and len(os.listdir(f"{folder}/tidings")) == 1, "it has a row and a FIFO")
        killed.end()
        kit.wait_for(lambda: waiters(gone) == 1, "the server notices that it is gone")
        asleep = kit.Asked(url, {"XDG_RUNTIME_DIR": folder})
        asleep.event("session.resumed", "sleeper")
        before = os.listdir(f"{folder}/tidings")
        expect("descriptor" in asleep.ask("wake_descriptor"), "another one sleeps")
        after = os.listdir(f"{folder}/tidings")
        expect(waiters() == 1 and waiters(gone) == 0 and len(after) == 1 and after != before, "row and FIFO of the killed one are gone")
        expect(asleep.ask("swap", plugin=kit.PLUGIN).get("generation") == 2, "it is swapped; the plugin for databases is found beside the named one")
        expect("descriptor" in asleep.ask("wake_descriptor") and waiters() == 1 and waiters(gone) == 0, "after a swap it sleeps as before")
        kit.tidings("push", "-S", url, "-s", "sleeper", "-l", "critical", "wake up")
        expect(select.select([os.open(f"{folder}/tidings/{after[0]}", os.O_RDWR | os.O_NONBLOCK)], [], [], 60)[0], "it is called")
        asleep.process.stdin.close()
        asleep.process.wait(60)
        expect(waiters() == 0, "when it has closed the store there is no row")


def check_addon(url):
    installed = subprocess.run([os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "tests/agents/hosts/install.sh"), "node20"], capture_output=True, text=True, check=False)
    addon = os.path.join(kit.BUILD, "tidings.node")
    if installed.returncode or not os.path.exists(addon):
        print(f"ok - the addon # SKIP {installed.stderr.strip() or 'it was not built'}")
        return
    node = os.path.join(installed.stdout.strip(), "node_modules", ".bin", "node")
    env = {**os.environ, "TIDINGS_HOSTKIT_PROBE": os.path.join(kit.BUILD, "tidings-hostkit-probe")}
    done = subprocess.run([node, os.path.join(os.path.dirname(os.path.abspath(__file__)), "addon.mjs"), addon, kit.PLUGIN, url], env=env, capture_output=True, text=True, check=False)
    expect(done.stdout.split() == ["duplicate", "shown", "settled", "swapped", "closed", "refused"] and done.returncode == 0, f"the addon for Node uses it: {done.stdout.split()} {done.stderr}")


def check_declared(url):
    """A producer that has just pushed to a session does not read it at each push, but a declaration of its own process counts at once."""
    host, other = kit.Asked(url), kit.Asked(url)
    host.event("session.opened", "d")

    def push(pusher, kind):
        answer = pusher.ask("push", session="d", kind=kind, message="hello")
        return str(answer["error"]) if answer.get("error") else "stored"

    first = [push(pusher, "ci.odd") for pusher in (host, other) for _ in range(3)]
    host.event("tools.declared", "d", tool="ci", kinds=["failed"])
    own = push(host, "ci.odd")
    expect(first == ["stored"] * 6 and "has declared no kind" in own, f"a kind that was not declared is refused at once in the process that declared: {own}")
    words = kit.wait_for(lambda: next((words for words in [push(other, "ci.odd")] if words != "stored"), None), "another producer looks again")
    expect("has declared no kind" in words and push(other, "ci.failed") == "stored", f"and soon in another one: {words}")
    host.end()
    other.end()


def main():
    home = tempfile.mkdtemp(prefix="tidings-users-")
    try:
        with kit.Server() as server:
            url = kit.make_store(server)
            check_demo(server)
            check_machine(url)
            check_drop(server)
            check_waiters(server, url)
            check_declared(url)
            check_addon(url)
            check_agent(server, url, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"# sum: users: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
