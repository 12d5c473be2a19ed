# SPDX-License-Identifier: MIT
"""calls.py: makes hook calls like the agents, and reads their answers."""
import contextlib
import fcntl
import json
import os
import re
import struct

HOSTS = {"codex": ("UserPromptSubmit", "PostToolUse", "Stop", {"decision": "block"}), "claude": ("UserPromptSubmit", "PostToolUse", "Stop", None),
         "gemini": ("BeforeAgent", "AfterTool", "AfterAgent", {"decision": "deny"}), "qwen": ("UserPromptSubmit", "PostToolUse", "Stop", {"decision": "block"}),
         "copilot": ("UserPromptSubmit", "PostToolUse", "Stop", {"decision": "block"})}
PARAGRAPH = """Lists that begin with "While you worked (not from the user)" report
what happened outside while you were working: files that changed, background
tasks that finished. Consider them when deciding your next action."""
TRANSCRIPTS = {"claude": "projects/x/{}.jsonl", "codex": "sessions/2026/01/01/rollout-2026-01-01T00-00-00-{}.jsonl", "gemini": "tmp/x/chats/session-2026-01-01T00-00-{}.jsonl",
               "qwen": "projects/x/chats/{}.jsonl", "copilot": "session-state/{}/events.jsonl"}
ALL_FIELDS = {"permission_mode": "yolo", "timestamp": "2026-01-01T00:00:00Z", "a_new_field": {"deep": [1, None]}}


def transcript(place, host, session="s"):
    """Returns the path at which the agent would keep the session, and makes its folder."""
    path = os.path.join(place.dir, TRANSCRIPTS[host].format(session))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def put_command(place, name, script):
    """Puts a shell script into PATH as a command of the agent."""
    path = os.path.join(place.dir, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)
    place.env["PATH"] = f"{place.dir}:{place.env['PATH']}"


def call(place, host, event, session="s", words=(), raw=None, **fields):
    """Makes a hook call and returns the answer, which must be one JSON object."""
    own = {"transcript_path": model_has_answered(place) if host == "gemini" else transcript(place, host, session)}
    text = raw if raw is not None else json.dumps({"session_id": session, "hook_event_name": event, "cwd": place.work, **ALL_FIELDS, **own, **fields})
    result = place.ok("hook", "--budget", "60s", "--owner", str(os.getpid()), *words, host, stdin=text)
    assert not result.err, result
    answer = result.json
    assert isinstance(answer, dict), result
    if host == "gemini":
        handed_out(place, answer)
    return as_others(host, event, answer)


def as_others(host, event, answer):
    """Returns the context. GitHub Copilot CLI reads it at the top level of the answer, the others in a member."""
    assert host != "copilot" or "hookSpecificOutput" not in answer, answer
    if host != "copilot" or "additionalContext" not in answer:
        return answer
    assert set(answer) == {"additionalContext"}, answer
    return {"hookSpecificOutput": {"hookEventName": event, **answer}}


HANDED_OUT = {}  # by place: the records that Gemini CLI writes into its transcript for answers of hooks; an answer without a record is delivered again after the
                 # model's answer


def handed_out(place, answer):
    inner = (answer.get("hookSpecificOutput") or {}).get("additionalContext")
    text = f"<hook_context>{inner}</hook_context>" if inner else answer.get("reason")
    if text:
        HANDED_OUT.setdefault(place.dir, []).append({"id": "1", "timestamp": "t", "type": "user", "content": [{"text": text}]})


def model_has_answered(place, *after):
    """Writes a transcript of Gemini CLI that ends with the model's answer and the records `after` it."""
    path = transcript(place, "gemini")
    with open(path, "w", encoding="utf-8") as file:
        for record in ({"sessionId": "s"}, {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "x"}, {"text": f"<hook_context>{PARAGRAPH}</hook_context>"}]}, {"$set": {"lastUpdated": "t"}},
                       *HANDED_OUT.get(place.dir, []),
                       {"id": "2", "timestamp": "t", "type": "gemini", "content": "Well.", "thoughts": []}, {"$set": {"lastUpdated": "t"}}, *after):
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
    return path


def without_line(answer):
    """Returns the answer without the line for the person, which some agents show."""
    return {name: value for name, value in answer.items() if name != "systemMessage"}


def context(answer, event):
    answer = without_line(answer)
    assert set(answer) == {"hookSpecificOutput"}, answer
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"} and answer["hookSpecificOutput"]["hookEventName"] == event, answer
    text = answer["hookSpecificOutput"]["additionalContext"]
    return text if event == "SessionStart" else unmarked(text)  # a session's start is no delivery


def reason(answer, host):
    extra, answer = HOSTS[host][3], without_line(answer)
    if extra is None:
        return context(answer, "Stop")
    assert answer.items() >= extra.items() and set(answer) == {"decision", "reason"}, answer
    return unmarked(answer["reason"])


def unmarked(text):
    """Returns the text without the marker of its delivery, which ends it."""
    text, _, marker = text.rpartition("\n\n")
    assert re.fullmatch(r"\[tidings [0-9a-z]{1,13}-[0-9a-z]{8}\]", marker), marker
    return text


def changed(place, path, session="s"):
    """Reports a change like a watcher. The files of these tests do not exist; the stamp "gone" shows that the watcher saw the state after the call,
    even if its report is late."""
    place.event("file.changed", {"path": path, "change": "modified", "stamp": "gone"}, session)


@contextlib.contextmanager
def stuck_opener(place):
    """Acts as a process that opens the store and does not finish."""
    with open(os.path.join(place.store, "shared"), "r+b") as shared:
        fcntl.fcntl(shared, 37, struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))  # F_OFD_SETLK on the byte that an opening process locks
        yield


def full_pipe():
    """Returns both ends of a pipe that takes no byte until it is read."""
    out, full = os.pipe()
    os.set_blocking(full, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(full, b" " * 4096):
            pass
    os.set_blocking(full, True)
    return out, full


def bytes_read(process):
    with open(f"/proc/{process.pid}/io", encoding="utf-8") as file:
        return int(file.readline().split()[1])


def waits(place, waiter):
    return any(name.startswith(f"wake.{waiter.pid}.") for name in os.listdir(place.store))


def log(place):
    path = os.path.join(place.logs, "hook.log")
    return open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []
