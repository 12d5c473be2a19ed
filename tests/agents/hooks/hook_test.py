#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings hook` with calls like those of the agents: the answer in each dialect, and that no error stops the agent."""
import contextlib
import json
import os
import signal
import subprocess
import sys

from calls import call, changed, context, HOSTS, log, stuck_opener, transcript, without_line
from kit import DEADLINE_S, TIDINGS, Skip, end, main

SHORT = ("--budget", "500ms")  # for a store that stays busy


def test_dialects(place):
    """in each dialect notifications come with the prompt and with the tool result, each once; without notifications the answer is an empty object"""
    for host, (prompt, tool, stop, _) in HOSTS.items():
        start = call(place, host, "SessionStart", host, source="startup")
        assert start == {} if host == "gemini" else "Consider them when" in context(start, "SessionStart")
        place.ok("push", "-s", host, "for the prompt")
        text = context(call(place, host, prompt, host, prompt="hello"), prompt)
        assert "for the prompt" in text and text == text.strip(), text
        place.ok("push", "-s", host, "for the result")
        text = context(call(place, host, tool, host, tool_name="ls", tool_use_id="c1", tool_input={}, tool_response="x"), tool)
        assert "for the result" in text and "for the prompt" not in text, text
        assert call(place, host, tool, host, tool_name="ls", tool_use_id="c2", tool_input={}, tool_response="x") == {}
        assert call(place, host, stop, host, stop_hook_active=False) == {}
        assert place.ok("status", "-s", host, "--json").json["state"] == "idle"
    assert log(place) == []


def test_mailbox(place):
    """for each agent a notification that waited for the folder before the session began is in the session's first prompt, once"""
    for host, (prompt, _, _, _) in HOSTS.items():
        folder = os.path.join(place.work, host)
        os.mkdir(folder)
        place.ok("push", "--to", f"folder:{folder}", f"waited for {host}")
        call(place, host, "SessionStart", host, source="startup", cwd=folder)
        text = context(call(place, host, prompt, host, prompt="hello", cwd=folder), prompt)
        assert text.count(f"waited for {host}") == 1, text
    assert place.ok("box", "--json").json == [] and log(place) == []


