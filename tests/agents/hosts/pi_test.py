#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pi_test.py: tests pi from npm, with the extension of this build, against a scripted model. Prints TAP."""
import json
import pathlib
import subprocess
import sys

import kill_scenario
import node_scenarios
import pi_wires
import record
from model.server import ModelServer
from node_hosts import FULL, PATIENCE, Lines, Place, Tap, installed_host, until
from node_scenarios import Script, exactly_once, in_phase, pending, push, status, wait_for_file
from terminal import Terminal


class Pi:
    title = "pi"
    forged = None  # the session whose transcript a test has written
    reports_use = 1
    configuration = ".pi/settings.json", '{"theme": "light"}\n', "pi reads it with /reload"

    def __init__(self, place, model):
        self.place, self.model = place, model
        self.bin = installed_host("pi") / "node_modules" / ".bin"
        agent = place.home / "agent"
        agent.mkdir()
        fake = {"baseUrl": model.url + "/v1", "api": "openai-completions", "apiKey": "none",
                "models": [{"id": "fake-1", "name": "Fake", "contextWindow": 100000, "maxTokens": 1000}]}
        (agent / "models.json").write_text(json.dumps({"providers": {"fake": fake}}))
        place.env |= {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1", "PI_CODING_AGENT_DIR": str(agent),
                      "PATH": f"{self.bin}:{place.env['PATH']}"}
        self.connect()
        self.session = None
        self.lines = None
        self.number = 0

    def connect(self):
        self.place.tidings("setup", "pi")

    def command(self, *arguments):
        return [self.bin / "node", self.bin / "pi", "--provider", "fake", "--model", "fake-1", *arguments]

    def start(self, *arguments):
        self.lines = Lines(self.command("--mode", "rpc", *arguments), cwd=self.place.project, env=self.place.env)
        self.session = self.ask("get_state")["sessionId"]

    def ask(self, kind, **more):
        self.number += 1
        self.lines.say(type=kind, id=str(self.number), **more)
        answer = self.lines.wait(lambda record: record.get("type") == "response" and record.get("id") == str(self.number), f"the answer to {kind}")
        assert answer["success"], answer
        return answer.get("data")

    def begin(self):
        if self.lines is None:
            self.start()
        else:
            self.ask("new_session")
            self.session = self.ask("get_state")["sessionId"]

    def prompt(self, text):
        self.ask("prompt", message=text)

    def settled(self):
        until(lambda: not self.ask("get_state")["isStreaming"] and status(self)["state"] == "idle", "pi is idle")

    def stop(self):
        self.ask("abort")

    def kill(self):
        self.lines.kill()

    def restart(self, delivery=None):
        before = self.session
        if delivery:
            self.write_down(delivery)
        self.start("--continue")
        assert self.session == before, "pi went on with another session"

    def write_down(self, delivery):
        """Writes the delivery as the session's last line."""
        file = next(pathlib.Path(self.place.home / "agent" / "sessions").rglob(f"*{self.session}*"))
        last = json.loads(file.read_text().splitlines()[-1])
        entry = {"type": "custom_message", "id": "0badcafe", "parentId": last["id"], "timestamp": last["timestamp"], "customType": "tidings",
                 "content": "(the news)", "display": False, "details": {"tidings": {"delivery": delivery}}}
        with file.open("a") as out:
            out.write(json.dumps(entry) + "\n")

    def shell(self, command):
        return {"call": "bash", "arguments": {"command": command}}

    def run(self, text):
        return " ".join(map(str, self.command("-p", f"'{text}'")))

    def write(self, path, content):
        return {"call": "write", "arguments": {"path": str(path), "content": content}}


def failed_tool(pi):
    """the result of a failed tool carries notifications as well"""
    pi.begin()
    go = pi.place.root / "fail"
    script = Script(pi, "Try it.", [pi.shell(f"{wait_for_file(go)}; exit 3")], [{"text": "It failed."}])
    pi.prompt("Try it.")
    in_phase(pi, "tools")
    push(pi, "The cable is out.", "-l", "error")
    go.touch()
    pi.settled()
    result = script.last(2)["items"][-1]
    assert result["role"] == "tool" and "exited with code 3" in result["text"] and "The cable is out." in result["text"], result


def in_two_processes(pi):
    """a session that is opened in a second process stays in the first one until a person prompts in the second, which then takes it over"""
    pi.begin()
    script = Script(pi, "Where are you?", [{"text": "Here."}])
    pi.prompt("Where are you?")
    pi.settled()
    first = pi.lines
    pi.start("--continue")
    second, pi.lines = pi.lines, first
    try:
        push(pi, "For the first.", "-l", "warning")
        pi.prompt("Where are you? First.")
        pi.settled()
        exactly_once(script.last(2), "For the first.")
        push(pi, "For the second.", "-l", "warning")
        pi.lines = second
        pi.prompt("Where are you? Second.")
        pi.settled()
        exactly_once(script.last(3), "For the second.")
        push(pi, "For the first again.", "-l", "warning")
        pi.lines = first
        pi.prompt("Where are you? First again.")
        exactly_once(script.last(4), "For the first again.")
        pi.settled()
    finally:
        second.kill()
        pi.lines = first


