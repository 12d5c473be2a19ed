#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that the agent's transcript settles the deliveries of hooks: with hook calls beside a transcript that the test writes, and with an agent that is
killed at random moments and resumed. TIDINGS_KILLS is the number of times that each agent is killed (12; 4 with a sanitizer)."""
import datetime
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from calls import transcript
from kit import TIDINGS, main, until

KILLS = int(os.environ.get("TIDINGS_KILLS", "4" if os.environ.get("TIDINGS_SANITIZE") else "12"))
MARKER = re.compile(r"\[tidings ([0-9a-z]{1,13})-[0-9a-z]{8}\]")
EVENTS = {"codex": ("UserPromptSubmit", "PostToolUse", "Stop"), "claude": ("UserPromptSubmit", "PostToolUse", "Stop"),
          "gemini": ("BeforeAgent", "AfterTool", "AfterAgent"), "qwen": ("UserPromptSubmit", "PostToolUse", "Stop"), "copilot": ("UserPromptSubmit", "PostToolUse", "Stop")}


RECORDS = {"claude": ({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "c"}]}}, {"type": "assistant"}),
           "codex": ({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c"}}, {"type": "response_item", "payload": {"type": "message", "role": "assistant"}}),
           "qwen": ({"type": "tool_result", "message": {"parts": [{"functionResponse": {"id": "c"}}]}}, {"type": "assistant"}),
           "gemini": ({"id": "1", "type": "gemini", "content": "Well."},), "copilot": ({"type": "assistant.message"},)}


def said(answer):
    return (answer.get("hookSpecificOutput") or answer).get("additionalContext") or answer.get("reason") or ""


def line(host, event, text):
    """Returns the record that each agent writes into its transcript for a hook's text, as far as it matters here."""
    stop = event == EVENTS[host][2]
    if host == "claude":
        return {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text], "hookEvent": event},
                "rendered": [{"content": f"<system-reminder>\n{event} hook additional context: {text}\n</system-reminder>"}]}
    if host == "codex":
        text = f'<hook_prompt hook_run_id="stop:3:/hooks.json">{text}</hook_prompt>' if stop else text
        return {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}}
    if host == "copilot" and event == "PostToolUse":
        return {"type": "tool.execution_complete", "data": {"result": {"content": f'x\n\nTool "ls" succeeded. Additional guidance from postToolUse hooks:\n{text}'}}}
    if host == "copilot":
        return {"type": "user.message", "data": {"content": text} if stop else {"content": "x", "transformedContent": f"x\n\n<system_reminder>\n{text}\n</system_reminder>"}}
    if host == "gemini":
        return {"type": "user", "content": [{"text": text if stop else f"<hook_context>{text}</hook_context>"}]}
    return {"type": "user", "message": {"parts": [{"text": f"<qwen:user-prompt-submit-context>\n{text}\n</qwen:user-prompt-submit-context>"}]}}


