# SPDX-License-Identifier: MIT
"""Tests `tidings wait --alert`, which alerts a person to a session's state, on the desktop (a replaced notify-send) or on the terminal (a pty)."""
import json
import os
import pty
import re
import select
import shutil
import signal
import sys

from kit import DEADLINE_S, TIDINGS, end, main, sleeps_for_ever, until

HOSTILE = "no\x1b[2J\x07\x9b\u202e <b>&room"
SHOWN = "no{U+001B}[2J{U+0007}{U+009B}{U+202E} "


def desktop(place, works=True):
    """Installs a notify-send that writes down its arguments in one write."""
    bins = os.path.join(place.dir, "bin")
    os.makedirs(bins, exist_ok=True)
    path = os.path.join(bins, "notify-send")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nprintf '%s\\0' \"$@\" '\n' >>'{place.dir}/told'\nexit {0 if works else 1}\n")
    os.chmod(path, 0o755)
    place.env["PATH"] = f"{bins}:{place.env['PATH']}"


def shown(place):
    try:
        with open(f"{place.dir}/told", encoding="utf-8") as file:
            return [call.strip("\0").split("\0") for call in file.read().split("\n\0")[:-1]]
    except FileNotFoundError:
        return []


def summaries(place):
    return [call[3] for call in shown(place)]


def turn(place, type_, **data):
    return place.event(type_, data or None, owner=os.getpid())


def critical(place, condition, message=HOSTILE):
    """Pushes until the alert was seen, because the watching process does not report when it begins."""
    def pushed():
        place.ok("push", "-s", "s", "-k", "disk.full", "-l", "critical", message)
        return condition()

    return until(pushed, "an alert of what is critical")


def test_state_now(place):
    """a state that lasts already is shown at once; without a running agent the command refuses to wait"""
    desktop(place)
    place.ok("push", "-s", "s", "x")
    place.refused("wait", "--alert", "-s", "s", says="no agent runs session 's'")
    place.opened()
    assert place.ok("wait", "--alert", "-s", "s").text == "idle\n"
    assert shown(place) == [["--app-name=tidings", "--urgency=normal", "--", "The agent is idle", f"test in {place.work}"]], shown(place)
    turn(place, "turn.started")
    assert place.refused("wait", "--alert", "-s", "s", "--timeout", "0").out == b""
    turn(place, "turn.waiting")
    assert place.ok("wait", "--alert", "-s", "s", "--json").json == {"session": "s", "idle": False, "waiting": True, "critical": 0}
    assert summaries(place) == ["The agent is idle", "The agent waits for you"], shown(place)
    place.refused("wait", "--follow", "-s", "s", code=2, says="--follow")


def test_follow(place):
    """each change is shown once, and hostile text is escaped; the process ends with the agent, and a second one for the same session ends at once"""
    desktop(place)
    agent = place.start(command=["sleep", "1000"])
    place.opened(owner=agent.pid)
    words = ["wait", "--alert", "-f", "-s", "s", "--owner", str(agent.pid)]
    process = place.start(*words)
    place.event("turn.started", owner=agent.pid)
    critical(place, lambda: shown(place))
    assert set(summaries(place)) == {"Critical notification"} and shown(place)[0][1] == "--urgency=critical", shown(place)
    assert shown(place)[0][4].startswith(f"test in {place.work}\n") and shown(place)[0][4].endswith(f"disk.full: {SHOWN}&lt;b&gt;&amp;room"), shown(place)
    place.ok(*words)
    place.event("turn.finished", owner=agent.pid)
    place.event("turn.declined", owner=agent.pid)  # the turn that the critical notification asks for
    idle = lambda: [call for call in shown(place) if call[3] == "The agent is idle" or f"{place.work} is idle\n" in call[4]]
    until(idle, "the idle agent")
    assert process.poll() is None
    agent.kill()
    agent.wait()
    assert process.wait(DEADLINE_S) == 0, process.stderr.read()
    assert len(idle()) == 1, shown(place)


