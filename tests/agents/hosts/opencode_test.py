#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""opencode_test.py: tests opencode from npm, with the plugin of this build, against a scripted model. Most scenarios use one `opencode serve`, because
opencode takes seconds to start. Prints TAP."""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading
import urllib.request

import kill_scenario
import node_scenarios
import opencode_wires
import record
from model.server import ModelServer
from node_hosts import FULL, PATIENCE, Place, Tap, installed_host, skip, until
from node_scenarios import Script, exactly_once, in_phase, never, pending, push, status, wait_for_file

HERE = pathlib.Path(__file__).resolve().parent


def program(name="opencode"):
    if platform.machine() != "x86_64":
        skip(f"the pinned {name} is for x86_64, and this is {platform.machine()}")
    package = {"opencode": "opencode-linux-x64", "kilo": "@kilocode/cli-linux-x64"}[name]
    return installed_host(name) / "node_modules" / package / "bin" / name


def configure(place, model, name="opencode"):
    """Writes a configuration with a provider and an MCP server."""
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": model.url + "/v1", "apiKey": "none"},
                "models": {"fake-1": {"name": "Fake", "tool_call": True, "limit": {"context": 100000, "output": 1000}}}}
    config = {"autoupdate": False, "share": "disabled", "lsp": False, "formatter": False, "snapshot": False, "model": "fake/fake-1",
              "small_model": "fake/fake-1", "provider": {"fake": provider}, "permission": {"bash": {"*": "allow", "true asked*": "ask"}},
              "mcp": {"notes": {"type": "local", "command": [sys.executable, str(HERE / "mcp_server.py")]}}}
    folder = place.home / ".config" / name
    folder.mkdir(parents=True)
    (folder / f"{name}.json").write_text(json.dumps(config))
    settings = {"DISABLE_MODELS_FETCH": "1", "EXPERIMENTAL_BACKGROUND_SUBAGENTS": "true", "DISABLE_LSP_DOWNLOAD": "1"}
    place.env |= {f"{name.upper()}_{key}": value for key, value in settings.items()} | {"PATH": f"{program(name).parent}:{place.env['PATH']}"}


class Opencode:
    name = title = "opencode"
    forged = None  # the session whose transcript a test has written
    reports_use = 2  # opencode reports the use after the tool has run
    configuration = "opencode.json", '{"share": "disabled"}\n', "opencode reads it when it starts again"

    def __init__(self, place, model):
        self.place, self.model = place, model
        self.program = program(self.name)
        self.session = self.server = self.url = None
        configure(place, model, self.name)
        self.connect()

    def connect(self):
        self.place.tidings("setup", self.name)

    def start(self):
        with open(self.place.root / "opencode.log", "ab") as log:
            self.server = subprocess.Popen([self.program, "serve", "--port", "0", "--print-logs"], cwd=self.place.project, env=self.place.env,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
        for line in self.server.stdout:
            if found := re.search(r"http://\S+", line):
                self.url = found[0]
                break
        threading.Thread(target=self.server.stdout.read, daemon=True).start()
        self.ask("GET", "/session")

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def begin(self):
        if self.server is None:
            self.start()
        self.session = self.ask("POST", "/session", {})["id"]
        until(lambda: self.session in self.place.tidings("status", "--names"), "tidings knows the session")

    def prompt(self, text, **more):
        self.ask("POST", f"/session/{self.session}/prompt_async", {"parts": [{"type": "text", "text": text}], **more})
        until(lambda: status(self)["state"] != "idle" or self.answered(text), "the turn has begun")

    def answered(self, text):
        messages = self.messages()
        prompts = [number for number, message in enumerate(messages) if any(part.get("text") == text for part in message["parts"])]
        return prompts and len(messages) > prompts[-1] + 1 and messages[-1]["info"].get("time", {}).get("completed")

    def messages(self):
        return self.ask("GET", f"/session/{self.session}/message")

    def settled(self):
        until(lambda: status(self)["state"] == "idle" and self.session not in self.ask("GET", "/session/status"), "opencode is idle")

    def stop(self):
        self.ask("POST", f"/session/{self.session}/abort")

    def kill(self):
        os.killpg(self.server.pid, 9)
        self.server.wait()

    def restart(self, delivery=None):
        self.start()
        if delivery:
            part = self.messages()[0]["parts"][0]
            part["metadata"] = {"tidings": {"delivery": delivery}}
            self.ask("PATCH", f"/session/{self.session}/message/{part['messageID']}/part/{part['id']}", part)

    def shell(self, command):
        return {"call": "bash", "arguments": {"command": command, "description": "Does it", "timeout": 600000}}

    def run(self, text):
        return f"{self.program} run '{text}'"

    def write(self, path, content):
        return {"call": "write", "arguments": {"filePath": str(path), "content": content}}


def failed_tool(opencode):
    """a notification that comes before a tool fails is in the tool's error, and is still there in later requests"""
    opencode.begin()
    missing = {"call": "read", "arguments": {"filePath": str(opencode.place.project / "missing")}}
    script = Script(opencode, "Read it.", [{"text": "Reading "}, {"hold": "read"}, missing], [opencode.shell("true")], [{"text": "It is not there."}])
    opencode.prompt("Read it.")
    script.last(1)
    in_phase(opencode, "streaming")
    push(opencode, "The cable is out.", "-l", "error")
    opencode.model.release("read")
    opencode.settled()
    assert len(script.requests) == 3
    result = script.requests[1]["items"][-1]
    assert result["role"] == "tool" and "File not found" in result["text"] and "The cable is out." in result["text"], result
    exactly_once(script.requests[2], "The cable is out.")
    assert pending(opencode) == 0


