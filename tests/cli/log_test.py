#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings log`: its output, its reports of a poll, and its refusals."""
import os
import pty
import subprocess
import sys

from kit import DEADLINE_S, TIDINGS, main, until

S = ["-s", "s"]


def run(place, script, code=0):
    """Makes a run and waits for its end. Returns its handle."""
    before = set(os.listdir(place.logs)) if os.path.isdir(place.logs) else set()
    place.refused("run", *S, "--", "sh", "-c", script, code=code)
    [name] = set(os.listdir(place.logs)) - before
    return name[:-4]


def start(place, gate, script):
    """Starts a run that waits for a gate. Returns its handle."""
    os.mkfifo(gate)
    return place.ok("run", *S, "--detach", "--json", "--", "sh", "-c", f"{script}; cat {gate}; exit 3").json["handle"]


def test_polled(place):
    """called below the session's host, log prints the log, withdraws the run's pending notification, and prints its first line"""
    place.opened("s")
    one = run(place, r"printf '\033[31mred\033[0m\0\377\r\n'; exit 3", code=3)
    two = run(place, "echo two")
    result = place.ok("log", *S, one)
    assert result.out == b"\x1b[31mred\x1b[0m\0\xff\r\n", result
    assert result.said.startswith("tidings log: Command `sh -c ") and f"(handle `{one}`) failed with exit code 3 after" in result.said, result
    assert result.said.count("\n") == 1, result
    [left] = place.pending()
    assert left["handle"] == two, left
    [outcome] = [item for delivery in place.ok("history", *S, "--json").json["deliveries"] for item in delivery["items"]]
    assert outcome["outcome"] == "withdrawn" and "asked for the state" in outcome["reason"], outcome
    again = place.ok("log", *S, one)
    assert again.out == result.out and again.said == "", again
    assert len(place.pending()) == 1


def test_other_session(place):
    """the poll is reported only to the session that is named"""
    place.opened("s")
    handle = run(place, "echo x")
    place.ok("push", "-s", "t", "-k", "a.b", "another session")
    assert place.ok("log", "-s", "t", handle).out == b"x\n"
    assert len(place.pending()) == 1 and len(place.pending("t")) == 1


def test_person(place):
    """a person who reads the log withdraws nothing, that is, a process that the session's host has not started, whether the host runs or has ended"""
    handle = run(place, "echo x; exit 3", code=3)
    result = place.ok("log", *S, handle)
    assert result.out == b"x\n" and "failed with exit code 3 after" in result.said and len(place.pending()) == 1, result
    with subprocess.Popen(["sleep", "1000"]) as host:
        try:
            place.opened("s", owner=host.pid)
            result = place.ok("log", *S, handle)
            assert "failed with exit code 3 after" in result.said and len(place.pending()) == 1, result
        finally:
            host.kill()
    assert place.ok("log", *S, handle).out == b"x\n" and len(place.pending()) == 1
    place.opened("s")
    place.ok("log", *S, handle)
    assert place.pending() == []


def test_peek(place):
    """--peek reports nothing to the session, for any caller"""
    place.opened("s")
    handle = run(place, "echo x")
    result = place.ok("log", *S, "--peek", handle)
    assert result.out == b"x\n" and "finished with exit code 0 after" in result.said and len(place.pending()) == 1, result


def test_masked(place):
    """passwords and tokens are masked, also where a line is printed in two parts; --no-mask prints them"""
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
    lines = f"PASSWORD=hunter2\n{key}\n" + "x" * 70000 + "\n" + "gh" + "p_" + "a1B2c3D4e5" * 4
    with open(os.path.join(place.work, "lines"), "w", encoding="utf-8") as file:
        file.write(lines)
    handle = run(place, "cat lines")
    masked = "PASSWORD=[masked]\n[masked]\n" + "x" * 70000 + "\n[masked]"
    assert place.ok("log", *S, handle).text == masked
    assert place.ok("log", *S, "--json", handle).json["content"] == masked
    assert place.ok("log", *S, "--no-mask", handle).text == lines
    assert place.ok("log", *S, "--no-mask", "--json", handle).json["content"] == lines
    handle = run(place, "head -n 4 lines; echo end")
    master, terminal = pty.openpty()
    place.ok("log", *S, handle, stdout=terminal)
    os.close(terminal)
    shown = b""
    while chunk := read_terminal(master):
        shown += chunk
    os.close(master)
    assert shown == b"PASSWORD=[masked]\r\n[masked]\r\nend\r\n", shown


