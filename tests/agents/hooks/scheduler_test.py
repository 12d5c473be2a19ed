#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent whose window runs scheduled tasks: the process that waits beside the idle session starts a turn by one, and the hook for the task's command has what the model reads. The window is ours."""
import functools
import hashlib
import json
import os
import select
import signal
import subprocess
import sys

from calls import context, log, reason, transcript
from kit import NOBODY, Place, Skip, as_nobody, end, main, until
from setup_test import FILES, path, programs, read, write
from wake_test import waiting

# It watches the folder of the tasks, runs once what was due before, and writes that down under the lock.
WINDOW = """import ctypes, json, os, signal, sys, time
folder, session, watches = sys.argv[1:4]
path, libc = os.path.join(folder, "scheduled_tasks.json"), ctypes.CDLL(None)
os.makedirs(folder, exist_ok=True)
def watch(*_):
    assert libc.inotify_add_watch(libc.inotify_init1(0), (watches if watches[0] == "/" else folder).encode(), 0x3c2) > 0
signal.signal(signal.SIGUSR1, watch)
if watches == "yes" or watches[0] == "/":
    watch()
print("shows", flush=True)
while True:
    time.sleep(0.02)
    if os.path.exists(os.path.join(folder, "stop")) or not os.path.exists(path):
        continue
    tasks = json.load(open(path))
    due = [task for task in tasks if task.get("sessionId") == session and task["lastFiredAt"] is None]
    if not due:
        continue
    while True:
        try:
            os.close(os.open(path + ".lock", os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.01)
    tasks = json.load(open(path))
    for task in tasks:
        if task in due:
            assert task["recurring"] and task["createdAt"] < (time.time() - 86400) * 1000, task
            task["lastFiredAt"] = int(time.time() * 1000)
            print(task["prompt"], flush=True)
    with open(path + ".new", "w") as file:
        json.dump(tasks, file)
    os.replace(path + ".new", path)
    os.unlink(path + ".lock")
"""
COMMAND = ".qwen/commands/tidings/read.md"
EXPANDED = "(tidings) Something was waiting for you; it is in this turn's context. [tidings {}]"
OTHERS = [{"id": "abcdefgh", "cron": "0 9 * * *", "prompt": "é \U0001f600", "recurring": True, "createdAt": 1, "lastFiredAt": 2.5, "new": [None]}]