def mcp_result(opencode):
    """a notification is in the result of an MCP server's tool, also in a large one"""
    opencode.begin()
    script = Script(opencode, "Take notes.", [{"text": "Taking "}, {"hold": "notes"}, {"call": "notes_take", "arguments": {"lines": 1}}],
                    [{"text": "More "}, {"hold": "more notes"}, {"call": "notes_take", "arguments": {"lines": 5000}}], [{"text": "Taken."}])
    opencode.prompt("Take notes.")
    for number, gate in enumerate(["notes", "more notes"], 1):
        script.last(number)
        in_phase(opencode, "streaming")
        push(opencode, f"Note number {number} of the day.", "-l", "error")
        opencode.model.release(gate)
    opencode.settled()
    for number in (1, 2):
        result = script.requests[number]["items"][-1]
        assert result["role"] == "tool" and f"Note number {number} of the day." in result["text"] and "line 1 of" in result["text"], result["text"][:600]
        exactly_once(script.requests[2], f"Note number {number} of the day.")


def own_words_stay(opencode):
    """pending notifications come with a prompt, in a part that is not shown as the person's words"""
    opencode.begin()
    push(opencode, "The tests are red.", "-l", "error")
    Script(opencode, "My own words.")
    opencode.prompt("My own words.")
    opencode.settled()
    parts = opencode.messages()[0]["parts"]
    assert [part["text"] for part in parts if not part.get("synthetic")] == ["My own words."], parts
    assert "The tests are red." in parts[0]["text"] and parts[0]["synthetic"], parts


def person_sees_why(opencode):
    """the notifications for which tidings starts a turn are shown to the person too"""
    opencode.begin()
    script = Script(opencode, "Be calm.")
    opencode.prompt("Be calm.")
    opencode.settled()
    push(opencode, "The plant is dry.", "-l", "critical", "-k", "plant.dry")
    exactly_once(script.last(2), "The plant is dry.")
    opencode.settled()
    prompted = [message for message in opencode.messages() if message["info"]["role"] == "user"][-1]
    seen = [part["text"] for part in prompted["parts"] if not part.get("synthetic")]
    assert len(seen) == 2 and "The plant is dry." in seen[0] and seen[1].startswith("Critical notification (plant.dry)"), prompted["parts"]


def agent_stays(opencode):
    """a turn that tidings starts goes to the agent that the person has chosen"""
    opencode.begin()
    script = Script(opencode, "Make a plan.")
    opencode.prompt("Make a plan.", agent="plan")
    opencode.settled()
    push(opencode, "The plan is stale.", "-l", "critical", "-k", "plan.stale")
    exactly_once(script.last(2), "The plan is stale.")
    opencode.settled()
    agents = [message["info"]["agent"] for message in opencode.messages() if message["info"]["role"] == "user"]
    assert agents == ["plan", "plan"], agents


