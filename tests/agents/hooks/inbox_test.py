#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent whose windows have an inbox: what the end of a turn, or the process that waits beside the idle session, gives to it, beside a socket and a transcript of ours."""
import datetime
import json
import os
import re
import socket
import stat
import sys
import threading

from calls import call, context, log, put_command, reason, transcript, unmarked
from kit import main, until
from wake_test import waiting

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tested import tested  # pylint: disable=wrong-import-position

NOTICE = "This came from a process this session started (a script or hook it ran), not from your user."


class Window:
    """A window of Qwen Code's, as far as its hooks see it."""

    def __init__(self, place, listens=True):
        self.place, self.lines = place, []
        self.path = os.path.join(place.dir, "1.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        if listens:
            self.socket.listen()
            threading.Thread(target=self.listen, daemon=True).start()
        place.env.update(QWEN_CODE_MESSAGING_SOCKET=self.path, QWEN_CODE_MESSAGING_TOKEN="own")

    def listen(self):
        while True:
            client, _ = self.socket.accept()
            with client, client.makefile() as lines:
                auth, frame = map(json.loads, lines.read().splitlines())
            assert auth.pop("msgV") == 1 and auth.pop("type") == "auth", auth
            self.lines.append((auth["token"], frame))

    def hook(self, event, session="s", **fields):
        """Qwen Code says at each call when it was made, and has begun its transcript."""
        self.write({"type": "system"}, session=session)
        return call(self.place, "qwen", event, session, ("--wake",), timestamp=now(), **fields)

    def turn(self, session="s", prompt="x"):
        self.hook("UserPromptSubmit", session, prompt=prompt)
        return self.hook("Stop", session)

    def given(self, count=1):
        """The text of the newest frame; there are `count`."""
        until(lambda: len(self.lines) >= count, "the inbox was given it")
        assert len(self.lines) == count, self.lines
        return self.lines[-1][1]["message"]["content"]

    def write(self, *records, session="s"):
        with open(transcript(self.place, "qwen", session), "a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps({"timestamp": now(), **record}, separators=(",", ":")) + "\n")

    def takes(self, session="s"):
        """Begins a turn with the newest frame, and writes it down."""
        text = self.given(len(self.lines)).replace("<", "&lt;")
        wrapped = f'<cross_session_message from="own process" name="tidings" origin="own-process">\n{text}\n</cross_session_message>\n\n{NOTICE}'
        self.write({"type": "user", "subtype": "notification", "message": {"parts": [{"text": wrapped}]}, "systemPayload": {"displayText": f"Message from {text[:100]}"}},
                   session=session)

    def status(self, session="s"):
        return self.place.ok("status", "-s", session, "--json").json

    def outcomes(self, session="s"):
        return [delivery["outcome"] for delivery in self.place.ok("history", "-s", session, "--json").json["deliveries"]]


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def waiters(place):
    return [path for path in waiting(place) if not path.endswith(".given")]


def idle(place, **more):
    window = Window(place, **more)
    window.hook("SessionStart", source="startup")
    assert window.turn() == {}
    return window


def test_critical(place):
    """something critical is given to the inbox of the idle window at once, and counts as delivered when the transcript has it; before, nothing else is"""
    window = idle(place)
    until(lambda: len(waiters(place)) == 1, "a process waits")
    assert window.status()["not_woken"] is None
    place.ok("push", "-s", "s", "it rains <hard>")
    pushed = place.ok("push", "-s", "s", "-l", "critical", "-k", "disk.full", "the disk is full")
    assert pushed.said == ""
    text = window.given()
    assert "the disk is full" in text and "it rains" in text and "not from the user" in text, text
    [(token, frame)] = window.lines
    assert token == "own" and re.fullmatch(r"tidings-[0-9a-z]+-[0-9a-z]{8}", frame.pop("msgId"))
    assert {**frame, "message": None} == {"msgV": 1, "type": "user", "fromName": "tidings", "fromMode": "prompting", "toSessionId": "s", "priority": "next", "message": None}
    unmarked(text)
    assert (window.status()["state"], window.outcomes()) == ("busy", ["leased"])
    place.ok("push", "-s", "s", "-l", "critical", "the disk is fuller")
    window.takes()
    assert "the disk is fuller" in context(window.hook("PostToolUse", tool_name="ls", tool_call_id="c"), "PostToolUse")
    assert window.outcomes() == ["committed", "leased"]
    assert window.hook("Stop") == {} and window.status()["state"] == "idle"
    assert len(window.lines) == 1 and log(place) == []


def test_at_the_end_of_a_turn(place):
    """what is critical when a turn ends goes to the inbox, and not as a reason to continue, which the agent would show as an error"""
    window = Window(place)
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert set(window.hook("Stop")) == {"systemMessage"}
    assert "the disk is full" in window.given() and window.outcomes() == ["leased"]
    window.takes()
    assert window.hook("Stop") == {} and window.outcomes() == ["committed"]
    until(lambda: len(waiters(place)) == 1, "a process waits")
    assert log(place) == []


def test_a_person_is_first(place):
    """what the inbox has when a person prompts comes after that turn: it is not delivered again, however much the model has said since, and what is queued waits for it"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    window.given()
    assert window.hook("UserPromptSubmit", prompt="y") == {}
    place.ok("submit", "-s", "s", "deploy")
    window.write({"type": "user", "message": {"parts": [{"text": "y\n\n[tidings 1-1]"}]}}, {"type": "assistant"})
    assert window.hook("Stop") == {} and window.outcomes() == ["leased"]
    window.takes()
    assert reason(window.hook("Stop"), "qwen") == "deploy"
    assert len(window.lines) == 1 and log(place) == []


def test_dropped(place):
    """what the inbox has dropped is given again, under the same id"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    first, second = window.given(), window.given(2)
    assert first == second and window.lines[0] == window.lines[1]
    window.takes()
    assert window.hook("Stop") == {} and window.outcomes() == ["committed"]


def test_killed_between(place):
    """a process that was killed after it had taken the turn, and before it gave it, leaves what the next one gives"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    window.given()
    [fifo] = waiters(place)
    with open(fifo, "wb", buffering=0) as words:
        words.write(b"e")
    until(lambda: not waiters(place), "nobody waits")
    window.lines.clear()
    assert window.hook("Stop") == {}
    window.given()
    window.takes()
    assert window.hook("Stop") == {} and window.outcomes() == ["committed"]


def test_killed_after(place):
    """a process that was killed after it had settled the delivery leaves no file that keeps the inbox closed"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    window.given()
    [path] = [path for path in waiting(place) if path.endswith(".given")]
    given = open(path, encoding="utf-8").read()
    window.takes()
    assert window.hook("Stop") == {} and not os.path.exists(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(given)
    assert window.hook("Stop") == {}
    until(lambda: not os.path.exists(path), "it is gone")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is fuller")
    assert "the disk is fuller" in window.given(2)


def test_without_waiting(place):
    """with --no-wake the inbox is given nothing, because nobody would give it again"""
    window = Window(place)
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert "the disk is full" in call(place, "qwen", "Stop", timestamp=now())["reason"] and window.lines == []


def test_refused(place):
    """where nobody listens any more, what is critical waits for the next prompt, once"""
    window = idle(place)
    until(lambda: len(waiters(place)) == 1, "a process waits")
    window.socket.close()
    os.unlink(window.path)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    until(lambda: window.outcomes() == ["rolled_back"], "it was tried")
    until(lambda: window.status()["state"] == "idle", "nothing runs")
    assert context(window.hook("UserPromptSubmit", prompt="y"), "UserPromptSubmit").count("the disk is full") == 1
    assert ["cannot give a text to the inbox: No such file or directory" in line for line in log(place)] == [True]


def test_no_inbox(place):
    """without an inbox (an older version, a run without a terminal, a setting), or where a person keeps texts of programs back, everything is as before, and is said to be"""
    kept = os.path.join(place.work, ".qwen", "settings.json")
    os.makedirs(os.path.dirname(kept))
    for session, env, settings in (("a", {}, {}), ("b", None, {"agents": {"crossSessionInbound": "hold"}}), ("c", None, {"agents": {"crossSessionInbound": 1}})):
        window = Window(place) if not os.path.exists(os.path.join(place.dir, "1.sock")) else window
        for name in ("QWEN_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_TOKEN"):
            place.env[name] = "" if env == {} else window.path if name.endswith("SOCKET") else "own"
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        assert window.turn(session) == {} and not waiters(place)
        why = "nothing waits to wake this Qwen Code (it has no terminal, is set up with --no-wake, or had no prompt yet)"
        assert window.status(session)["not_woken"] == why
        assert why in place.ok("push", "-s", session, "-l", "critical", "the disk is full").said
        window.hook("UserPromptSubmit", session, prompt="y")
        place.ok("submit", "-s", session, "deploy")
        assert reason(window.hook("Stop", session), "qwen") == "deploy"
        place.ok("push", "-s", session, "-l", "critical", "the disk is fuller")
        assert "the disk is fuller" in window.hook("Stop", session)["reason"]
        assert window.lines == []


def test_cleared(place):
    """what is on its way when the window goes on with another session is delivered there"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    window.given()
    assert window.hook("SessionEnd", reason="clear") == {}
    assert window.outcomes() == ["rolled_back"]
    window.hook("SessionStart", "t", source="clear")
    assert context(window.hook("UserPromptSubmit", "t", prompt="y"), "UserPromptSubmit").count("the disk is full") == 1
    until(lambda: not [path for path in waiting(place) if "given" in path], "nothing is on its way")
    assert log(place) == []


def test_rewound(place):
    """a rewind takes back what came by the inbox, and the next prompt has it again"""
    window = idle(place)
    window.write({"type": "assistant", "uuid": "a"})
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    window.given()
    window.takes()
    assert window.hook("Stop") == {} and window.outcomes() == ["committed"]
    window.write({"type": "system", "subtype": "rewind", "uuid": "r", "parentUuid": "a"})
    assert "the disk is full" in context(window.hook("UserPromptSubmit", prompt="y"), "UserPromptSubmit")


def test_killed(place):
    """an agent that is killed and resumed has what its transcript has, and is given the rest"""
    for session, written in (("a", True), ("b", False)):
        agent = place.start(command=["sleep", "600"])
        window = Window(place) if session == "a" else window
        fields = {"session_id": session, "cwd": place.work, "transcript_path": transcript(place, "qwen", session), "timestamp": now()}

        def hook(event, owner, **more):
            return place.ok("hook", "--budget", "60s", "--owner", str(owner), "--wake", "qwen", stdin=json.dumps({**fields, "hook_event_name": event, **more})).json
        hook("UserPromptSubmit", agent.pid, prompt="x")
        place.ok("push", "-s", session, "-l", "critical", "the disk is full")
        hook("Stop", agent.pid)
        if written:
            window.takes(session)
        agent.kill()
        agent.wait()
        hook("SessionStart", os.getpid(), source="resume")
        answer = hook("UserPromptSubmit", os.getpid(), prompt="y")
        assert ("the disk is full" in json.dumps(answer)) == (not written), answer


QWEN = """case "$1 $3" in
--version*) echo '{version}' ;;
"sessions add") [ "$*" = "sessions controllers add --label tidings" ] && echo add >> {dir}/asked &&
  echo '{{"schemaVersion": 1, "controllers": [{{"id": "c_1f", "label": "tidings"}}]}}' > {dir}/.qwen/peer-controllers.json &&
  printf 'Controller "tidings" added (c_1f).\n\n  qpc_09ab\n\nsaid once {{"token":"qpc_09ab"}}' ;;
"sessions remove") [ "$*" = "sessions controllers remove c_1f" ] && echo remove >> {dir}/asked && echo '{{"controllers": []}}' > {dir}/.qwen/peer-controllers.json ;;
*) exit 1 ;;
esac"""


def set_up(place, *words, version=tested()["qwen"]):
    os.makedirs(os.path.join(place.dir, ".qwen"), exist_ok=True)
    if not os.path.exists(os.path.join(place.dir, "qwen")):
        put_command(place, "qwen", QWEN.format(dir=place.dir, version=version))
    return place.ok("setup", *words, "qwen")


def asked(place):
    path = os.path.join(place.dir, "asked")
    return open(path, encoding="utf-8").read().split() if os.path.exists(path) else []


def kept(place):
    folder = os.path.join(place.dir, ".config", "tidings", "controllers")
    return [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []


def test_token(place):
    """setup lets the agent make a token once, keeps it for this user alone, and revokes it; a dry run, an option and an older version leave it out"""
    assert "would then be asked to make a token" in set_up(place, "--dry-run").text and asked(place) == []
    assert "token" not in set_up(place, "--no-controller").text + set_up(place, "--no-wake").text and asked(place) == []
    assert "it has no token for messages" in place.run("doctor").text
    assert "has made a token for tidings (c_1f)" in set_up(place).text and "token" not in set_up(place).text
    assert "token" not in place.run("doctor").text
    [path] = kept(place)
    assert asked(place) == ["add"] and stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert json.load(open(path, encoding="utf-8")) == {"id": "c_1f", "token": "qpc_09ab"}
    assert "would then be asked to revoke a token" in set_up(place, "--remove", "--dry-run").text and asked(place) == ["add"]
    assert "has revoked the token of tidings (c_1f)" in set_up(place, "--remove").text and asked(place) == ["add", "remove"] and kept(place) == []
    with type(place)() as old:
        assert "token" not in set_up(old, version="0.24.3").text and asked(old) == []
        old.refused("setup", "codex", "--no-controller", code=2, says="--no-controller: Codex CLI")
        old.refused("setup", "qwen", "--remove", "--no-controller", code=2, says="--no-controller")
    with type(place)() as broken:
        put_command(broken, "qwen", f"[ $1 != --version ] || echo {tested()['qwen']}")
        assert "has made no token for tidings" in broken.ok("setup", "qwen").said and kept(broken) == []


def test_messages(place):
    """with the token a submitted message goes to the inbox as the person's, alone, when the window idles and after a turn; each waits until the one before has its turn"""
    set_up(place)
    window = idle(place)
    until(lambda: len(waiters(place)) == 1, "a process waits")
    place.ok("push", "-s", "s", "it rains")
    assert place.ok("submit", "-s", "s", "deploy").said == ""
    assert unmarked(window.given()) == "deploy" and [token for token, _ in window.lines] == ["qpc_09ab"]
    for number in (1, 2):
        place.ok("submit", "-s", "s", f"message {number}")
    window.takes()
    assert set(window.hook("Stop")) == {"systemMessage"} and unmarked(window.given(2)) == "message 1"
    assert [message["state"] for message in window.status()["queued"]] == ["leased", "queued"]
    window.takes()
    assert set(window.hook("Stop")) == {"systemMessage"} and unmarked(window.given(3)) == "message 2"
    window.takes()
    assert window.hook("Stop") == {} and window.status()["queued"] == [] and window.outcomes() == ["committed"] * 3
    assert "it rains" in context(window.hook("UserPromptSubmit", prompt="y"), "UserPromptSubmit")
    place.ok("submit", "-s", "s", "message 3")
    os.unlink(os.path.join(place.dir, ".qwen", "peer-controllers.json"))
    assert reason(window.hook("Stop"), "qwen") == "message 3", "the token was revoked"
    assert log(place) == []


def test_no_token(place):
    """without a token a message to an idle window waits, and its sender is told so"""
    window = idle(place)
    until(lambda: len(waiters(place)) == 1, "a process waits")
    said = place.ok("submit", "-s", "s", "deploy").said
    assert "Qwen Code has no token for messages ('tidings setup qwen' makes it): this starts after the next turn that a person begins" in said, said
    assert window.turn(prompt="y")["decision"] == "block"
    assert window.hook("Stop") == {} and window.lines == []


if __name__ == "__main__":
    sys.exit(main(globals()))