def dialog(pi):
    """while an extension asks the person in a turn, the session waits; afterwards the turn goes on"""
    pi.begin()
    before, pi.lines = pi.lines, None
    extension = pi.place.root / "asks.ts"
    extension.write_text('export default (pi) => { pi.on("tool_call", async (_event, ctx) => { await ctx.ui.confirm("Really?", "It is a tool."); }); };\n')
    pi.start("-e", extension)
    try:
        script = Script(pi, "Dare it.", [pi.shell("echo dared")], [{"text": "Dared."}])
        pi.prompt("Dare it.")
        asked = pi.lines.wait(lambda record: record.get("type") == "extension_ui_request" and record.get("method") == "confirm", "the question")
        until(lambda: status(pi)["state"] == "waiting", lambda: f"the session waits: {status(pi)}")
        pi.lines.say(type="extension_ui_response", id=asked["id"], confirmed=True)
        script.last(2)
        pi.settled()
    finally:
        pi.lines.kill()
        pi.lines = before


def during_compaction(pi):
    """a message or a critical notification that comes while pi compacts starts a turn afterwards"""
    pi.begin()
    for words, push_or_submit in (("Then deploy it.", ["submit"]), ("The disk is full.", ["push", "-l", "critical", "-k", "disk.full"])):
        script = Script(pi, "A long tale: ", [{"text": "I see."}])
        summary = {"name": "summary", "tools": False, "text": "summar", "answers": [[{"text": "So far "}, {"hold": words}]]}
        pi.model.replace([summary, *pi.model.script.rules])
        for number in range(2):
            pi.prompt(f"A long tale: {number} " + "and on it goes " * 8000)
            pi.settled()
        before = len(pi.model.requests)
        pi.number += 1
        compact = str(pi.number)
        pi.lines.say(type="compact", id=compact)
        until(lambda: len(pi.model.requests) > before, "pi asks for a summary")
        pi.place.tidings(push_or_submit[0], "-s", pi.session, *push_or_submit[1:], words)
        assert status(pi)["state"] == "idle", status(pi)
        pi.model.release(words)
        pi.lines.wait(lambda record: record.get("type") == "response" and record.get("id") == compact, "it has compacted")
        until(lambda: [request for request in pi.model.requests[before:] if request["tools"] and words in request["text"]], "the turn's request")
        pi.settled()
        assert pending(pi) == 0 and not status(pi).get("queued"), status(pi)
    assert "turn.declined" not in pi.place.tidings("history", "-s", pi.session)


def typed_ahead(pi):
    """a message that a person types during a turn carries notifications as well"""
    pi.begin()
    script = Script(pi, "Begin.", [{"text": "Beginning "}, {"hold": "typed"}], [{"text": "Ended."}])
    pi.prompt("Begin.")
    script.last(1)
    push(pi, "The kettle boils.", "-l", "warning")
    pi.ask("steer", message="Another thing.")
    pi.model.release("typed")
    last = script.last(2)
    exactly_once(last, "The kettle boils.")
    exactly_once(last, "Another thing.")
    pi.settled()


def critical_and_typed_ahead(pi):
    """a critical push stops a stream even if a person has typed ahead, and the next request has both texts"""
    pi.begin()
    script = Script(pi, "Count.", [{"text": "One "}, {"hold": "never"}])
    pi.prompt("Count.")
    first = script.last(1)
    in_phase(pi, "streaming")
    pi.ask("steer", message="Faster, please.")
    push(pi, "The roof leaks.", "-l", "critical", "-k", "roof.leak")
    last = script.last(2)
    exactly_once(last, "The roof leaks.")
    exactly_once(last, "Faster, please.")
    until(lambda: pi.model.ended(first["number"]) == "gone", "the first stream was given up")
    pi.settled()