class Agent:
    """Calls hooks like one process of an agent, and writes a transcript."""

    def __init__(self, place, host, pid=None):
        self.place, self.host, self.pid = place, host, pid or os.getpid()
        self.path = transcript(place, host)
        if host == "copilot":  # it names its transcript only at the end of a turn
            place.env["COPILOT_HOME"] = os.path.join(place.dir, "copilot")
            self.path = os.path.join(place.env["COPILOT_HOME"], "session-state", "s", "events.jsonl")
            os.makedirs(os.path.dirname(self.path), exist_ok=True)

    def asked(self, event, **fields):
        named = {"timestamp": "2026-01-01T00:00:00Z"} if self.host == "copilot" and event != "Stop" else {"transcript_path": self.path}
        text = json.dumps({"session_id": "s", "hook_event_name": event, "cwd": self.place.work, **named, **fields})
        return text.encode(), ("hook", "--budget", "60s", "--owner", str(self.pid), self.host)

    def call(self, event, **fields):
        text, words = self.asked(event, **fields)
        done = subprocess.run([TIDINGS, *words], input=text, env=self.place.env, stdout=subprocess.PIPE, check=True)
        return said(json.loads(done.stdout))

    def start(self, source="resume"):
        assert not MARKER.search(self.call("SessionStart", source=source))

    def prompt(self):
        return self.call(EVENTS[self.host][0], prompt="x")

    def tool(self):
        return self.call(EVENTS[self.host][1], tool_name="ls", tool_use_id="c", tool_input={}, tool_response="x")

    def answers(self, ago_s=-0.005, **more):
        """Writes the tool's result and the model's answer into the transcript: from now on no record before them can be added."""
        when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=ago_s)
        for record in RECORDS[self.host]:
            self.append(json.dumps({**record, "timestamp": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"), **more}, separators=(",", ":")) + "\n")

    def stop(self):
        self.answers()
        return self.call(EVENTS[self.host][2])

    def write(self, text, event="PostToolUse", whole=True):
        self.append(json.dumps(line(self.host, event, text)) + ("\n" if whole else ""))

    def append(self, entry):
        """Leaves an incomplete line as it is, like the agents."""
        with open(self.path, "ab+") as file:
            size = end = file.seek(0, os.SEEK_END)
            while end and (file.seek(end - 1), file.read(1))[1] != b"\n":
                end -= 1
            if end != size:
                file.truncate(end)
            file.write(entry.encode())


def leased(place):
    return [entry["id"] for entry in place.ok("status", "-s", "s", "--json").json["leased"]]


def deliveries(place):
    return [(entry["outcome"], entry["settled_by"]) for entry in place.ok("history", "-s", "s", "--json").json["deliveries"]]


def told(place, agent, message):
    place.ok("push", "-s", "s", message)
    text = agent.tool()
    assert message in text, text
    return text


def test_next_call(place):
    """a notification that a hook delivered is leased, and is committed at the first call after the transcript has it"""
    for host in EVENTS:
        with type(place)() as own:
            agent = Agent(own, host)
            agent.start("startup")
            text = told(own, agent, "First thing.")
            marker = MARKER.search(text)
            assert text.endswith(marker[0]) and len(marker[0]) <= 33, text
            assert leased(own) == [str(int(marker[1], 36))] and deliveries(own) == [("leased", None)]
            open(agent.path, "w", encoding="utf-8").close()
            assert agent.tool() == "" and deliveries(own) == [("leased", None)], "it may still be on its way"
            agent.write(text)
            assert agent.tool() == "" and deliveries(own) == [("committed", "host")] and leased(own) == []


def test_not_readable(place):
    """if the transcript cannot be read, a delivery is committed at the next call"""
    folder, closed = transcript(place, "codex", "folder"), transcript(place, "codex", "closed")
    os.mkdir(folder)
    os.mkfifo(closed)
    for path in ("", "/no/such/sessions/2026/rollout-s.jsonl", folder, closed):
        with type(place)() as own:
            agent = Agent(own, "codex")
            agent.path = path
            told(own, agent, "First thing.")
            assert deliveries(own) == [("leased", None)]
            assert agent.tool() == "" and deliveries(own) == [("committed", "host")], path


def test_what_is_no_proof(place):
    """a marker in a copy of the hook's output, in a tool's output, in a line that is not whole, or of another delivery proves nothing"""
    agent = Agent(place, "claude")
    text = told(place, agent, "First thing.")
    marker = MARKER.search(text)[0]
    with open(agent.path, "w", encoding="utf-8") as file:
        for content in (json.dumps({"additionalContext": text}), f"grep says {marker}", f"{text} and more", f"{text}\nand more", text.replace("]", "0]"),
                        f"\n\n[tidings {'z' * 40}]", "\n\n[tidings ]", "\n\n[tidings "):
            file.write(json.dumps({"content": content}) + "\n")
    agent.write(text, whole=False)
    assert agent.tool() == "" and deliveries(place) == [("leased", None)]
    agent.write(text)
    agent.tool()
    assert deliveries(place) == [("committed", "host")]


def test_hooks_own_records(place):
    """the records that GitHub Copilot CLI writes of the hook's call itself are no proof, because a resumed session does not have them"""
    agent = Agent(place, "copilot")
    text = told(place, agent, "First thing.")
    agent.append(json.dumps({"type": "assistant.message", "data": {"content": "x" * 300000}}) + "\n")
    for kind, data in (("hook.end", {"output": {"additionalContext": text}}), ("hook.start", {"input": {"prompt": text}})):
        agent.append(json.dumps({"type": kind, "data": data}, separators=(",", ":")) + "\n")
    assert agent.tool() == "" and deliveries(place) == [("leased", None)]
    agent.write(text)
    agent.tool()
    assert deliveries(place) == [("committed", "host")]


def test_dropped(place):
    """a notification that the agent has dropped goes out again when its transcript has a later answer of the model, and not before"""
    agent = Agent(place, "codex")
    with type(place)() as alone, type(place)() as other:  # their transcripts have no delivery, but the paragraph of the session's start
        others = [Agent(alone, "gemini"), Agent(other, "claude")]
        for one in others:
            one.write("What the blocks are.")
            told(one.place, one, "Dropped thing.")
        agent.write(told(place, agent, "First thing."))
        told(place, agent, "Dropped thing.")
        assert agent.prompt() == "" and deliveries(place) == [("committed", "host"), ("leased", None)], "it may still be on its way"
        agent.answers()
        text = agent.tool()
        assert "Dropped thing." in text and "First thing." not in text, text
        for one in others:
            one.answers()
            assert "Dropped thing." in one.prompt() and deliveries(one.place)[0] == ("rolled_back", "host"), deliveries(one.place)


def test_dropped_after_a_long_quiet(place):
    """a notification that the agent has dropped goes out again although the last answer of a hook is far before it in the transcript"""
    for host in EVENTS:
        with type(place)() as own:
            agent = Agent(own, host)
            agent.write(told(own, agent, "First thing."))
            for _ in range(10):
                agent.answers(900, more="x" * 30000)
            told(own, agent, "Dropped thing.")
            agent.answers()
            assert "Dropped thing." in agent.prompt(), (host, deliveries(own))


def test_without_call_ids(place):
    """Gemini CLI and GitHub Copilot CLI do not name the tool call: a notification that they dropped goes out again at a prompt or a turn's end after an answer of the model, not between results"""
    for host in ("gemini", "copilot"):
        for last in ("prompt", "stop"):
            with type(place)() as own:
                agent = Agent(own, host)
                agent.write(told(own, agent, "First thing."))
                told(own, agent, "Dropped thing.")
                agent.answers()
                assert agent.tool() == "" and deliveries(own)[-1] == ("leased", None), (host, "it may be on the result of another tool that still runs")
                if last == "stop":
                    agent.stop()
                    assert deliveries(own)[-1] == ("rolled_back", "host"), (host, deliveries(own))
                assert "Dropped thing." in agent.prompt(), (host, last)


def test_resumed(place):
    """when a session is resumed, the first call commits what its transcript has, and the rest goes out again"""
    for number, first in enumerate(("start", "tool")):
        with type(place)() as own:
            dead = own.start(command=["sleep", "600"])
            agent = Agent(own, "gemini", dead.pid)
            agent.start("startup")
            open(agent.path, "w", encoding="utf-8").close()
            text = told(own, agent, "Written thing.")
            told(own, agent, "Lost thing.")
            agent.write(text)
            dead.kill()
            dead.wait()
            agent = Agent(own, "gemini")
            if not number:
                agent.start()
            text = agent.tool() if number else agent.prompt()
            assert "Lost thing." in text and "Written thing." not in text, (first, text)
            assert deliveries(own)[:2] == [("committed", "resume"), ("rolled_back", "resume")], deliveries(own)


def test_replaced(place):
    """Gemini CLI has dropped a notification if its transcript has it before a line that writes all messages again, but not in that line"""
    agent = Agent(place, "gemini")
    open(agent.path, "w", encoding="utf-8").close()
    first, second = told(place, agent, "First thing."), told(place, agent, "Dropped thing.")
    agent.write(first)
    agent.write(second)
    with open(agent.path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"$set": {"messages": [line("gemini", "AfterTool", first)]}}, separators=(",", ":")) + "\n")
    agent.answers()
    text = agent.prompt()
    assert "Dropped thing." in text and "First thing." not in text, text


def test_other_file(place):
    """Gemini CLI names a new file when it resumes a session; the old file, whose name ends in the same way, counts"""
    dead = place.start(command=["sleep", "600"])
    agent = Agent(place, "gemini", dead.pid)
    agent.path = os.path.join(place.dir, "tmp/x/chats/session-2026-11-22T08-29-efc3acfb.jsonl")
    open(agent.path, "w", encoding="utf-8").close()
    agent.start("startup")
    agent.write(told(place, agent, "Written thing."))
    dead.kill()
    dead.wait()
    agent = Agent(place, "gemini")
    agent.path = os.path.join(place.dir, "tmp/x/chats/session-2026-11-22T08-30-efc3acfb.jsonl")
    open(agent.path, "w", encoding="utf-8").close()
    agent.start()
    assert deliveries(place) == [("committed", "resume")]


# -- an agent that is killed ---------------------------------------------------------------------------------------------------------------------------------------


def live(agent, seed):
    """Makes turns without end, in a process of its own. Like the agents, it writes a hook's answer into the transcript a moment later."""
    agent.pid = os.getpid()
    agent.start()
    chance = random.Random(seed)
    while True:
        for event, step in ((0, agent.prompt), (1, agent.tool), (1, agent.tool), (2, agent.stop)):
            text = step()
            time.sleep(chance.random() * 0.02)
            if text:
                agent.write(text, EVENTS[agent.host][event], chance.random() < 0.9)


def forked(place, host, seed):
    """Forks into a process group of its own, which exists before this returns and before the child runs anything."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            live(Agent(place, host), seed)
        finally:
            os._exit(1)
    os.setpgid(pid, pid)
    return pid


def whole(entry):
    try:
        return bool(json.loads(entry))
    except ValueError:
        return False


def written(agent):
    with open(agent.path, encoding="utf-8") as file:
        return [entry for entry in file.read().split("\n")[:-1] if whole(entry)]


def killed(place, host):
    chance = random.Random(11)
    agent, count = Agent(place, host), 0
    open(agent.path, "w", encoding="utf-8").close()
    for seed in range(KILLS):
        pid = forked(place, host, seed)
        for _ in range(3):
            count += 1
            place.ok("push" if count % 3 else "submit", "-s", "s", f"Thing number {count}.")
        time.sleep(chance.random() * 0.4)
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    agent.start()

    def times():
        return {number: len([entry for entry in written(agent) if f"Thing number {number}." in entry]) for number in range(1, count + 1)}

    def all_there():
        """Calls hooks until the notification has come, because a call on a busy machine may run out of time."""
        for step, event in ((agent.prompt, 0), (agent.tool, 1), *((agent.stop, 2) for _ in range(count))):
            text = step()
            if not text and event == 2:
                break
            if text:
                agent.write(text, EVENTS[host][event])
        return all(times().values())

    until(all_there, "all of it")
    assert all(there == 1 for there in times().values()), times()
    assert not place.pending() and not place.ok("status", "-s", "s", "--json").json["queued"][1:]


def test_killed_codex(place):
    """Codex is killed at random moments and resumed: nothing is lost, and nothing is there twice"""
    killed(place, "codex")


def test_killed_claude(place):
    """Claude Code is killed: the same"""
    killed(place, "claude")


def test_killed_gemini(place):
    """Gemini CLI is killed: the same"""
    killed(place, "gemini")


if __name__ == "__main__":
    sys.exit(main(globals()))