def subagent(opencode):
    """a subagent's edits are not reported to the session that a person sees; notifications that come meanwhile are for that session"""
    opencode.begin()
    file, go, started = (opencode.place.project / name for name in ("delegated.txt", "delegated-go", "delegated-started"))
    script = Script(opencode, "Delegate it.", [{"call": "task", "arguments": {"description": "A part", "prompt": "The part of it.", "subagent_type": "general"}}],
                    [{"text": "All done."}])
    inner = {"prompt": "The part of it.",
             "answers": [[opencode.write(file, "text\n")], [opencode.shell(f"touch '{started}'; {wait_for_file(go)}")], [{"text": "My part is done."}]]}
    opencode.model.replace([*opencode.model.script.rules, inner])
    opencode.prompt("Delegate it.")
    until(started.exists, "the subagent's tool runs")
    own = opencode.place.ask("pending", "-s", opencode.session)["items"]
    assert [item for item in own if item.get("caused_by") and "delegated.txt" in item["message"]], own
    push(opencode, "For whoever asked.", "-l", "error")
    assert json.loads(opencode.place.tidings("status", "--json"))["session"] == opencode.session, "the subagent's session is found by its folder"
    go.touch()
    opencode.settled()
    last = script.last(2)
    exactly_once(last, "For whoever asked.")
    assert last["items"][-1]["role"] == "tool" and "My part is done." in last["items"][-1]["text"], last["items"][-1]
    never(last, "`delegated.txt`")


def one_shot(opencode):
    """opencode run gets the pending notifications, starts no turn of its own, is not aborted, and ends"""
    opencode.begin()
    Script(opencode, "Good day.")
    opencode.prompt("Good day.")
    opencode.settled()
    opencode.kill()
    opencode.server = None
    push(opencode, "It is critical.", "-l", "critical", "-k", "some.thing")
    script = Script(opencode, "One question.", [opencode.shell(f"{opencode.place.command} push -l critical -k other.thing \"Another $((40 + 2)).\"")],
                    [{"text": "An answer."}])
    ran = subprocess.run([opencode.program, "run", "--session", opencode.session, "One question."], cwd=opencode.place.project, env=opencode.place.env,
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * PATIENCE, check=False)
    assert ran.returncode == 0 and "An answer." in ran.stdout, (ran.returncode, ran.stdout, ran.stderr)
    assert len(script.requests) == 2, [request["items"][-1] for request in script.requests]
    never_before = script.requests[0]
    exactly_once(never_before, "It is critical.")
    never(never_before, "Another 42.")
    exactly_once(script.requests[1], "Another 42.")


def victim(opencode):
    return kill_scenario.NodeVictim(opencode, "opencode", lambda opencode: opencode.server)


def killed_at_random(opencode):
    """opencode that is killed at random moments and started again has everything exactly once, and the store's history agrees"""
    kill_scenario.killed_at_random(victim(opencode))


def the_record_agrees(opencode):
    """every item that the store counts as shown is in the requests, in all sessions"""
    record.compare_all(opencode.place, opencode.model.requests, hooks=False, without=opencode.forged)


def main(agent=Opencode):
    tap = Tap()
    with Place() as place, ModelServer([]) as model:
        opencode = agent(place, model)
        wanted = sys.argv[1:]
        own = [failed_tool, mcp_result, own_words_stay, person_sees_why, agent_stays, subagent]
        try:
            for scenario in [*node_scenarios.ALL, *own, *opencode_wires.ALL, *node_scenarios.WITH_DEATHS, killed_at_random, one_shot]:
                if scenario.__name__ in wanted if wanted else FULL or scenario in node_scenarios.SHORT - {node_scenarios.killed_mid_turn}:  # a start takes 5 s of CPU
                                                                                                                                            # time
                    tap.run(scenario, opencode)
            tap.run(the_record_agrees, opencode)
        finally:
            if opencode.server and opencode.server.poll() is None:
                opencode.kill()
            for line in place.complaints().splitlines():
                print(f"# log: {line}")
            if tap.failures and os.environ.get("KEEP"):
                subprocess.run(["cp", place.root / "opencode.log", os.environ["KEEP"]], check=False)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
