# SPDX-License-Identifier: MIT
"""follow.py: tests commands that watch a store in a database: `tail -f`, `wait`, `wait --alert` and `top` show the actions of other processes, and
continue after a restart of the server; a signal ends each of them. The process that waits to wake an agent continues after a restart, too.
"""
import ctypes.util
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


# A command that waits for a lost store says so once.
PATIENT = "tries again with growing pauses: "


def begin_command():
    """The command ends with the test, and at a SIGHUP, also where nohup runs the test."""
    kit.command_dies_with_us()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Looker:
    """A command that watches the store; its output is read from a file. `screen`: it runs in a terminal."""

    def __init__(self, *words, screen=False):
        self.folder = tempfile.TemporaryDirectory()
        self.path, self.errors_path = os.path.join(self.folder.name, "out"), os.path.join(self.folder.name, "errors")
        # An alert goes to this program, and so neither to the desktop nor to the terminal of the process that owns the session, which is this one.
        os.symlink("/bin/true", os.path.join(self.folder.name, "notify-send"))
        path = f"{self.folder.name}:{os.environ['PATH']}"
        self.terminal, inside = pty.openpty() if screen else (None, subprocess.DEVNULL)
        with open(self.path, "wb") as out, open(self.errors_path, "wb") as errors:
            if screen:
                fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
            self.process = subprocess.Popen([kit.TIDINGS, *words], stdin=inside, stdout=inside if screen else out, stderr=errors,
                                            env={**os.environ, "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8"}, start_new_session=True,
                                            preexec_fn=begin_command)
        if screen:
            os.close(inside)
            os.set_blocking(self.terminal, False)
        self.seen = ""

    def read(self):
        if self.terminal is None:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                return file.read()
        try:
            while more := os.read(self.terminal, 65536):
                self.seen += more.decode(errors="replace")
        except OSError:  # there is no more output now, or at all
            pass
        return self.seen

    def said(self):
        with open(self.errors_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def descriptors(self):
        found = []
        for entry in os.scandir(f"/proc/{self.process.pid}/fd"):
            try:
                found.append(os.readlink(entry.path))
            except FileNotFoundError:  # it was closed since
                pass
        return found

    def is_patient(self, server, what, meanwhile=lambda: None, how=signal.SIGINT):
        """Stops the server until the command has said that it is gone."""
        before = self.said().count(PATIENT)
        server.stop(how)
        kit.wait_for(lambda: self.said().count(PATIENT) > before or self.process.poll() is not None, what)
        expect(self.process.poll() is None, f"{what} goes on while the server is gone: {self.said()}")
        meanwhile()
        server.start()

    def shows(self, text, what):
        kit.wait_for(lambda: text in self.read() or self.process.poll() is not None, what)
        expect(text in self.read(), f"{what}{'' if text in self.read() else ': ' + self.read()[-300:]}")

    def ends(self, how, code, what):
        if how:
            self.process.send_signal(how)
        kit.wait_for(lambda: (self.read(), self.process.poll())[1] is not None, what)
        self.read()  # its last output
        expect(self.process.returncode == code, f"{what}: {self.process.returncode} {self.said()}")
        self.folder.cleanup()
        if self.terminal is not None:
            os.close(self.terminal)


def check_tail(server, url, host):
    tail = Looker("tail", "-f", "-S", url, "-s", "s")
    host.call("push", session="s", kind="ci.failed", message="a haddock")
    tail.shows("a haddock", "tail -f prints what was pushed")
    host.call("push", session="s", kind="ci.failed", message="a halibut")
    tail.shows("a halibut", "and what is pushed then")
    for how, fish in ((signal.SIGINT, "a herring"), (signal.SIGQUIT, "a hake")):
        tail.is_patient(server, "tail -f", how=how)
        kit.tidings("push", "-S", url, "-s", "s", fish)
        tail.shows(fish, "and prints what is pushed when it is there again")
    for fish in ("a haddock", "a halibut", "a herring", "a hake"):
        expect(tail.read().count(fish) == 1, f"{fish} is in one line: {tail.read()}")
    expect(tail.said().count("\n") == 2, f"it says one line for each restart: {tail.said()}")
    tail.ends(signal.SIGTERM, 143, "SIGTERM ends it")


def check_wait(server, url):
    """Tests `wait` of a scripted agent, which is this process."""
    for how in (signal.SIGINT, signal.SIGQUIT):
        session = ("-S", url, "-s", f"of a script, {how}")
        wait = Looker("wait", *session, "--owner", str(os.getpid()))
        kit.wait_for(lambda: kit.tidings("status", *session, check=False).returncode == 0 or wait.process.poll() is not None, "it owns the session")
        wait.is_patient(server, "wait", how=how)
        kit.tidings("submit", *session, "a minnow")
        wait.shows("a minnow", "and prints the action when it is there again")
        wait.ends(None, 0, "and ends")


def check_alert(server, url, host):
    """Tests `wait --alert`, which has looked once when it watches the session's owner."""
    host.event("turn.started", "s")
    alert = Looker("wait", "--alert", "-S", url, "-s", "s")
    kit.wait_for(lambda: "anon_inode:[pidfd]" in alert.descriptors(), "wait --alert looks")
    alert.is_patient(server, "wait --alert")
    kit.tidings("push", "-S", url, "-s", "s", "-l", "critical", "a turbot")
    alert.shows(": a turbot", "wait --alert prints a critical notification")
    alert.ends(None, 0, "and ends")
    host.event("turn.finished", "s")


def check_top(server, url, host):
    if not os.path.exists(os.path.join(kit.BUILD, "tidings-top")):
        print("ok - top # SKIP this build has no tidings-top")
        return
    host.event("session.opened", "of top")
    host.call("push", session="of top", kind="ci.failed", message="a haddock")
    top = Looker("top", "-S", url, "-s", "of top", screen=True)
    top.shows("a haddock", "top shows what waits")
    kit.tidings("push", "-S", url, "-s", "of top", "a monkfish")
    top.shows("a monkfish", "and what is pushed then")
    server.stop()
    top.shows("cannot be reached", "it says that the server is gone")
    server.start()
    kit.tidings("push", "-S", url, "-s", "of top", "a sardine")
    top.shows("a sardine", "and goes on when it is there again")
    top.ends(signal.SIGHUP, 129, "SIGHUP ends it")
    expect("\x1b[?1049l" in top.seen, "and the terminal is as it was")


def check_top_closes(server, url):
    """Tests that `top` survives the loss of the store while it closes a session, for which it opens the store again."""
    if not os.path.exists(os.path.join(kit.BUILD, "tidings-top")):
        return
    with subprocess.Popen(["sleep", "1000"]) as agent:
        kit.tidings("event", "-S", url, "--as-host", "--owner", str(agent.pid), input=json.dumps({"type": "session.opened", "session": "of nobody", "data": {}}))
        agent.kill()
    top = Looker("top", "-S", url, "-s", "of nobody", screen=True)
    top.shows("of nobody", "top shows a session that does not run")
    server.stop()
    top.shows("cannot be reached", "it says that the server is gone")
    top.seen = ""
    os.write(top.terminal, b"D")
    top.shows("any other key", "it asks")
    os.write(top.terminal, b"y")
    top.shows("cannot be reached", "and says that the session cannot be closed")
    server.start()
    kit.tidings("push", "-S", url, "-s", "of nobody", "a mullet")
    top.shows("a mullet", "it goes on when the server is there again")
    os.write(top.terminal, b"Dy")
    kit.wait_for(lambda: json.loads(kit.tidings("status", "--json", "-S", url, "-s", "of nobody").stdout).get("closed") or top.process.poll() is not None, "it closes the session")
    os.write(top.terminal, b"q")
    top.ends(None, 0, "q ends it")


def check_waiter(server, url):
    """Tests the process that waits to wake an idle agent."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "HOME": folder, "XDG_STATE_HOME": folder, "CLAUDE_CONFIG_DIR": folder, "CLAUDE_CODE_ENTRYPOINT": "cli", "TIDINGS_STORE": url}
        hook = ("hook", "--budget", "60s", "--owner", str(os.getpid()), "claude")

        def called(event, **fields):
            return json.dumps({"session_id": "w", "hook_event_name": event, "cwd": folder, "transcript_path": os.path.join(folder, "projects", "x", "w.jsonl"), **fields})

        def log():
            path = os.path.join(folder, "tidings", "logs", "hook.log")
            if not os.path.exists(path):
                return ""
            with open(path, encoding="utf-8") as file:
                return file.read()
        kit.tidings(*hook, input=called("UserPromptSubmit", prompt="x"), env=env)
        kit.tidings(*hook, input=called("Stop"), env=env)
        waiter = subprocess.Popen([kit.TIDINGS, *hook, "--wait"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
        waiter.stdin.write(called("Stop"))
        waiter.stdin.close()
        kit.wait_for(lambda: not json.loads(kit.tidings("status", "--json", "-S", url, "-s", "w", env=env).stdout)["not_woken"], "it waits")
        server.stop()
        kit.wait_for(lambda: waiter.poll() is not None or "tries again" in log(), "it sees that the server is gone")
        expect(waiter.poll() is None, "a process that waits to wake an agent goes on while the server is gone")
        server.start()
        kit.tidings("push", "-S", url, "-s", "w", "-l", "critical", "the disk is full", env=env)
        expect(waiter.wait(120) == 2, f"and wakes the agent when it is there again: {waiter.returncode} {waiter.stderr.read()} {log()}")


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        host = kit.Kit(url)
        host.event("session.opened", "s")
        check_tail(server, url, host)
        check_wait(server, url)
        check_alert(server, url, host)
        check_top(server, url, host)
        check_top_closes(server, url)
        check_waiter(server, url)
        host.close()
    print(f"# sum: looking on: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