class Window:
    """A window of Qwen Code's, as far as its hooks and its file of tasks show it."""

    def __init__(self, place, session="s", watches="yes", command=True, python=sys.executable):
        self.place, self.session, self.said = place, session, []
        self.folder = os.path.join(place.dir, "tmp", hashlib.sha256(place.work.encode()).hexdigest())
        self.tasks = os.path.join(self.folder, "scheduled_tasks.json")
        self.process = place.start(command=[python, "-c", WINDOW, self.folder, session, watches], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"shows\n"
        place.env["QWEN_CODE_MESSAGING_SOCKET"] = "/run/x.sock"
        if command:
            write(place, COMMAND, "")

    def hook(self, event, session=None, words=("--wake",), **fields):
        session = session or self.session
        text = json.dumps({"session_id": session, "hook_event_name": event, "cwd": self.place.work, "transcript_path": transcript(self.place, "qwen", session), **fields})
        answer = self.place.ok("hook", "--budget", "60s", "--owner", str(self.process.pid), *words, "qwen", stdin=text).json
        self.said += [answer.pop("systemMessage")] if "systemMessage" in answer else []
        return answer

    def turn(self, session=None):
        self.hook("UserPromptSubmit", session, prompt="x")
        assert self.hook("Stop", session) == {}

    def mark(self):
        """Returns what the window was given next. Its task is removed then."""
        until(lambda: select.select([self.process.stdout], [], [], 0)[0], "the window takes a task")
        command, mark = self.process.stdout.readline().decode().split()
        assert command == "/tidings:read" and all(one.isalnum() or one == "-" for one in mark), mark
        until(lambda: not [task for task in self.listed() if task["id"].startswith("tidings")], "the task is gone")
        return mark

    def runs(self, session=None, mark=None):
        """Begins the turn of the next task, and returns what its model reads beside the text of the command."""
        return context(self.hook("UserPromptExpansion", session, command_name="tidings:read", prompt=EXPANDED.format(mark or self.mark())), "UserPromptExpansion")

    def listed(self):
        with open(self.tasks, encoding="utf-8") as file:
            return json.load(file)

    def status(self, session=None):
        return self.place.ok("status", "-s", session or self.session, "--json").json

    def waits(self):
        return len([one for one in waiting(self.place, self.process.pid) if not one.endswith(("-first", ".failed", ".got", ".reason", ".said"))])


def idle(place, **more):
    window = Window(place, **more)
    window.hook("SessionStart", source="startup")
    window.turn()
    until(lambda: window.waits() == 1, "a process waits")
    return window


def test_critical(place):
    """something critical starts a turn of the idle window, with all that waits, once; other tasks stay as they are"""
    window = idle(place)
    with open(window.tasks + ".new", "w", encoding="utf-8") as file:
        json.dump(OTHERS, file)
    os.replace(window.tasks + ".new", window.tasks)
    assert window.status()["not_woken"] is None
    place.ok("push", "-s", "s", "it rains")
    assert place.ok("push", "-s", "s", "-l", "critical", "the disk is full").said == ""
    text = window.runs()
    assert "the disk is full" in text and "it rains" in text
    assert window.listed() == OTHERS and window.status()["state"] == "busy", window.status()
    assert window.hook("Stop") == {} and window.status()["state"] == "idle" and place.pending() == []
    place.ok("push", "-s", "s", "-l", "critical", "the disk is fuller")
    assert "the disk is fuller" in window.runs() and log(place) == []


def test_message_after_a_turn(place):
    """a message that follows a turn is no reason to continue, which the screen would call an error: it begins a turn of its own, and so does the next one"""
    window = idle(place)
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("submit", "-s", "s", "deploy <now> & tell")
    place.ok("submit", "-s", "s", "then rest")
    assert window.hook("Stop") == {}
    assert window.runs() == "deploy <now> & tell"
    assert window.hook("Stop") == {}
    assert window.runs() == "then rest"
    assert window.hook("Stop") == {} and window.status()["state"] == "idle" and log(place) == []
    assert window.said == ["tidings hands the model the next message: deploy <now> & tell", "tidings hands the model the next message: then rest"]
    assert window.hook("Stop") == {} and len(window.said) == 2


def test_said_of_a_stopped_turn(place):
    """the line about a turn that a person stops is not shown after a later turn; a prompt's hook for the command itself leaves it"""
    for noticed in (True, False):
        with type(place)() as own:
            window = idle(own)
            own.ok("submit", "-s", "s", "deploy")
            assert window.runs() == "deploy"
            if noticed:
                until(lambda own=own, window=window: window.hook("Notification", notification_type="idle_prompt") == {} and window.status()["state"] == "idle", "the turn has ended")
                assert not [name for name in os.listdir(os.path.join(own.store, "waiting")) if name.endswith(".said")]
            window.hook("UserPromptSubmit", prompt="y")
            assert window.hook("Stop") == {} and window.said == [], window.said
            own.ok("submit", "-s", "s", "then rest")
            mark = window.mark()
            assert window.runs(mark=mark) == "then rest" and window.hook("UserPromptSubmit", prompt=EXPANDED.format(mark)) == {}
            assert window.hook("Stop") == {} and window.said == ["tidings hands the model the next message: then rest"], window.said


def test_nothing_is_said(place):
    """a setting leaves the line for the person out"""
    write(place, ".config/tidings/config.json", '{"alerts": {"delivered": false}}')
    window = idle(place)
    place.ok("submit", "-s", "s", "deploy")
    assert window.runs() == "deploy" and window.hook("Stop") == {} and window.said == []


def test_after_a_stop(place):
    """messages of a turn that a person stops begin turns after the next one, though the process that begins them has waited since long before"""
    window = idle(place)
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("submit", "-s", "s", "one")
    place.ok("submit", "-s", "s", "two")
    until(lambda: window.hook("Notification", notification_type="idle_prompt") == {} and window.status()["state"] == "idle", "the turn has ended")
    window.hook("UserPromptSubmit", prompt="y")
    assert window.hook("Stop") == {}
    assert window.runs() == "one" and window.hook("Stop") == {}
    assert window.runs() == "two" and window.hook("Stop") == {}
    assert window.status()["state"] == "idle" and log(place) == []


def test_critical_in_a_turn(place):
    """something critical that comes while the model writes its last words begins a turn of its own"""
    window = idle(place)
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert window.hook("Stop") == {}
    assert "the disk is full" in window.runs()
    assert window.hook("Stop") == {} and window.status()["state"] == "idle" and log(place) == []


def test_idle_message(place):
    """a message to an idle window begins a turn"""
    window = idle(place)
    assert place.ok("submit", "-s", "s", "deploy").said == ""
    mark = window.mark()
    assert window.status()["state"] == "starting" and window.status()["not_woken"] is None
    assert window.runs(mark=mark) == "deploy" and log(place) == []


def test_large(place):
    """what the agent makes longer by its escapes is counted: a large message comes in parts, whole, and none is cut"""
    window = idle(place)
    message = "".join(f"{i} <a> & {'b' * 60}\n" for i in range(150))
    place.ok("submit", "-s", "s", "--", message)
    parts = []
    for _ in range(2):
        text = window.runs()
        assert len(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")) + 40 <= 10000, len(text)
        parts.append(text)
        assert window.hook("Stop") == {}
    assert [part.split("\n", 1)[0] for part in parts] == ["(part 1 of 2 of one message; the rest follows)", "(part 2 of 2 of one message)"]
    assert "\n".join(part.split("\n", 1)[1] for part in parts) == message.strip() and log(place) == []


def test_not_ours(place):
    """a command that a person types carries nothing, even with a mark that is not ours: the prompt's own hook does"""
    window = idle(place)
    place.ok("push", "-s", "s", "it rains")
    for prompt in ("Explain this.", EXPANDED.format(""), EXPANDED.format("1z141z8-9c1m7t0b")):
        assert window.hook("UserPromptExpansion", command_name="tidings:read", prompt=prompt) == {}
        assert window.status()["state"] == "idle"
    assert "it rains" in context(window.hook("UserPromptSubmit", prompt=EXPANDED.format("")), "UserPromptSubmit")


def test_cleared(place):
    """the window knows its tasks under the session that it showed first, whatever it shows later"""
    window = idle(place)
    place.ok("push", "-s", "s", "it rains")
    assert window.hook("SessionEnd", reason="clear") == {}
    window.hook("SessionStart", "t", source="clear")
    place.ok("push", "-s", "t", "-l", "critical", "the disk is full")
    text = window.runs("t")
    assert "it rains" in text and "the disk is full" in text
    assert [task for task in window.listed() if task["id"].startswith("tidings")] == []


def test_resumed(place):
    """something critical that waits when a session is resumed starts a turn without a prompt"""
    window = idle(place)
    end(window.process, signal.SIGKILL)
    until(lambda: not window.waits(), "nobody waits")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    other = Window(place)
    other.hook("SessionStart", source="resume")
    assert "the disk is full" in other.runs() and log(place) == []


def test_resumed_early(place):
    """when a session is resumed, its window runs no tasks yet: it is woken as soon as it does"""
    window = idle(place)
    end(window.process, signal.SIGKILL)
    until(lambda: not window.waits(), "nobody waits")
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    other = Window(place, watches="later")
    other.hook("SessionStart", source="resume")
    os.kill(other.process.pid, signal.SIGUSR1)
    assert "the disk is full" in other.runs() and log(place) == []


def test_resumed_without_tasks(place):
    """nobody waits any more for a session that is resumed in a window that runs no tasks, and the commands say so"""
    window = Window(place, watches="no")
    window.hook("SessionStart", source="resume")
    until(lambda: not window.waits(), "nobody waits")
    assert "nothing waits to wake this Qwen Code" in place.ok("push", "-s", "s", "-l", "critical", "the disk is full").said and log(place) == []


def test_killed_with_a_task(place):
    """an agent that is killed after it has taken a task, and before it ran it, loses nothing"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    mark = window.mark()
    end(window.process, signal.SIGKILL)
    until(lambda: not window.waits(), "nobody waits")
    other = Window(place)
    other.hook("SessionStart", source="resume")
    assert other.mark() != mark
    assert "the disk is full" in other.runs(mark=mark) and other.hook("Stop") == {} and place.pending() == []


def test_person_first(place):
    """a person's prompt before the task is run takes what waits; the task's turn has nothing then"""
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    mark = window.mark()
    assert "the disk is full" in context(window.hook("UserPromptSubmit", prompt="y"), "UserPromptSubmit")
    assert window.hook("Stop") == {}
    assert window.hook("UserPromptExpansion", command_name="tidings:read", prompt=EXPANDED.format(mark)) == {}
    assert window.hook("Stop") == {} and window.status()["state"] == "idle" and log(place) == []


def test_not_answered(place):
    """a turn whose hook has not answered with what waits, because it is missing or the store was busy, is followed by a reason to continue, and not by one more such turn"""
    window = idle(place)
    place.ok("submit", "-s", "s", "deploy")
    window.mark()
    assert reason(window.hook("Stop"), "qwen") == "deploy"
    assert window.hook("Stop") == {} and window.status()["state"] == "idle"
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert "the disk is full" in window.runs() and log(place) == []


def test_without_a_task(place):
    """where the window runs no tasks (a setting, no terminal), does not know the command, or may not be woken, all is as before: a reason to continue, and a sentence that nothing wakes it"""
    for session, words, environment, more in (("a", ("--wake",), "/run/x.sock", {"watches": "no"}), ("b", ("--wake",), "", {}),
                                              ("c", ("--wake",), "/run/x.sock", {"command": False}), ("d", (), "/run/x.sock", {})):
        window = Window(place, session, **more)
        place.env["QWEN_CODE_MESSAGING_SOCKET"] = environment
        if session == "c":
            os.unlink(path(place, COMMAND))
        window.hook("SessionStart", words=words, source="startup")
        window.hook("UserPromptSubmit", words=words, prompt="x")
        place.ok("submit", "-s", session, "deploy")
        assert reason(window.hook("Stop", words=words), "qwen") == "deploy"
        assert window.hook("Stop", words=words) == {} and not window.waits()
        assert "nothing waits to wake this Qwen Code" in window.status()["not_woken"]
        end(window.process, signal.SIGKILL)
    assert log(place) == []


def test_another_file_system(place):
    """a window that watches a folder with the number of the tasks' folder, on another file system, runs no tasks"""
    folder = os.path.join(place.dir, "tmp", hashlib.sha256(place.work.encode()).hexdigest())
    os.makedirs(os.path.dirname(folder))
    os.symlink("/sys", folder)
    if os.stat("/sys").st_ino != os.stat("/proc").st_ino:
        raise Skip("/sys and /proc have different numbers")
    window = Window(place, watches="/proc")
    window.hook("UserPromptSubmit", prompt="x")
    place.ok("submit", "-s", "s", "deploy")
    assert reason(window.hook("Stop"), "qwen") == "deploy" and window.hook("Stop") == {} and log(place) == []


def test_in_the_home(place):
    """a window in the user's home, whose project's command is the user's own, is woken; a project's own command of that name is not run"""
    place.work = place.dir
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert "the disk is full" in window.runs() and log(place) == []
    place.work = os.path.join(place.dir, "work")
    other = Window(place, "t")
    write(place, f"work/{COMMAND}", "")
    other.hook("SessionStart", source="startup")
    other.turn()
    assert "nothing waits to wake this Qwen Code" in other.status()["not_woken"]


SERVER = """import sys, time
print("serves", flush=True)
time.sleep(1000)
"""


def serve(place, *words, **more):
    server = place.start(command=[*words, "serve"], **more)
    assert server.stdout.readline() == b"serves\n", server.stderr.read()
    return server


def test_other_programs(place):
    """a program that only has the daemon's words in its arguments is no daemon: a window beside it is woken"""
    write(place, "notes.py", SERVER)
    serve(place, sys.executable, "-c", SERVER, "qwen.py")
    serve(place, sys.executable, path(place, "notes.py"), "qwen-notes")
    window = idle(place)
    place.ok("push", "-s", "s", "-l", "critical", "the disk is full")
    assert "the disk is full" in window.runs() and log(place) == []


def test_beside_a_daemon(place):
    """beside the agent's daemon, which would run the task, too, a window is not woken, and the commands say so; another user's daemon does not matter"""
    if os.geteuid():
        raise Skip("only root starts another user's daemon, which disturbs no other test")
    user = as_nobody(place.env)
    window = Window(place)
    with Place() as other:
        for folder in (other.dir, other.work):
            os.chown(folder, NOBODY, NOBODY)
        other.start, other.ok = functools.partial(other.start, **user), functools.partial(other.ok, **user)
        others = Window(other, python="/usr/bin/python3")
        for file in ("qwen.py", "lib/qwen-code/lib/cli-entry.js"):
            write(other, file, SERVER)
            daemon = serve(other, "/usr/bin/python3", path(other, file), "--port", "0")
            others.turn()
            assert not others.waits() and "`qwen serve`" in others.status()["not_woken"], (file, others.status(), log(other))
            window.turn()
            until(lambda: window.waits() == 1, "a process waits beside the first user's window")
            end(daemon)
        others.turn()
        until(lambda: others.waits() == 1, "a process waits beside the other user's window")
        assert log(other) == log(place) == []


def test_command_file(place):
    """Qwen Code gets the command of its scheduled tasks; --no-wake and --remove take it away, and a file of somebody else's stays"""
    programs(place)
    assert f"+++ {path(place, COMMAND)}" in place.ok("setup", "--dry-run", "qwen").text and not os.path.exists(path(place, COMMAND))
    assert "waits to wake it" in place.ok("setup", "qwen").text
    text = read(place, COMMAND)
    assert "disable-model-invocation: true" in text and text.endswith("[tidings {{args}}]\n")
    assert "nothing changed" in place.ok("setup", "qwen").text and "is not as setup writes it" not in place.run("doctor").text
    write(place, COMMAND, text + "more (tidings setup qwen)\n")
    assert "commands/tidings/read.md is not as setup writes it" in place.run("doctor").text
    place.ok("setup", "--no-wake", "qwen")
    assert not os.path.exists(path(place, COMMAND)) and "is not as setup writes it" not in place.run("doctor").text
    place.ok("setup", "qwen")
    place.ok("setup", "--remove", "qwen")
    assert not os.path.exists(os.path.dirname(path(place, COMMAND)))
    write(place, COMMAND, "mine\n")
    place.refused("setup", "qwen", code=1)
    assert b"tidings did not write this file" in place.run("setup", "qwen").err and not os.path.exists(path(place, FILES["qwen"]))
    assert read(place, COMMAND) == "mine\n"
    place.ok("setup", "--no-wake", "qwen")
    place.ok("setup", "--remove", "qwen")
    assert read(place, COMMAND) == "mine\n"


if __name__ == "__main__":
    sys.exit(main(globals()))
