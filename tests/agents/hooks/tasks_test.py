#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tasks by which an idle window is woken, where the window does not take them, or somebody changes their file."""
import os
import sys

from calls import context, log, reason
from kit import main, until
from scheduler_test import idle


def tries(window):
    return [task for task in window.listed() if task["id"].startswith("tidings")]


def failing(place):
    return [name for name in os.listdir(os.path.join(place.store, "waiting")) if name.endswith(".failed")]


def stopped(place):
    """Returns a window that takes no task, while something critical waits."""
    window = idle(place)
    with open(os.path.join(window.folder, "stop"), "w", encoding="utf-8"):
        pass
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    return window


def test_not_taken(place):
    """a task that the window does not take is removed, is tried again, and is said to have failed; the next prompt has what waits"""
    window = stopped(place)
    until(lambda: log(place) != [], "it has failed")
    assert "the window does not take it" in log(place)[0]
    assert "the disk is full" in context(window.hook("UserPromptSubmit", prompt="y"), "UserPromptSubmit")


def test_removed(place):
    """a task that somebody removes before the window has taken it was not run: another one follows"""
    window = stopped(place)
    until(lambda: os.path.exists(window.tasks) and tries(window), "there is a task")
    os.unlink(window.tasks)
    until(lambda: log(place) != [], "it has failed")
    os.unlink(os.path.join(window.folder, "stop"))
    assert "the disk is full" in window.runs()


def test_message_while_tasks_fail(place):
    """while the window takes no task, a message that follows a turn is a reason to continue, as where nobody waits; a task that it takes ends that"""
    window = stopped(place)
    until(lambda: log(place) != [], "it has failed")
    window.hook("UserPromptSubmit", prompt="y")
    place.ok("submit", "-s", "s", "deploy")
    assert reason(window.hook("Stop"), "qwen") == "deploy"
    assert window.hook("Stop") == {} and window.status()["state"] == "idle"
    until(lambda: not tries(window), "it tries no more")
    os.unlink(os.path.join(window.folder, "stop"))
    place.ok("submit", "-s", "s", "then rest")
    assert window.runs() == "then rest"
    until(lambda: not failing(place), "it works again")
    place.ok("submit", "-s", "s", "and go on")
    assert window.hook("Stop") == {}
    assert window.runs() == "and go on" and window.hook("Stop") == {}


def test_damaged(place):
    """a file of tasks that is not a list is left as it is, and a lock that somebody has left is taken over"""
    window = idle(place)
    with open(os.path.join(window.folder, "stop"), "w", encoding="utf-8"):
        pass
    with open(window.tasks, "w", encoding="utf-8") as file:
        file.write('{"not": "a list"}')
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    until(lambda: log(place) != [], "it has failed")
    assert "it is not a list of tasks" in log(place)[0] and open(window.tasks, encoding="utf-8").read() == '{"not": "a list"}'
    os.unlink(window.tasks)
    os.unlink(os.path.join(window.folder, "stop"))
    with open(window.tasks + ".lock", "w", encoding="utf-8"):
        os.utime(window.tasks + ".lock", (1, 1))
    assert "the disk is full" in window.runs() and not os.path.exists(window.tasks + ".lock")


if __name__ == "__main__":
    sys.exit(main(globals()))
