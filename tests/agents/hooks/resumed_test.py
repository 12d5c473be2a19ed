#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings mcp --no-tools` of an agent whose daemon calls no hook when a person resumes an unloaded session, but starts its MCP servers: the server wakes the session."""
import os
import signal
import subprocess
import sys

from calls import context, log, put_command
from kit import TIDINGS, end, main, until
from setup_test import FILES, path, programs, read, write
from window_test import Codex, apart, queued


def set_up(place, *options):
    programs(place)
    place.ok("setup", "codex", *options)


def closed(place, session="s", codex=None):
    """Makes a session whose window was closed, and for which a critical notification waits."""
    codex = codex or Codex(place)
    codex.rollout("+", session)
    window = codex.window()
    codex.turn(session)
    end(window, signal.SIGKILL)
    until(lambda: not apart(place), "nobody waits")
    place.ok("push", "-s", session, "-l", "critical", f"the disk of {session} is full")
    return codex


def unloads(codex, session="s"):
    codex.hook("SessionEnd", session)
    codex.rollout("-", session)
    until(lambda: not apart(codex.place), "nobody waits")


def is_woken(codex, window, message):
    """Checks that the session is woken once, and that it is like any other session afterwards."""
    place, nudge = codex.place, message()
    assert codex.owner() == window.pid and codex.waits(window) == 1
    codex.hook("SessionStart", source="resume")
    assert "the disk of s is full" in context(codex.hook("UserPromptSubmit", prompt=nudge), "UserPromptSubmit")
    assert codex.hook("Stop") == {} and place.pending() == [] and codex.waits(window) == 1
    until(lambda: len(apart(place)) == 1, "one process waits, and nothing else")
    end(window, signal.SIGKILL)
    until(lambda: not apart(place), "nobody waits")
    assert log(place) == []


def nobody_waits(codex, session="s"):
    until(lambda: not apart(codex.place), "nobody waits")
    assert codex.owner(session) is None and log(codex.place) == []


def test_unloaded(place):
    """a critical notification wakes a session that the daemon had unloaded when a window shows it again, each time"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    for again in ("", " again"):
        if again:
            place.ok("push", "-s", "s", "-l", "critical", "the disk of s is full again")
        unloads(codex)
        other = codex.window()
        codex.rollout("+*")
        is_woken(codex, other, message)


def test_opened_late(place):
    """the same if the daemon opens the transcript only after it has started its servers"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    unloads(codex)
    other = codex.window()
    codex.rollout("*+")
    is_woken(codex, other, message)


def test_daemon_is_killed(place):
    """the same with another daemon; nothing waits if that daemon ends before"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    for ends in (True, False):
        end(codex.daemon, signal.SIGKILL)
        os.remove(codex.socket)
        codex = Codex(place)
        if ends:
            codex.rollout("*")
            end(codex.daemon, signal.SIGKILL)
            nobody_waits(codex)
    other = codex.window()
    codex.rollout("+*")
    is_woken(codex, other, message)


def test_loaded(place):
    """if the daemon has the session still, and calls its hook, too, only one process waits"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    other = codex.window()
    codex.hook("SessionEnd")
    codex.rollout("-+*")
    is_woken(codex, other, message)