def test_killed_agent(place):
    """an agent that is killed writes nothing to the store; a process that follows it notices its end even without --owner"""
    desktop(place)
    for session, words, code in (("s", ["-f"], 0), ("t", [], 1)):
        agent = place.start(command=["sleep", "1000"])
        place.opened(session, owner=agent.pid)
        place.event("turn.started", session=session, owner=agent.pid)
        process = place.start("wait", "--alert", "-s", session, *words)
        until(lambda of=process.pid: sleeps_for_ever(of), "a sleep that no time ends")
        agent.kill()
        agent.wait()
        assert process.wait(DEADLINE_S) == code, process.stderr.read()


def test_no_place(place):
    """if no file can be made, the command cannot know whether another process alerts, so it alerts the person"""
    desktop(place)
    place.opened()
    with open(os.path.join(place.dir, "file"), "w", encoding="utf-8"):
        pass
    words = ["wait", "--alert", "-s", "s", "--owner", str(os.getpid()), "-S", place.store]
    assert place.ok(*words, env={"XDG_STATE_HOME": os.path.join(place.dir, "file")}).text == "idle\n"


def test_configured(place):
    """the configuration chooses the states to alert to; a project's configuration may not"""
    desktop(place)
    config = os.path.join(place.dir, "config.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"alerts": {"critical": True}}, file)
    place.opened()
    assert place.refused("wait", "--alert", "-s", "s", "--config", config, "--timeout", "0").out == b""
    process = place.start("wait", "--alert", "-s", "s", "--config", config)
    critical(place, lambda: process.poll() is not None, "now")
    assert process.returncode == 0 and process.stdout.read().endswith(b": now\n")
    assert summaries(place) == ["Critical notification"]
    with open(os.path.join(place.work, ".tidings.json"), "w", encoding="utf-8") as file:
        json.dump({"alerts": {"idle": True}}, file)
    place.refused("config", "check", os.path.join(place.work, ".tidings.json"), says="alerts.idle: a project may not set it")


def read_pty(main_end, wanted):
    seen = b""
    while wanted not in seen and select.select([main_end], [], [], DEADLINE_S)[0]:
        try:
            seen += os.read(main_end, 4096)
        except OSError:
            break
    return seen


def test_terminal(place):
    """if notify-send fails, the terminal gets OSC 9: the command's own terminal, or the agent's"""
    desktop(place, works=False)
    main_end, terminal = pty.openpty()
    agent = place.start(command=["sleep", "1000"], stdout=terminal)
    place.opened(owner=agent.pid)
    expected = f"\x1b]9;tidings: The agent is idle: test in {place.work}\a".encode()
    apart = {"start_new_session": True}  # else the terminal of whoever runs the tests is this process's own
    place.ok("wait", "--alert", "-s", "s", **apart)
    assert expected in read_pty(main_end, expected)
    process = place.start("wait", "--alert", "-f", "-s", "s", "--owner", str(agent.pid), **apart)
    critical(place, lambda: select.select([main_end], [], [], 0)[0])
    seen = read_pty(main_end, b"room\a")
    [first, *_] = re.findall(rb"\x1b\]9;tidings: Critical[^\x07]*\x07", seen)  # there may be more, and an incomplete one
    assert first.count(b"\x1b") == 1 and first.endswith(SHOWN.encode() + b"<b>&room\a"), seen
    assert end(process, signal.SIGTERM) == 128 + signal.SIGTERM
    agent.kill()
    other = place.start(command=[shutil.which("setsid"), TIDINGS, "wait", "--alert", "-s", "t"], stderr=terminal)
    assert other.wait(DEADLINE_S) == 1  # no such agent
    place.opened("t")
    other = place.start(command=[shutil.which("setsid"), TIDINGS, "wait", "--alert", "-s", "t"], stderr=terminal)
    assert other.wait(DEADLINE_S) == 0
    assert expected in read_pty(main_end, expected)
    os.close(terminal)
    os.close(main_end)


if __name__ == "__main__":
    sys.exit(main(globals()))
