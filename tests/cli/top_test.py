#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings top` in a real terminal (tmux), by keys and screens. tests/unit/top tests the layout of screens, without a terminal."""
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time

from kit import DEADLINE_S, TIDINGS, Skip, main, sleeps_for_ever, until

NUMBERS = itertools.count(1)


class Terminal:
    """A command in a terminal."""

    def __init__(self, place, *command, size=(80, 24), env=None):
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed")
        if not os.path.exists(f"{TIDINGS}-top"):
            raise Skip("this build has no tidings-top")
        self.tmux = ["tmux", "-S", os.path.join(place.dir, f"tmux-{next(NUMBERS)}"), "-f", "/dev/null"]
        env = {**place.env, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})}
        words = [f"{name}={value}" for name, value in env.items()]
        self.ask("new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "env", *words, *command, cwd=place.work, env=env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, timeout=DEADLINE_S, check=False)

    def ask(self, *words, **more):
        ran = subprocess.run([*self.tmux, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE_S, check=False, **more)
        assert ran.returncode == 0, (words[0], ran.stderr)
        return ran.stdout

    def screen(self):
        time.sleep(0.05)  # each look starts a process
        return self.ask("capture-pane", "-p")

    def variable(self, name):
        return self.ask("display-message", "-p", f"#{{{name}}}").strip()

    def shows(self, *texts, no=()):
        def there():
            screen = self.screen()
            return screen if all(text in screen for text in texts) and not any(text in screen for text in no) else None

        deadline = time.monotonic() + DEADLINE_S
        while not there():
            assert time.monotonic() < deadline, f"never seen: {texts}, without {no}, on:\n{self.screen()}"

    def press(self, key, *texts, no=()):
        """Presses a key once. No program here drops keys, and many keys have another effect the second time."""
        self.ask("send-keys", key)
        self.shows(*texts, no=no)

    def type(self, text):
        self.ask("send-keys", "-l", text)


def process_of(terminal):
    """Returns the pid of the program in the terminal; env and the shell were replaced by it."""
    return int(terminal.variable("pane_pid"))


def queue(place):
    return [(message["id"], message["content"], message["delivery"]) for message in place.ok("queue", "-s", "s", "--json").json["messages"]]


def two_messages(place):
    place.opened()
    for name, words in (("m1", "First of all."), ("m2", "Run the tests."), ("m3", "And then the rest.")):
        place.ok("submit", "-s", "s", "--id", name, words)


def test_keys(place):
    """keys explain, edit, move, steer and cancel messages, and changes by other processes are shown"""
    two_messages(place)
    with Terminal(place, TIDINGS, "top") as terminal:
        terminal.shows("1 session, 1 running", "m2", "Run the tests.", "Queue: 3 messages", "Pending: nothing", "Tab messages")
        place.ok("push", "-s", "s", "-k", "ci.failed", "-l", "error", "red \x1b[31m\u202e")
        terminal.shows("Pending: 1 notification", "ci.failed", "red {U+001B}[31m{U+202E}")
        terminal.press("Tab", "e edit")
        terminal.press("Down", "e edit")
        terminal.press("e", "New words: Run the tests.")
        terminal.type(" Slowly.")
        terminal.shows("New words: Run the tests. Slowly.")
        terminal.press("Enter", "has other words now", no=["New words"])
        assert ("m2", "Run the tests. Slowly.", "queue") in queue(place)
        terminal.press("J", "at another place")
        assert [message[0] for message in queue(place)] == ["m1", "m3", "m2"]
        terminal.press("s", "goes another way", "steering")
        assert ("m2", "Run the tests. Slowly.", "steer") in queue(place)
        terminal.press("x", "(message.submitted) it was put into the queue")
        terminal.press("Escape", "Queue: 3 messages")
        terminal.press("c", 'Cancel "Run the tests. Slowly."? y/n')
        terminal.press("y", "is cancelled", "Queue: 2 messages")
        assert [message[0] for message in queue(place)] == ["m1", "m3"]
        terminal.ask("send-keys", "q")


def test_pasted(place):
    """pasted text presses no keys"""
    two_messages(place)
    with Terminal(place, TIDINGS, "top") as terminal:
        terminal.shows("Tab messages")
        terminal.press("Tab", "e edit")
        terminal.press("e", "offered to the agent already")
        terminal.press("Down", "e edit")
        terminal.ask("set-buffer", "cyq\n")
        terminal.ask("paste-buffer", "-p")
        terminal.press("e", "New words: Run the tests.")
        terminal.ask("paste-buffer", "-p")
        terminal.shows("New words: Run the tests.cyq\u23ce")
        terminal.press("Escape", "stays as it was")
    assert len(queue(place)) == 3


def test_resized(place):
    """top uses the whole size of the terminal, and says if that is too small"""
    two_messages(place)
    with Terminal(place, TIDINGS, "top") as terminal:
        terminal.shows("Tab messages")
        for columns, rows in ((100, 30), (30, 8), (80, 24), (60, 12)):
            terminal.ask("resize-window", "-x", str(columns), "-y", str(rows))
            if rows < 10:
                terminal.shows("tidings top needs 56 columns", "and 10 rows; here are 30 and")
                continue

            def fits(columns=columns, rows=rows):
                lines = terminal.screen().rstrip("\n").split("\n")
                return len(lines) == rows and "? help  q quit" in lines[-1] and max(map(len, lines)) == columns

            until(fits, f"a screen of {columns} x {rows}")


def test_sleeps(place):
    """while nothing changes and no age is shown, top sleeps without a timeout; it notices the end of an agent"""
    agent = place.start(command=["sleep", "600"])
    place.opened(owner=agent.pid)
    with Terminal(place, TIDINGS, "top") as terminal:
        terminal.shows("idle", "Pending: nothing")
        until(lambda: sleeps_for_ever(process_of(terminal)), "a ppoll that waits for ever")
        agent.kill()
        agent.wait()
        terminal.shows("0 running", "not running")


def shell(place):
    if not os.path.exists("/bin/bash"):
        raise Skip("there is no bash")
    return Terminal(place, "/bin/bash", "--norc", "--noprofile", "-i", env={"PS1": "> ", "PS0": "", "T": TIDINGS})


def test_terminal_stays(place):
    """after q, Ctrl-C, SIGTERM, SIGHUP and an error, and while it is stopped, the terminal is as it was"""
    two_messages(place)
    with shell(place) as terminal:
        terminal.shows(">")
        for number, (end, code) in enumerate((("q", 0), ("C-c", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("error", 1))):
            terminal.type(f"clear; stty -g >before; $T top; echo code $? of {number}; stty -g >after; cmp before after && echo same{number}\n")
            terminal.shows("Tab messages")
            assert terminal.variable("alternate_on") == "1"
            if end.startswith("SIG"):
                os.kill(below(terminal), getattr(signal, end))
            elif end == "error":
                with open(os.path.join(place.store, "data.mdb"), "r+b") as file:
                    size = file.seek(0, os.SEEK_END)
                    file.seek(2 * 4096)  # the root of the tree is on one of the pages after the first two
                    file.write(bytes(size - 2 * 4096))
            else:
                terminal.press(end, "code")
            terminal.shows(f"code {code} of {number}", f"same{number}", no=["Tab messages"])
            assert (terminal.variable("alternate_on"), terminal.variable("cursor_flag")) == ("0", "1")


def below(terminal):
    with open(f"/proc/{process_of(terminal)}/task/{process_of(terminal)}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def test_stopped(place):
    """Ctrl-Z gives the terminal back, and fg takes it again"""
    two_messages(place)
    with shell(place) as terminal:
        terminal.shows(">")
        terminal.type("$T top\n")
        terminal.shows("Tab messages")
        terminal.press("C-z", "Stopped", no=["Tab messages"])
        assert (terminal.variable("alternate_on"), terminal.variable("cursor_flag")) == ("0", "1")
        place.ok("push", "-s", "s", "-k", "ci.failed", "meanwhile")
        terminal.type("fg\n")
        terminal.shows("Tab messages", "meanwhile", no=["Stopped"])
        terminal.press("Tab", "e edit")
        terminal.press("q", "Stopped", no=["e edit"])


def test_new(place):
    """/ filters the lists, v previews, n submits and p pushes, and delivered notifications are listed"""
    two_messages(place)
    place.opened("other")
    with Terminal(place, TIDINGS, "top", "-s", "s", size=(120, 40)) as terminal:
        terminal.shows("2 sessions, 2 running", "Queue: 3 messages")
        terminal.press("p", "New notification:")
        terminal.type("The linter is red.")
        terminal.press("Enter", "is pushed", "Pending: 1 notification", "cli.note")
        terminal.press("v", "The linter is red.", "This is what the next tool result would carry, with the configuration of this")
        terminal.press("Escape", "Queue: 3 messages")
        terminal.press("n", "New message:")
        terminal.type("Fix it.")
        terminal.press("Enter", "is submitted", "Queue: 4 messages")
        assert any(message[1] == "Fix it." and message[0].startswith("m-") for message in queue(place)), queue(place)
        place.ok("deliver", "--at", "tool-result", "-s", "s", "--owner", str(os.getpid()), "--tool", "Bash", stdin="ok")
        terminal.shows("Pending: nothing", "Delivered last", "The linter is red.")
        terminal.press("/", "Enter keep")
        terminal.type("othe")
        terminal.shows("other", "Queue: no message waits", no=["Delivered last"])
        terminal.press("Enter", "/othe", no=["Enter keep"])
        terminal.press("Escape", "2 sessions, 2 running", no=["/othe"])


def test_dead_sessions(place):
    """top closes a session that does not run after a question, or all such sessions with nothing waiting; F-keys work"""
    agent = place.start(command=["sleep", "600"])
    for name in ("dead", "waits", "idle-1", "idle-2"):
        place.opened(name, owner=agent.pid)
    place.opened("lives")
    for name in ("dead", "waits"):
        place.ok("push", "-s", name, "-k", "ci.failed", "The build is red.")
    agent.kill()
    agent.wait()
    with Terminal(place, TIDINGS, "top", "-s", "lives", size=(100, 30)) as terminal:
        terminal.shows("5 sessions, 1 running")
        terminal.press("D", "This session runs")
        terminal.press("F4", "Enter keep")
        terminal.type("dead")
        terminal.press("Enter", "Pending: 1 notification", no=["Enter keep"])
        terminal.press("C-d", "Close dead, where 1 notification and 0 messages wait? y/n")
        terminal.press("y", "The session is closed.")
        terminal.press("/", "Enter keep")
        terminal.press("Escape", "lives", no=["Enter keep"])
        terminal.press("Z", "Close 2 sessions that nobody runs, with nothing that waits? y/n")
        terminal.press("y", "2 sessions are closed.", "waits", "lives", no=["idle-1", "idle-2", "dead"])
        terminal.press("F1", "As in k9s: d describes")
        terminal.press("F1", "D close")
        terminal.ask("send-keys", "F10")
    names = [one["session"] for one in place.ok("sessions", "--json").json["sessions"] if one["pid"]]
    assert sorted(names) == ["lives", "waits"], names


def test_refusals(place):
    """top refuses to start without its program, a terminal that ncurses knows, or a store"""
    alone = shutil.copy2(TIDINGS, place.dir)
    done = subprocess.run([alone, "top"], env=place.env, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 1 and f"{alone}-top is not there; the package tidings-top of Debian has it" in done.stderr, done
    place.refused("top", "surplus", code=2, says="unexpected argument 'surplus'")
    if os.path.exists(f"{TIDINGS}-top"):
        place.refused("top", says=["needs a terminal", "tidings sessions --json"])
    place.opened("known")
    with Terminal(place, "sh", "-c", f"{TIDINGS} top -s knwon; echo code $?; sleep 600") as terminal:
        terminal.shows("the store has no session 'knwon'. Did you mean 'known'?", "known  (running", "code 1")
    shutil.rmtree(place.store)
    with Terminal(place, "sh", "-c", f"{TIDINGS} top; {TIDINGS} push --create -s s x; TERM=nonsense {TIDINGS} top; echo over; sleep 600") as terminal:
        terminal.shows("there is no store at", "cannot be used", "over")
    with Terminal(place, "sh", "-c", f"TERM=dumb {TIDINGS} top; echo code $?; sleep 600") as terminal:
        terminal.shows("TERM is 'dumb': this terminal has no full screen", "code 1")
        assert terminal.variable("alternate_on") == "0"


if __name__ == "__main__":
    sys.exit(main(globals()))