def soon(place, text, seconds, *words):
    """Returns the answer of the first call that takes at most so many seconds. On a busy machine some calls take longer; a call that waits longer by
    itself always does."""
    for _ in range(20):
        process = place.start("hook", "--owner", str(os.getpid()), *words, stdin=subprocess.PIPE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(text.encode(), timeout=seconds)[0], process.returncode
        process.kill()
        process.communicate()
    raise AssertionError(f"twenty calls took longer than {seconds} s each")


def test_stuck_opener(place):
    """a process that opens the store and never finishes, such as one that was stopped, costs a call its budget and not ten seconds"""
    call(place, "claude", "SessionStart", source="startup")
    place.ok("push", "-s", "s", "later")
    with stuck_opener(place):
        text = json.dumps({"session_id": "s", "hook_event_name": "PostToolUse", "transcript_path": transcript(place, "claude"), "cwd": place.work, "tool_name": "ls", "tool_input": {}, "tool_response": "x"})
        out, code = soon(place, text, 8, "claude")
    assert (code, out.strip()) == (0, b"{}"), out
    assert "another process is opening it" in log(place)[-1], log(place)
    assert "later" in context(call(place, "claude", "PostToolUse", tool_name="ls", tool_input={}, tool_response="x"), "PostToolUse")


def test_tool_responses(place):
    """a tool's response may be any JSON value, and so may fields that the hook does not read"""
    for number, response in enumerate(["text", {"llmContent": [{"text": "x"}]}, ["a", {"b": 1}], None, 7, "x" * 3_000_000]):
        place.ok("push", "-s", "s", f"news {number}")
        answer = call(place, "claude", "PostToolUse", tool_name="t", tool_use_id=f"c{number}", tool_input=[1, 2], tool_response=response)
        assert f"news {number}" in context(answer, "PostToolUse")
    raw = '{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"t","tool_response":"half \\ud83d, whole \\ud83d\\ude00, \\\\ud83d, nul \\u0000"}'
    place.ok("push", "-s", "s", "news of halves")
    assert "news of halves" in context(call(place, "qwen", None, raw=raw), "PostToolUse")
    raw = '{"session_id":"s","transcript_path":"/projects/x/s.jsonl","hook_event_name":"PostToolUse","tool_name":"t","tool_response":[18446744073709551615,-9223372036854775809,1e308,-1e400]}'
    place.ok("push", "-s", "s", "news of numbers")
    assert "news of numbers" in context(call(place, "claude", None, raw=raw), "PostToolUse")


def test_failed_tools(place):
    """the result of a tool that failed carries notifications as well"""
    place.ok("push", "-s", "s", "news")
    answer = call(place, "claude", "PostToolUseFailure", tool_name="Bash", tool_use_id="c", tool_input={}, error="Exit code 3", is_interrupt=False)
    assert "news" in context(answer, "PostToolUseFailure")


def test_prompts(place):
    """an empty prompt counts as a prompt, except from Qwen Code, which calls the prompt's hook after tool results too"""
    place.ok("push", "-s", "s", "news")
    assert call(place, "qwen", "UserPromptSubmit", prompt="") == {}
    assert place.messages() == ["news"]
    assert "news" in context(call(place, "claude", "UserPromptSubmit", prompt=""), "UserPromptSubmit")


def test_subagents(place):
    """pending notifications wait for the session's own agent; a subagent does not get them"""
    place.ok("push", "-s", "s", "news")
    assert call(place, "claude", "PostToolUse", tool_name="t", tool_use_id="c", agent_id="a1", agent_type="x") == {}
    assert place.messages() == ["news"]
    assert "news" in context(call(place, "claude", "PostToolUse", tool_name="t", tool_use_id="c2"), "PostToolUse")


def test_own_edits(place):
    """a session gets no notification of a file that its own tool call has changed, however the host names tool and path; it gets those of other files"""
    patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** Update File: sub/old.txt\n*** Move to: moved.txt\n@@\n-a\n+b\n*** End Patch\n"
    calls = [("claude", "Write", {"file_path": f"{place.work}/a.txt"}, ["a.txt"]), ("claude", "NotebookEdit", {"notebook_path": "n.ipynb"}, ["n.ipynb"]),
             ("gemini", "replace", {"file_path": "/else/where.c"}, ["/else/where.c"]), ("qwen", "edit", {"file_path": "b.txt"}, ["b.txt"]),
             ("codex", "apply_patch", {"command": patch}, ["new.txt", "sub/old.txt", "moved.txt"])]
    for number, (host, tool, tool_input, paths) in enumerate(calls):
        session = f"s{number}"
        event = HOSTS[host][1]
        call(place, host, event, session, tool_name=tool, tool_use_id="c1", tool_input=tool_input)
        items = place.pending(session)
        assert [item.get("caused_by") for item in items] and all(item.get("caused_by") for item in items), items
        for path in [*paths, "other.txt"]:
            changed(place, path, session)
        text = context(call(place, host, event, session, tool_name="ls", tool_use_id="c2", tool_input={}), event)
        assert "`other.txt` was modified externally." in text, text
        for path in paths:
            assert path not in text, (path, text)


def test_edit_seen_first(place):
    """if a watcher reports the agent's own edit before its hook is called, the hook's answer does not have it; it has a change by somebody else"""
    path = os.path.join(place.work, "a.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("x")
    info = os.stat(path)
    stamp = f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"
    for seen, told in ((stamp, False), ("of another", True)):
        place.event("file.changed", {"path": "a.txt", "stamp": seen})
        assert [item for item in place.pending() if not item.get("caused_by")]
        answer = call(place, "claude", "PostToolUse", tool_name="Write", tool_use_id="c1", tool_input={"file_path": path})
        assert ("`a.txt` was modified externally since your edit; read it again." in json.dumps(answer)) == told, answer


def test_many_edits(place):
    """if a patch changes thousands of files, more than one event may hold, the session gets no notification of any of them"""
    names = [f"{'d' * 180}/{number}.c" for number in range(3000)]
    patch = "*** Begin Patch\n" + "".join(f"*** Update File: {name}\n@@\n-a\n+b\n" for name in names) + "*** End Patch\n"
    assert call(place, "codex", "PostToolUse", tool_name="apply_patch", tool_use_id="c1", tool_input={"command": patch}) == {}
    assert log(place) == []
    for name in (names[0], names[1500], names[-1], "other.c"):
        changed(place, name)
    text = context(call(place, "codex", "PostToolUse", tool_name="ls", tool_use_id="c2", tool_input={}), "PostToolUse")
    assert "other.c" in text and "ddd" not in text, text


def test_failed_edits(place):
    """a tool that failed has changed nothing"""
    call(place, "claude", "PostToolUseFailure", tool_name="Write", tool_use_id="c", tool_input={"file_path": "a.txt"}, error="denied")
    assert place.pending() == []


def test_bad_input(place):
    """input that is no hook call gets an empty object, and one line in the log names what is wrong"""
    for raw, says in (("", "not JSON"), ("{", "not JSON"), ("[]", "not an object"), ("{}", "hook_event_name"), ('{"hook_event_name": 7}', "hook_event_name: 7"),
                      ('{"hook_event_name": "Stop"}', "session_id: is missing"), ('{"hook_event_name": "Stop", "session_id": ""}', 'session_id: ""'),
                      ('{"hook_event_name": "Stop", "session_id": {"a": 1}}', "session_id"), ("[" * 100000, "nested deeper than 2048 levels"),
                      (json.dumps({"hook_event_name": "Stop", "session_id": "s" * 300}), "255")):
        before = len(log(place))
        assert call(place, "codex", None, raw=raw) == {}
        lines = log(place)[before:]
        assert len(lines) == 1 and says in lines[0], (raw[:50], lines)
    assert call(place, "codex", "SomethingNew") == {}
    assert oct(os.stat(os.path.join(place.logs, "hook.log")).st_mode & 0o777) == "0o600"


def test_hostile_log(place):
    """control characters in a hook's input do not get into the log"""
    call(place, "codex", None, raw='{"hook_event_name": "\\u001b[2J\\n", "session_id": 7}')
    assert len(log(place)) == 1 and "\x1b" not in log(place)[0], log(place)


def test_relative_folder(place):
    """a relative cwd with a relative file_path, short or long, causes no error; sanitizers check that nothing is written past a block"""
    for cwd in (".", "a", "../b/./c", "a/../../d", "..", "x" * 3000):
        for path in ("f.c", "./f.c", "../../f.c", "d//e/../f.c", "y" * 900):
            assert call(place, "claude", "PostToolUse", cwd=cwd, tool_name="Write", tool_use_id="c1",
                        tool_input={"file_path": path, "content": "x"}, tool_response="ok") == {}
    assert log(place) == [], log(place)


def test_mistakes(place):
    """a mistake in the command line never exits with 2, which would stop the agent"""
    for words, says in ((["nothost"], "'nothost' is not one of codex, claude, gemini, qwen"), ([], "HOST"), (["--what", "codex"], "--what"),
                        (["opencode"], "tidings setup opencode"), (["--owner", "x", "codex"], "--owner"),
                        (["--wait", "codex"], "--wait: Codex CLI"), (["--wake", "gemini"], "--wake: Gemini CLI"),
                        (["--budget", "0", "codex"], "--budget: '0' is not a duration from 1ms to 60s"),
                        (["--budget", "61s", "codex"], "--budget: '61s'"), (["--budget", "soon", "codex"], "--budget: 'soon'")):
        result = place.refused("hook", *words, code=1, says=says, stdin="{}")
        assert result.json == {}, result


def test_project(place):
    """the configuration of the project in which the session was opened applies wherever the agent goes; if it cannot be read, the log says so and the user's applies"""
    elsewhere = os.path.join(place.dir, "elsewhere")
    for folder, preset in ((place.work, "xml"), (elsewhere, "xml-batch")):
        os.makedirs(os.path.join(folder, ".git"))
        with open(os.path.join(folder, ".tidings.toml"), "w", encoding="utf-8") as file:
            file.write(f'delivery.preset = "{preset}"\n')
    call(place, "codex", "SessionStart", source="startup")
    place.ok("push", "-s", "s", "first")
    assert "<notification " in context(call(place, "codex", "UserPromptSubmit", prompt="x", cwd=elsewhere), "UserPromptSubmit")
    place.ok("push", "-s", "new", "first")
    assert "<notifications" in context(call(place, "codex", "UserPromptSubmit", "new", prompt="x", cwd=elsewhere), "UserPromptSubmit"), "not opened yet"
    assert log(place) == []
    path = os.path.join(place.work, ".tidings.toml")
    os.remove(path)
    os.mkfifo(path)
    place.ok("push", "-s", "s", "second")
    assert "While you worked (not from the user):" in context(call(place, "codex", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")
    assert len(log(place)) == 1 and f"{path}: it is not a regular file" in log(place)[0], log(place)


def test_store_in_trouble(place):
    """if the store is busy, newer, or no folder, the answer is an empty object; a notification that was pending while the store was busy comes later"""
    place.ok("push", "-s", "s", "news")
    holder = place.hold()
    assert call(place, "codex", "UserPromptSubmit", words=SHORT, prompt="x") == {}
    assert "writer" in log(place)[-1], log(place)
    end(holder, signal.SIGKILL)
    assert "news" in context(call(place, "codex", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")
    os.rename(place.store, place.store + ".away")
    open(place.store, "w", encoding="utf-8").close()
    result = place.ok("hook", "--budget", "60s", "--owner", str(os.getpid()), "codex", stdin='{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}')
    assert result.json == {}, result
    os.remove(place.store)
    os.rename(place.store + ".away", place.store)
    place.trick("newer", place.store)
    assert call(place, "codex", "UserPromptSubmit", prompt="x") == {}
    assert "newer" in log(place)[-1], log(place)


def test_one_wait(place):
    """a writer that is stopped costs a call its budget once: not once more for each delivery, for each edit, and for closing"""
    for number in range(2):
        place.ok("push", "-s", "s", f"news {number}")
        call(place, "claude", "PostToolUse", tool_name="ls", tool_use_id=f"c{number}", tool_input={})
    holder = place.hold()
    assert call(place, "claude", "PostToolUse", words=SHORT, tool_name="Write", tool_use_id="c2", tool_input={"file_path": "a.txt"}) == {}
    assert len(log(place)) == 1 and "another writer holds the store" in log(place)[0], log(place)
    end(holder, signal.SIGKILL)
    assert call(place, "claude", "PostToolUse", tool_name="ls", tool_use_id="c3", tool_input={}) == {}
    assert len(log(place)) == 1 and place.ok("status", "-s", "s", "--json").json["leased"] == [], "the deliveries of before are settled"


def test_many_waits(place):
    """a writer that lets a call in each time before its budget ends costs the call one budget in all, not one for each of its hundreds of reports"""
    place.ok("push", "-s", "s", "news")
    patch = "*** Begin Patch\n" + "".join(f"*** Update File: {number}.c\n@@\n-a\n+b\n" for number in range(60000)) + "*** End Patch\n"
    with open(os.path.join(place.work, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"limits": {"pending_per_session": 100000}}, file)
    text = json.dumps({"session_id": "s", "hook_event_name": "PostToolUse", "cwd": place.work, "tool_name": "apply_patch", "tool_use_id": "c1",
                       "tool_input": {"command": patch}})
    holder = place.hold("often")
    _, code = soon(place, text, 60, "--config", os.path.join(place.work, "config.json"), "codex")
    end(holder, signal.SIGKILL)
    assert code == 0


def test_closed_stdout(place):
    """an answer that cannot be written, because the reader is gone, the disk is full or there is no stdout, does not count as delivered; the exit status is 0"""
    place.ok("push", "-s", "s", "news")
    text = json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x"})
    hook = ["hook", "--owner", str(os.getpid()), "codex"]
    reading, writing = os.pipe()
    os.close(reading)
    full = os.open("/dev/full", os.O_WRONLY)
    for number, (stdout, says) in enumerate(((writing, "Broken pipe"), (full, "No space left"), (None, "Bad file descriptor")), 1):
        command = [TIDINGS, *hook] if stdout else ["sh", "-c", 'exec "$0" "$@" >&-', TIDINGS, *hook]
        done = subprocess.run(command, input=text.encode(), stdout=stdout, stderr=subprocess.PIPE, env=place.env, check=False, timeout=DEADLINE_S)
        assert done.returncode == 0 and not done.stderr, done
        assert place.messages() == ["news"]
        lines = log(place)
        assert len(lines) == number and "cannot write to stdout: " + says in lines[-1], lines
    os.close(writing)
    os.close(full)
    assert "news" in context(call(place, "codex", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")


def test_full_disk(place):
    """if the disk is too full for a store, the answer is an empty object, the exit status is 0, and the log, which is elsewhere, has a line; with room again the hook delivers"""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        raise Skip("only root may mount a small file system")
    store = os.path.join(place.dir, "small")
    os.makedirs(store, mode=0o700)
    script = f"""
mount -t tmpfs -o size=4m,mode=700 none "{store}" || exit 99
export TIDINGS_STORE="{store}/new"
cat /dev/zero 2>/dev/null >>"{store}/filler"
hook() {{ echo '{{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}}' | "{TIDINGS}" hook --owner {os.getpid()} codex; echo "status $?"; }}
hook
rm "{store}/filler"
"{TIDINGS}" push -s s --create news
hook
"""
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=place.env, check=False, capture_output=True, timeout=DEADLINE_S)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0 and lines[0] == "{}" and lines[1] == lines[3] == "status 0", done
    assert "news" in context(json.loads(lines[2]), "UserPromptSubmit")
    assert len(log(place)) == 1 and ("disk is full" in log(place)[0] or "No space left" in log(place)[0]), log(place)


def test_limited_files(place):
    """in an agent that may not write large files, the answer is an empty object, the exit status is 0, and the notification comes with a later call"""
    place.ok("push", "-s", "s", "news")
    text = json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x"})
    command = ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', TIDINGS, "hook", "--budget", "60s", "--owner", str(os.getpid()), "codex"]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=place.env, check=False, timeout=DEADLINE_S)
    assert done.returncode == 0 and done.stdout == b"{}\n" and not done.stderr, done
    assert "news" in context(call(place, "codex", "UserPromptSubmit", prompt="x"), "UserPromptSubmit")


def test_overlap(place):
    """if hook calls overlap, each item is in exactly one answer"""
    for number in range(20):
        place.ok("push", "-s", "s", f"news {number:02}")
    running = []
    for number in range(8):
        text = json.dumps({"session_id": "s", "transcript_path": transcript(place, "claude"), "hook_event_name": "PostToolUse", "tool_name": "t", "tool_use_id": f"c{number}"})
        process = place.start("hook", "--owner", str(os.getpid()), "claude", stdin=subprocess.PIPE)
        process.stdin.write(text.encode())
        process.stdin.close()
        running.append(process)
    answers = [json.loads(process.stdout.read()) for process in running]
    assert all(process.wait(DEADLINE_S) == 0 for process in running)
    answers.append(call(place, "claude", "PostToolUse", tool_name="t", tool_use_id="last"))
    said = json.dumps([without_line(answer) for answer in answers])
    for number in range(20):
        assert said.count(f"news {number:02}") == 1, (number, said)


def test_restart(place):
    """a process that resumes a session beside a living one gets the pending notifications, and so does one that starts the session again after its process died"""
    def sleeper():
        return place.start(command=["sleep", "600"])
    first, second = sleeper(), sleeper()
    start = {"session_id": "s", "hook_event_name": "SessionStart", "source": "resume", "cwd": place.work}
    prompt = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "x"}

    def hook(owner, fields):
        return place.ok("hook", "--budget", "60s", "--owner", str(owner.pid), "codex", stdin=json.dumps(fields)).json
    hook(first, start)
    place.ok("push", "-s", "s", "news")
    hook(second, start)
    assert hook(first, prompt) == {}
    assert "news" in context(hook(second, prompt), "UserPromptSubmit")
    end(second, signal.SIGKILL)
    place.ok("push", "-s", "s", "more")
    third = sleeper()
    assert "more" in context(hook(third, prompt), "UserPromptSubmit")


def test_owner(place):
    """the hook finds the agent above shells and programs between them, and the session's host lives as long as the agent"""
    script = f"""import subprocess, sys, json
hook = json.dumps({{"session_id": "s", "hook_event_name": "SessionStart", "cwd": {place.work!r}}})
subprocess.run(["/bin/sh", "-c", "env A=1 sh -c '{TIDINGS} hook codex; true'"], input=hook.encode(), check=True)
print("done", flush=True)
sys.stdin.read()
"""
    agent = place.start(command=[sys.executable, "-c", script], stdin=subprocess.PIPE)
    assert b"additionalContext" in agent.stdout.readline() and agent.stdout.readline() == b"done\n"
    attachment = place.ok("status", "-s", "s", "--json").json["attachment"]
    assert attachment["pid"] == agent.pid and attachment["alive"] and attachment["host"] == "Codex CLI", attachment
    agent.stdin.close()
    agent.wait(DEADLINE_S)
    assert not place.ok("status", "-s", "s", "--json").json["attachment"]["alive"]


if __name__ == "__main__":
    sys.exit(main(globals()))
