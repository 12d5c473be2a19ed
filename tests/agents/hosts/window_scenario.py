# SPDX-License-Identifier: MIT
"""window_scenario.py: tests the texts of tidings in an agent's window, and an agent whose daemon outlives its windows: nobody wakes a session that no window shows. It uses agents only
through hook_hosts.Agent."""
import contextlib
import json
import os
import pathlib
import re
import socket

from hook_scenarios import Gate, count, once, push, request, requests, rule, says, stops
from node_hosts import until
from terminal import Terminal


def is_read(fifo):
    """Returns whether a process reads the FIFO: a killed process leaves its FIFO, and another process may have its id by now."""
    with contextlib.suppress(OSError):
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        return True
    return False


def waiters(agent):
    """Returns the FIFOs of the processes that wait for a session."""
    return [path.name for path in (agent.place.home / "state" / "tidings" / "waiting").glob("*-*") if path.suffix != ".window" and is_read(path)]


def idles(agent, session):
    until(lambda: agent.place.ask("status", "-s", session)["state"] == "idle" and waiters(agent), f"a process waits for the idle session: {waiters(agent)}")


def window_is_closed(agent):
    """no process waits for a session whose terminal was closed or that was left by /new, and a critical notification starts no turn there; the next window gets it, and can be woken"""
    agent.model.replace([rule(f"{bird} one", {"text": f"A {bird}."}) for bird in ("Petrel", "Fulmar", "Shearwater")])
    with agent.terminal("Petrel one: fly.") as terminal:
        request(agent, "Petrel one", 1)
        petrel = agent.attached()
        idles(agent, petrel)
        until(lambda: agent.works not in terminal.screen(), "its screen says that the turn has ended; before, Codex 0.171 refuses /new")
        terminal.type("/new", lambda: "A Petrel." not in terminal.screen())
        says(agent, terminal, "Fulmar one: fly.")
        until(lambda: agent.attached() != petrel, "it has another session")
        fulmar = agent.session
        idles(agent, fulmar)
        until(lambda: len(waiters(agent)) == 1, "a process waits for one of them")
        terminal.close()
        until(lambda: not waiters(agent), "nobody waits")
        agent.session = petrel
        push(agent, "The petrel rests.", "-l", "critical")
        with agent.terminal("Shearwater one: fly.", [agent.program, "resume", *agent.interactive()[1:], petrel]):
            once(request(agent, "Shearwater one", 1), "The petrel rests.")
            assert count(requests(agent, "The petrel rests.")[0], "Shearwater one"), "it was told before"
            idles(agent, petrel)
            push(agent, "The petrel flies.", "-l", "critical")
            once(request(agent, "The petrel flies.", 1), "The petrel flies.")


def shows(agent, command):
    return Terminal(agent.place.root.name, command, agent.place.project, agent.env)