def test_never_prompted(place):
    """a session that was resumed in one window, but not prompted, can be resumed in another window"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    unloads(codex)
    first = codex.window()
    codex.rollout("+*")
    message()
    end(first, signal.SIGKILL)
    until(lambda: not apart(place), "nobody waits")
    codex.hook("SessionEnd")
    other = codex.window()
    codex.rollout("-+*")
    is_woken(codex, other, message)


def test_others(place):
    """a window that begins another session, or resumes it, does not show a session that the daemon had before"""
    set_up(place)
    message = queued(place, "other")
    codex = closed(place)
    closed(place, "other", codex)
    unloads(codex, "other")
    new = codex.window()
    codex.rollout("*")
    nobody_waits(codex)
    codex.turn("new")
    until(lambda: codex.waits(new) == 1, "it waits for the new one")
    window = codex.window()
    codex.rollout("+*", "other")
    message()
    assert codex.owner("other") == window.pid and codex.owner("new") == new.pid and codex.owner() is None
    until(lambda: len(apart(place)) == 2, "two processes wait")
    assert codex.waits(window) == codex.waits(new) == 1 and len(place.pending()) == 1 and log(place) == []


def test_unseen(place):
    """nobody waits for a session that no window shows, even when the next window opens; for an unknown session; if the person wants no waking; or if the agent calls no hooks of tidings"""
    set_up(place)
    codex = closed(place)
    unloads(codex)
    codex.rollout("+*")
    nobody_waits(codex)
    window = codex.window()
    codex.rollout("*")
    nobody_waits(codex)
    unloads(codex)
    codex.rollout("+*", "unknown")
    nobody_waits(codex)
    trusted = read(place, ".codex/config.toml")
    for spoil in (lambda: place.ok("setup", "codex", "--no-wake"), lambda: write(place, ".codex/config.toml", trusted.replace("trusted_hash", "x", 1)),
                  lambda: write(place, ".codex/config.toml", "features.hooks = false\n" + trusted), lambda: os.remove(path(place, FILES["codex"]))):
        place.ok("setup", "codex")
        spoil()
        codex.rollout("+*")
        nobody_waits(codex)
        unloads(codex)
    assert not codex.waits(window) and len(place.pending()) == 1


def test_headless(place):
    """nobody waits for a session that a program resumes without a window"""
    set_up(place)
    codex = closed(place)
    unloads(codex)
    codex.window()
    program = f"import subprocess, sys; rollout = open({transcript_of(codex)!r}, 'a'); subprocess.run([{TIDINGS!r}, 'mcp', '--no-tools'], stdin=subprocess.DEVNULL, check=True)"
    subprocess.run([sys.executable, "-c", program, "exec", "--listen"], env=place.env, cwd=place.work, check=True)
    nobody_waits(codex)


def closed_in(codex, session, name):
    """Makes a session of a folder of its own, as closed() does, and unloads it. Returns the folder."""
    folder = os.path.join(codex.place.work, name)
    os.makedirs(folder, exist_ok=True)
    codex.rollout("+", session)
    window = codex.window(folder)
    codex.turn(session, cwd=folder)
    assert codex.owner(session) == window.pid
    end(window, signal.SIGKILL)
    unloads(codex, session)
    codex.place.ok("push", "-s", session, "-l", "critical", f"the disk of {session} is full")
    return folder


def is_shown(codex, window, session, folder):
    until(lambda: os.path.exists(f"{codex.place.dir}/queued-{session}"), f"codex queue was called for {session}")
    attachment = codex.place.ok("status", "-s", session, "--json").json["attachment"]
    assert (attachment["pid"], attachment["cwd"]) == (window.pid, folder), (session, window.pid, attachment)
    until(lambda: codex.waits(window) == 1, "one process waits in this window")


def test_two_at_once(place):
    """two sessions of different folders that are resumed at the same time get their own folders and windows, whichever of their servers sees them first, also with another daemon"""
    set_up(place)
    put_command(place, "codex", f'touch "{place.dir}/queued-$3"')
    codex = Codex(place)
    folders = {session: closed_in(codex, session, session) for session in ("one", "two")}
    for order in (("one", "two"), ("two", "one")):
        windows = {session: codex.window(folder) for session, folder in folders.items()}
        for session in order:
            codex.rollout("+", session)
        for session in order:
            codex.rollout("*", session, folders[session])
        for session in order:
            is_shown(codex, windows[session], session, folders[session])
            os.remove(f"{place.dir}/queued-{session}")
        for process in (*windows.values(), codex.daemon):
            end(process, signal.SIGKILL)
        until(lambda: not apart(place), "nobody waits")
        os.remove(codex.socket)
        codex = Codex(place)
        for session in order:
            place.ok("push", "-s", session, "-l", "critical", f"the disk of {session} is full again")
    assert log(place) == []


def test_in_another_folder(place):
    """a session that is resumed in another folder than before is shown by the window there, though a window of its former folder shows another session"""
    set_up(place)
    put_command(place, "codex", f'touch "{place.dir}/queued-$3"')
    codex = Codex(place)
    before, after = closed_in(codex, "one", "before"), os.path.join(place.work, "after")
    os.mkdir(after)
    window, former = codex.window(after), codex.window(before)
    codex.turn("other", cwd=before)
    codex.rollout("+*", "one", after)
    is_shown(codex, window, "one", after)
    assert codex.owner("other") == former.pid and log(place) == []


def transcript_of(codex):
    return os.path.join(codex.place.dir, "sessions/2026/01/01/rollout-2026-01-01T00-00-00-s.jsonl")


def test_busy(place):
    """while another process holds the store, the server answers, and the session is woken later"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    unloads(codex)
    other = codex.window()
    holder = place.hold()
    codex.rollout("+*")
    end(holder, signal.SIGKILL)
    is_woken(codex, other, message)


def test_with_tools(place):
    """a server that has tools wakes the session in the same way, and continues to run"""
    set_up(place)
    message = queued(place)
    codex = closed(place)
    unloads(codex)
    other = codex.window()
    codex.rollout("+")
    codex.daemon.stdin.write(f"&{TIDINGS}\n".encode())
    codex.daemon.stdin.flush()
    assert codex.daemon.stdout.readline() == b"&\n"
    nudge = message()
    assert codex.waits(other) == 1 and nudge and log(place) == []


if __name__ == "__main__":
    sys.exit(main(globals()))