def woken_in_its_terminal(pi):
    """in a terminal, as a person uses it, a critical notification and a message wake pi, and a critical one stops its stream"""
    folder = pi.place.root / "terminal"
    folder.mkdir()
    opened = pi.session
    script = Script(pi, "Good day.", [{"text": "The same to you."}])
    terminal = Terminal(pi.place.root.name, pi.command(), folder, pi.place.env)
    try:
        terminal.shows("fake-1")
        pi.session = until(lambda: next((one["session"] for one in pi.place.ask("status", "--all")["sessions"] if one["cwd"] == str(folder)), None), "it is known")
        terminal.type("Good day.")
        terminal.shows("The same to you.")
        until(lambda: status(pi)["state"] == "idle", "pi is idle")
        push(pi, "The door bell rings.", "-l", "critical", "-k", "door.bell")
        exactly_once(script.last(2), "The door bell rings.")
        until(lambda: status(pi)["state"] == "idle", "pi is idle again")
        submitted = Script(pi, "Open the door.", [{"text": "I go and "}, {"hold": "never"}])
        pi.place.tidings("submit", "-s", pi.session, "Open the door.")
        first = submitted.last(1)
        in_phase(pi, "streaming")
        push(pi, "A flood comes in.", "-l", "critical", "-k", "house.flood")
        exactly_once(submitted.last(2), "A flood comes in.")
        until(lambda: pi.model.ended(first["number"]) == "gone", "the stream was given up")
    except AssertionError as error:
        raise AssertionError(f"{error}\n{terminal.screen()}") from None
    finally:
        terminal.close()
        pi.session = opened


def one_shot(pi):
    """pi -p gets the pending notifications, starts no turn of its own, is not aborted, and ends"""
    pi.begin()
    Script(pi, "Hello.")
    pi.prompt("Hello.")
    pi.settled()
    pi.lines.end()
    pi.lines = None
    push(pi, "It is critical.", "-l", "critical", "-k", "some.thing")
    script = Script(pi, "One question.", [pi.shell(f"{pi.place.command} push -l critical -k other.thing \"Another $((40 + 2)).\"")], [{"text": "An answer."}])
    ran = subprocess.run(pi.command("--continue", "-p", "One question."), cwd=pi.place.project, env=pi.place.env, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "An answer."), (ran.returncode, ran.stdout, ran.stderr)
    assert len(script.requests) == 2
    exactly_once(script.requests[0], "It is critical.")
    exactly_once(script.requests[1], "Another 42.")


def forked(pi):
    """a fork begins with the notifications that were pending, and the parent keeps them too"""
    pi.begin()
    script = Script(pi, "Fork here.")
    pi.prompt("Fork here.")
    pi.settled()
    parent = pi.session
    push(pi, "Before the fork.", "-l", "info")
    pi.ask("clone")
    pi.session = pi.ask("get_state")["sessionId"]
    assert pi.session != parent
    assert pending(pi) == 1, pi.place.ask("pending", "-s", pi.session)
    pi.prompt("Fork here. In the child.")
    pi.settled()
    exactly_once(script.last(2), "Before the fork.")
    pi.session = parent
    assert pending(pi) == 1, status(pi)


def without_tidings(pi):
    """when tidings cannot be opened, pi works as ever, and the log says why"""
    pi.begin()
    pi.lines.end()
    pi.lines = None
    config = pi.place.root / "broken.json"
    config.write_text("{")
    ran = subprocess.run(pi.command("-p", "Anybody there?"), cwd=pi.place.project, env={**pi.place.env, "TIDINGS_CONFIG": str(config)},
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stdout.strip()) == (0, "Done."), (ran.returncode, ran.stdout, ran.stderr)
    assert "tidings is off: TIDINGS_E_INVAL" in pi.place.complaints(), pi.place.complaints()


def transcript_has_no_foreign_words(pi):
    """the data that tidings keeps in the session file never go to the model"""
    leaks = [request["number"] for request in pi.model.requests if '"tidings"' in json.dumps(request["body"].get("messages"))]
    assert not leaks, leaks


def victim(pi):
    return kill_scenario.NodeVictim(pi, "pi", lambda pi: pi.lines and pi.lines.process)


def killed_at_random(pi):
    """pi that is killed at random moments and started again has everything exactly once, and the store's history agrees"""
    kill_scenario.killed_at_random(victim(pi))


def the_record_agrees(pi):
    """every item that the store counts as shown is in the requests, in all sessions"""
    record.compare_all(pi.place, pi.model.requests, hooks=False, without=pi.forged)


def main():
    tap = Tap()
    with Place() as place, ModelServer([]) as model:
        pi = Pi(place, model)
        wanted = sys.argv[1:]
        scenarios = [*node_scenarios.ALL, *pi_wires.ALL, *node_scenarios.WITH_DEATHS, killed_at_random, failed_tool, in_two_processes, dialog, during_compaction, typed_ahead, critical_and_typed_ahead, forked, woken_in_its_terminal,
                     one_shot, without_tidings, transcript_has_no_foreign_words]
        try:
            for scenario in scenarios:
                if scenario.__name__ in wanted if wanted else FULL or scenario in node_scenarios.SHORT:
                    tap.run(scenario, pi)
            tap.run(the_record_agrees, pi)
        finally:
            if pi.lines:
                pi.lines.kill()
            for line in place.complaints().splitlines():
                print(f"# log: {line}")
    return tap.end()


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    sys.exit(main())