@contextlib.contextmanager
def unloading_early(agent):
    """Makes the daemon unload a session that no window shows after some seconds, and not after half an hour."""
    path, _ = agent.settings()
    before = path.read_text(encoding="utf-8")
    agent.end_all()
    path.write_text("thread_unload_delay_secs = 6\n" + before, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def is_loaded(agent):
    """Returns whether a process has the session's transcript open."""
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            name = os.readlink(link)
            if agent.session in name and name.startswith(str(agent.place.home)):
                return True
    return False


def unloads(agent):
    until(lambda: not is_loaded(agent), "the daemon has unloaded the session")


AWAY = {"the daemon has it still": lambda agent: None, "the daemon has unloaded it": unloads, "the daemon was killed": lambda agent: agent.end_all()}
RESUMES = int(os.environ.get("TIDINGS_RESUMES", "1"))  # of each kind


def resumed_is_woken(agent):
    """when a window shows a closed session again, a critical notification wakes it before anybody types, whether the daemon still has it, has unloaded it, or was killed; nobody waits for a closed session"""
    agent.model.replace([rule("Skylark one", {"text": "A skylark."})])
    with unloading_early(agent):
        terminal = shows(agent, [*agent.interactive(), "Skylark one: fly."])
        try:
            request(agent, "Skylark one", 1)
            idles(agent, agent.attached())
            for number, away in enumerate(list(AWAY) * RESUMES):
                terminal.close()
                until(lambda: not waiters(agent), "nobody waits")
                AWAY[away](agent)
                push(agent, f"The skylark rises, {number}.", "-l", "critical")
                terminal = shows(agent, agent.resuming())
                once(request(agent, f"The skylark rises, {number}.", 1), f"The skylark rises, {number}.")
                idles(agent, agent.session)
                assert not re.search("[2-9] warnings", terminal.screen()), "its hooks and its MCP server make no warnings; the machine may lack bubblewrap"
            terminal.close()
            until(lambda: not waiters(agent), "nobody waits")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{terminal.screen()}") from None
        finally:
            terminal.close()
            agent.end_all()


def resumed_beside_another(agent):
    """an unloaded session is woken in the window that resumes it, and another window keeps its own session; in a run without a window a critical notification comes only with the prompt"""
    agent.model.replace([rule(f"{bird} {number}", {"text": f"A {bird}."}) for bird in ("Bunting", "Linnet") for number in ("one", "two")])
    with unloading_early(agent):
        terminals = [shows(agent, [*agent.interactive(), "Bunting one: fly."])]
        try:
            request(agent, "Bunting one", 1)
            bunting = agent.attached()
            idles(agent, bunting)
            terminals[0].close()
            terminals.append(shows(agent, [*agent.interactive(), "Linnet one: fly."]))
            request(agent, "Linnet one", 1)
            linnet = until(lambda: agent.attached() != bunting and agent.session, "it has another session")
            idles(agent, linnet)
            agent.session = bunting
            unloads(agent)
            push(agent, "The bunting sings.", "-l", "critical")
            terminals.append(shows(agent, agent.resuming()))
            once(request(agent, "The bunting sings.", 1), "The bunting sings.")
            idles(agent, bunting)
            until(lambda: len(waiters(agent)) == 2, "a process waits for each")
            terminals[-1].close()
            until(lambda: len(waiters(agent)) == 1, "a process waits for one")
            unloads(agent)
            push(agent, "The bunting has flown.", "-l", "critical")
            agent.run("Bunting two: rest.", bunting)
            once(requests(agent, "The bunting has flown.")[0], "The bunting has flown.")
            assert count(requests(agent, "The bunting has flown.")[0], "Bunting two"), "nothing has woken it before"
            until(lambda: len(waiters(agent)) == 1, "a process waits for one")
            agent.session = linnet
            push(agent, "The linnet sings.", "-l", "critical")
            once(request(agent, "The linnet sings.", 1), "The linnet sings.")
            assert not any(count(asked, "Bunting one") for asked in requests(agent, "The linnet sings."))
            until(lambda: len(waiters(agent)) == 1, "a process waits for one")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{terminals[-1].screen()}") from None
        finally:
            for terminal in terminals:
                terminal.close()
            agent.end_all()


def send_to_inbox(agent, text):
    """Sends the window a text like another process, which claims to apply tools without asking."""
    records = [json.loads(path.read_text()) for path in (agent.place.home / ".qwen" / "sessions").glob("*.json")]
    record = next(record for record in records if record["sessionId"] == agent.session)
    frame = {"msgV": 1, "msgId": "linnet", "type": "user", "fromMode": "bypass", "toSessionId": record["sessionId"], "message": {"role": "user", "content": text}}
    with socket.socket(socket.AF_UNIX) as inbox:
        inbox.connect(record["ipcPath"])
        inbox.sendall("".join(json.dumps(line) + "\n" for line in ({"msgV": 1, "type": "auth", "token": record["ipcToken"]}, frame)).encode())


def inbox_begins_again(agent):
    """tidings does not use Qwen Code's inbox, because Qwen Code begins a turn from there again when a person stops it, and the model has the text twice"""
    agent.model.replace([rule("Linnet zero", {"text": "Hello."}), rule("Linnet one", [{"text": "On and on "}, {"hold": f"{agent.name}-linnet"}])])
    with agent.terminal("Linnet zero: hello.") as terminal:
        request(agent, "Linnet zero", 1)
        agent.attached()
        terminal.shows("Hello.")
        send_to_inbox(agent, "Linnet one: sing.")
        first = request(agent, "Linnet one", 1)
        terminal.shows(agent.streams)
        stops(agent, terminal, lambda: agent.model.ended(first["number"]) == "gone")
        until(lambda: any(count(one, "Linnet one: sing.") == 2 for one in agent.model.requests), "the turn begins again; if it does not, tidings may use the inbox")
        agent.model.release(f"{agent.name}-linnet")


# The line for the person when a message follows a turn, and the agent's own words for that, which no hook can change.
LINE = "tidings hands the model"
SAYS = {"codex": (LINE, "Blocked by hook"), "claude": (LINE,), "gemini": (LINE, "Agent execution blocked", "This request failed", '"Error Verbosity"'),
        "qwen": (LINE, "Cron: /tidings:read"), "copilot": ()}


def said_to_the_person(agent):
    """the screen says what the model is given, and shows neither a hook's command nor an error, except the agent's own words for a message after a turn"""
    gate = Gate(agent, "pipit")
    agent.model.replace([rule("Pipit one", gate.tool, {"text": "Well."}, {"text": "Seeds are out."})])
    with agent.terminal("Pipit one: work.") as terminal:
        gate.wait()
        agent.attached()
        push(agent, "The pipit sings.", "-k", "pipit.sings")
        agent.place.tidings("submit", "-s", agent.session, "Then bring the seeds.")
        gate.open()
        once(request(agent, "Then bring the seeds.", 1), "The pipit sings.")
        for words in ("Seeds are out.", *SAYS[agent.name][:1]):  # Qwen Code may suggest the same words before, and its line comes at the turn's end
            terminal.shows(words)
        screen = terminal.ask("capture-pane", "-p", "-S", "-200").partition("Pipit one")[2]
    for words in ("tidings hook", str(agent.place.command)):
        assert words not in screen, screen
    for words in SAYS[agent.name]:
        assert words in screen, f"docs/hosts/hooks.md says that the screen has \"{words}\": {screen}"
        screen = screen.replace(words, "")
    assert "error" not in screen.lower() and "failed" not in screen.lower() and "blocked" not in screen.lower(), screen


# Replaces the command by a hook of Gemini CLI that waits until the test has read the screen.
SLOW = """#!/bin/sh
[ "$1 $2" != "hook gemini" ] || while [ ! -e '{go}' ]; do sleep 0.02; done
exec '{real}' "$@"
"""


def status_line(agent):
    """while a hook runs, the status line names tidings and shows no command"""
    command, go = agent.place.command, agent.place.root / "go"
    real = command.with_name("tidings.real")
    go.touch()
    command.rename(real)
    command.write_text(SLOW.format(go=go, real=real))
    command.chmod(0o755)
    agent.model.replace([rule("Dipper one", agent.shell(f"rm '{go}'"), {"text": "The dipper has dived."})])
    try:
        with agent.terminal("Dipper one: dive.") as terminal:
            terminal.shows("Executing Hook")  # "Hook: tidings", or "Hooks: tidings, tidings" for two
            screen = terminal.screen()
            assert "tidings" in screen.partition("Executing Hook")[2].splitlines()[0], screen
            assert "test -x" not in screen and "hook gemini" not in screen, screen
            go.touch()
            terminal.shows("The dipper has dived.")
            until(lambda: "Executing Hook" not in terminal.screen(), lambda: f"no hook is executed: {terminal.screen()}")
    finally:
        go.touch()
        real.replace(command)


ALL = (said_to_the_person,)
BY_AGENT = {"codex": (window_is_closed, resumed_is_woken, resumed_beside_another), "gemini": (status_line,), "qwen": (inbox_begins_again,)}
