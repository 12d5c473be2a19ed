#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests programs that call the hooks which setup has written for another agent: VS Code and Cursor, by their documentation (recorded/vscode.jsonl, recorded/cursor.jsonl), and
programs that tidings does not know. TIDINGS_CALLS is the number of calls that test_transcripts makes (100; 1000 in the deep form)."""
import datetime
import json
import os
import random
import re
import signal
import subprocess
import sys

from calls import log
from kit import end, main, until

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = int(os.environ.get("TIDINGS_CALLS", "100"))
MARKER = re.compile(r"\n\n\[tidings [0-9a-z]+\]$")
READS = {"vscode": ("SessionStart", "PostToolUse"), "cursor": ("PostToolUse",)}
TITLES = {"vscode": "VS Code", "cursor": "Cursor"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def documented(place, name):
    with open(os.path.join(HERE, "recorded", f"{name}.jsonl"), encoding="utf-8") as file:
        for line in file:
            yield line.replace("{work}", place.work).replace("{place}", place.dir).replace("{session}", "s").replace("{now}", now())


def hook(place, text, host="claude", owner=None):
    result = place.ok("hook", "--budget", "60s", "--owner", str(owner or os.getpid()), host, stdin=text)
    assert not result.err, result
    return result.json


def said(answer):
    """Returns what the model reads: in VS Code the additional context, in Cursor a member of its own."""
    if not answer:
        return ""
    if "additional_context" in answer:
        assert set(answer) == {"additional_context"}, answer
        return answer["additional_context"]
    assert set(answer) == {"hookSpecificOutput"} and set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}, answer
    return answer["hookSpecificOutput"]["additionalContext"]


def deliveries(place):
    return place.ok("history", "-s", "s", "-n", "10000", "--json").json["deliveries"]


def counted(place):
    """Returns the notifications that the store counts as delivered."""
    return [item["message"] for delivery in deliveries(place) if delivery["outcome"] == "committed" for item in delivery["items"] if item["outcome"] == "delivered"]


def test_documented(place):
    """VS Code and Cursor get each notification once, in answers that the model reads by their documentation; the session has their name"""
    for name, reads in READS.items():
        with type(place)() as own:
            told = []
            for number, text in enumerate(documented(own, name)):
                event = json.loads(text)["hook_event_name"]
                own.ok("push", "-s", "s", f"News number {number}.")
                answer = hook(own, text)
                assert bool(answer) == (event in reads), (name, event, answer)
                assert ("additional_context" in answer) == (name == "cursor" and bool(answer)), answer
                told.append(said(answer))
                assert own.ok("status", "-s", "s", "--json").json["attachment"]["host"] == TITLES[name]
            everything = "\n".join(told)
            for number in range(4):
                assert everything.count(f"News number {number}.") == 1, (name, everything)
            assert own.messages() == ["News number 4."], "the last tool result was before it"
            assert all(entry["outcome"] == "committed" for entry in deliveries(own)), deliveries(own)
            assert log(own) == []


def test_killed_before_the_answer(place):
    """what a hook had leased when it was killed, before it could answer, was not read: VS Code's next call does not count it as delivered, and a later one delivers it"""
    calls = list(documented(place, "vscode"))
    hook(place, calls[0])
    hook(place, calls[1])
    place.ok("push", "-s", "s", "The heron lands.")
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while os.write(write, b" " * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(write, True)
    killed = place.start("hook", "--budget", "60s", "--owner", str(os.getpid()), "claude", stdin=subprocess.PIPE, stdout=write)
    killed.stdin.write(calls[2].encode())
    killed.stdin.close()
    until(lambda: place.ok("status", "-s", "s", "--json").json["leased"], "the hook leases")
    end(killed, signal.SIGKILL)
    os.close(write)
    os.close(read)
    assert hook(place, calls[2].replace("call_1", "call_2")) == {} and counted(place) == [], "another hook may be about to answer"
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
    answer = hook(place, json.dumps(json.loads(calls[2]) | {"timestamp": later.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "tool_use_id": "call_3"}))
    assert "The heron lands." in said(answer), answer
    hook(place, json.dumps(json.loads(calls[2]) | {"timestamp": (later + datetime.timedelta(seconds=20)).isoformat(timespec="milliseconds").replace("+00:00", "Z"), "tool_use_id": "call_4"}))
    assert counted(place) == ["The heron lands."] and log(place) == []
    assert not [name for _, _, names in os.walk(place.dir) for name in names if ".answered-" in name], "the notes of settled answers are removed"


def test_queue_stays(place):
    """the end of a turn of VS Code starts no turn: the queued message stays queued"""
    calls = list(documented(place, "vscode"))
    hook(place, calls[0])
    hook(place, calls[1])
    place.ok("submit", "-s", "s", "Do that.")
    assert hook(place, calls[-1]) == {}
    status = place.ok("status", "-s", "s", "--json").json
    assert status["state"] == "idle" and len(status["queued"]) == 1, status


def unknown(place):
    """Returns calls that match no row of the table."""
    common = {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "t", "tool_input": {}, "tool_response": "x", "cwd": place.work}
    yield "claude", common
    yield "claude", {**common, "transcript_path": f"{place.dir}/factory/sessions/s.jsonl"}
    yield "claude", {**common, "transcript_path": f"{place.dir}/projects/x/other.jsonl"}
    yield "claude", {**common, "transcript_path": 7}
    yield "claude", {"hookEventName": "postToolUse", "sessionId": "s", "cwd": place.work}
    yield "claude", {}
    yield "copilot", common
    yield "copilot", {**common, "transcript_path": f"{place.dir}/t.jsonl"}
    for host in ("codex", "gemini", "qwen"):
        yield host, {**common, "transcript_path": f"{place.dir}/t.jsonl"}


def test_unknown(place):
    """an unknown caller gets an empty object: no store is made, there is no session and no line in the log; doctor lists it"""
    file_of_callers = os.path.join(place.logs, "unknown-callers")
    for host, fields in unknown(place):
        for event in ("SessionStart", "UserPromptSubmit", "BeforeAgent", "PostToolUse", "Stop"):
            named = {**fields, "hook_event_name": event} if "hook_event_name" in fields else fields
            assert hook(place, json.dumps(named), host) == {}, (host, named)
    assert os.listdir(place.store) == ["logs"] and log(place) == []
    before = os.stat(file_of_callers)
    assert before.st_mode & 0o777 == 0o600
    for host, fields in unknown(place):
        assert hook(place, json.dumps({**fields, "session_id": "another"}), host) == {}
    assert os.stat(file_of_callers).st_mtime_ns == before.st_mtime_ns, "what is known to be unknown is not written again"
    with open(file_of_callers, encoding="utf-8") as file:
        noted = [json.loads(line) for line in file]
    assert [row["host"] for row in noted] == ["claude", "copilot", "codex", "gemini", "qwen"] and all(row["event"] == "SessionStart" and "tool_response" in row["fields"] for row in noted), noted
    assert noted[2]["transcript"] == f"{place.dir}/t.jsonl", noted
    found = [finding for finding in place.run("doctor", "--json").json if "does not know" in finding["text"]]
    assert sorted(finding["topic"] for finding in found) == ["Claude Code", "Codex CLI", "Gemini CLI", "GitHub Copilot CLI", "Qwen Code"], found
    program = os.path.basename(os.path.realpath(sys.executable))
    assert all(program in finding["text"] and file_of_callers in finding["remedy"] for finding in found), found
    os.remove(file_of_callers)
    assert not [finding for finding in place.run("doctor", "--json").json if "does not know" in finding["text"]]


def test_unknown_are_few(place):
    """the file of unknown callers that doctor reads stays small, another version replaces it, and bad content does no harm"""
    file_of_callers = os.path.join(place.logs, "unknown-callers")
    os.makedirs(os.path.dirname(file_of_callers), exist_ok=True)
    for text, size in (("x" * 16384, 16384), ("x" * 99999, 99999)):
        with open(file_of_callers, "w", encoding="utf-8") as file:
            file.write(text)
        assert hook(place, "{}") == {}
        if size > 16384:
            assert os.path.getsize(file_of_callers) == size, "too large to be ours"
    with open(file_of_callers, "w", encoding="utf-8") as file:
        file.write('{"version":"0.0.1","host":"claude","program":"old"}\n')
    assert hook(place, json.dumps({"x" * 5000: 1, **{f"{'y' * 300}{number}": 1 for number in range(500)}})) == {}
    with open(file_of_callers, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) == 1 and "old" not in lines[0] and len(lines[0]) < 12000, lines
    with open(file_of_callers, "a", encoding="utf-8") as file:
        file.write('not JSON\n[]\n{"version":7}\n\n')
    assert len([finding for finding in place.run("doctor", "--json").json if "does not know" in finding["text"]]) == 1
    os.remove(file_of_callers)
    os.mkdir(file_of_callers)
    assert hook(place, "{}") == {} and log(place) == []


def test_waiter(place):
    """the hook in the background ends at once for a caller that it does not wake"""
    place.env["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    for text in (list(documented(place, "vscode"))[1], list(documented(place, "cursor"))[1], "{}"):
        done = place.ok("hook", "--owner", str(os.getpid()), "--wait", "claude", stdin=text)
        assert done.out == b"" and done.err == b"", done


def test_two_hooks(place):
    """VS Code calls the hooks of Claude Code and those of GitHub Copilot CLI for the same event, at the same time: each notification is in exactly one answer"""
    told = []
    calls = list(documented(place, "vscode"))
    events = [calls[0], calls[1], *[calls[2].replace("call_1", f"call_{number}") for number in range(40)]]
    for number, text in enumerate(events):
        place.ok("push", "-s", "s", f"News number {number}.")
        call = json.dumps({**json.loads(text), "timestamp": now()})
        running = [place.start("hook", "--budget", "60s", "--owner", str(os.getpid()), host, stdin=subprocess.PIPE) for host in ("claude", "copilot")]
        for process in running:
            process.stdin.write(call.encode())
            process.stdin.close()
        told += [said(json.loads(process.stdout.read())) for process in running]
        assert [process.wait() for process in running] == [0, 0]
    everything = "\n".join(told)
    for number in range(len(events)):
        assert everything.count(f"News number {number}.") == 1, (number, everything)
    assert len(place.ok("status", "--all", "--json").json["sessions"]) == 1


class Transcript:
    """The content of the transcript that VS Code names, at each call."""

    def __init__(self, place, kind):
        self.kind, self.lines = kind, []
        self.path = f"{place.dir}/transcripts/s.jsonl"
        os.makedirs(os.path.dirname(self.path), exist_ok=True)

    def before(self, text):
        """`text`: the text that the model got at the call before."""
        if self.kind == "missing":
            return
        if text and (self.kind != "late" or len(self.lines) % 7 == 6):
            self.lines.append(json.dumps({"type": "tool.execution_complete", "data": {"result": text.replace("[tidings ", "[other ") if self.kind == "foreign" else text}}))
        self.lines.append(json.dumps({"type": "assistant.turn_start", "data": {"turnId": str(len(self.lines))}, "id": "x", "parentId": None}))
        if self.kind == "truncated" and len(self.lines) > 20:
            self.lines = self.lines[:2]
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + ("" if self.kind == "truncated" else "\n"))


def test_transcripts(place):
    """with a foreign, missing, growing, late or truncated transcript, and one or many processes, no notification is shown twice, and none counts as delivered that the model did not get"""
    chance = random.Random(7)
    for kind in ("foreign", "missing", "growing", "late", "truncated"):
        with type(place)() as own:
            owners = [own.start(command=["sleep", "3600"]) for _ in range(4)]
            transcript, got, count, text = Transcript(own, kind), [], 0, ""
            calls = [json.loads(call) | ({} if kind == "missing" else {"transcript_path": transcript.path}) for call in documented(own, "vscode")]
            if kind == "missing":
                for call in calls:
                    del call["transcript_path"]
            for number in range(CALLS // 5):
                if chance.random() < 0.5:
                    count += 1
                    own.ok("push", "-s", "s", f"News number {count}.")
                call = calls[1 if number % 9 == 0 else 4 if number % 9 == 8 else 2]
                transcript.before(text)
                dies = chance.random() < 0.02
                owner = chance.choice(owners)
                text = said(hook(own, json.dumps({**call, "timestamp": now(), "tool_use_id": f"c{number}"}), owner=owner.pid))
                assert not text or call["hook_event_name"] == "PostToolUse", (kind, call, text)
                got += re.findall(r"News number (\d+)\.", text)
                if dies:
                    end(owner, signal.SIGKILL)
                    owners[owners.index(owner)] = own.start(command=["sleep", "3600"])
            left = re.findall(r"News number (\d+)\.", "\n".join(own.messages()))
            assert sorted(map(int, got + left)) == list(range(1, count + 1)), (kind, got, left)
            shown = re.findall(r"News number (\d+)\.", "\n".join(counted(own)))
            assert set(shown) <= set(got) and len(set(shown)) == len(shown), (kind, shown, got)
            assert all("has ended between two calls" in line for line in log(own)), log(own)


if __name__ == "__main__":
    sys.exit(main(globals()))