def test_growing(place):
    """while the log still grows, log prints its content so far; the later end is withdrawn by the next call"""
    place.opened("s")
    gate = os.path.join(place.dir, "gate")
    handle = start(place, gate, "echo first")
    until(lambda: place.ok("log", *S, handle).out == b"first\n", "its output")
    assert place.ok("log", *S, handle, "--json").json["running"] is True
    open(gate, "w", encoding="utf-8").close()
    until(place.messages, "its end")
    until(lambda: not place.ok("log", *S, handle, "--json").json["running"], "its end")
    assert place.messages() == [], "that was a poll too"


def test_follow(place):
    """--follow prints until the end of the run, and then reports it"""
    place.opened("s")
    gate = os.path.join(place.dir, "gate")
    handle = start(place, gate, "echo first")
    process = place.start("log", *S, "--follow", handle)
    assert process.stdout.readline() == b"first\n"
    assert process.poll() is None
    with open(gate, "w", encoding="utf-8") as file:
        file.write("second\n")
    out, err = process.communicate(timeout=DEADLINE_S)
    assert out == b"second\n" and process.returncode == 0, (out, err)
    assert b"failed with exit code 3" in err and place.messages() == [], err


def test_json(place):
    """--json prints the handle, the path, whether the run still runs, and the content as UTF-8"""
    place.opened("s")
    handle = run(place, r"printf 'a\0\377\nb'")
    answer = place.ok("log", *S, handle, "--json").json
    assert answer == {"handle": handle, "log": os.path.join(place.logs, handle + ".log"), "running": False, "content": "a\0\ufffd\nb"}, answer
    assert place.messages() == []


def test_terminal(place):
    """on a terminal the log is printed as plain text that does not control the terminal"""
    handle = run(place, r"printf '\033[31mred\033]0;title\007\n10%%\r99%%\n\342\200\256evil\ttab\033[2J\nend'")
    master, terminal = pty.openpty()
    place.ok("log", *S, handle, stdout=terminal)
    os.close(terminal)
    shown = b""
    while chunk := read_terminal(master):
        shown += chunk
    os.close(master)
    assert shown == b"red\r\n99%\r\n{U+202E}evil\ttab\r\nend\r\n", shown


def read_terminal(master):
    try:
        return os.read(master, 65536)
    except OSError:  # the other end is closed
        return b""


def test_unknown(place):
    """an unknown handle is an error that lists the known ones; no file outside of the logs is read"""
    place.refused("log", *S, "make-000000", says=["no run has the handle 'make-000000': there is no log in", place.logs])
    one, two = run(place, "true"), run(place, "true")
    os.symlink("/etc/passwd", os.path.join(place.logs, "link-000000.log"))
    os.mkdir(os.path.join(place.logs, "folder-000000.log"))
    with open(os.path.join(place.logs, "hook.log"), "w", encoding="utf-8") as file:
        file.write("what hooks log is no run\n")
    for handle in ("nope", "", ".", "..", "../logs/" + one, "link-000000", "folder-000000", "hook", "x" * 5000, "a\x1b[2Jb"):
        result = place.refused("log", *S, handle, says=["no run has the handle '", "The known handles are:", f"  {one}\n", f"  {two}\n"])
        assert "\x1b" not in result.said and "link" not in result.said.partition("known")[2] and "hook" not in result.said.partition("known")[2] and result.out == b"", result
    assert len(place.messages()) == 2
    place.refused("log", *S, code=2, says="a handle is missing")
    place.refused("log", *S, one, two, code=2, says="usage: tidings log")
    place.refused("log", *S, "--json", "--follow", one, code=2, says="exclude each other")


def test_without_session(place):
    """without a session the log is printed, and the error says that nothing was reported"""
    handle = run(place, "echo x")
    result = place.refused("log", handle, says="name one with -s")
    assert result.out == b"x\n", result
    assert len(place.messages()) == 1


def test_not_printed(place):
    """a log that could not be printed whole is not reported as polled"""
    place.opened("s")
    handle = run(place, "head -c 300000 /dev/zero")
    with open("/dev/full", "wb") as full:
        place.refused("log", *S, handle, stdout=full, says="No space left on device")
    process = place.start(command=["sh", "-c", f'"{TIDINGS}" log -s s {handle} | head -c 10'])
    out, err = process.communicate(timeout=DEADLINE_S)
    assert len(out) == 10 and not err, err
    assert len(place.messages()) == 1


if __name__ == "__main__":
    sys.exit(main(globals()))
