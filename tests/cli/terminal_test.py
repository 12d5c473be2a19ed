#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings run` on a terminal: waiting for input, the progress line, job control."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

from kit import DEADLINE_S, TIDINGS, Skip, main, until


class Terminal:
    """A program that is the leader of a session on its own terminal."""

    def __init__(self, place, command, env=None):
        self.seen = b""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(place.work)
            os.execvpe(command[0], command, {**place.env, **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, wait_s=0.05):
        """Reads more output. Returns False at its end."""
        if not select.select([self.fd], [], [], wait_s)[0]:
            return True
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # the last program on the terminal has ended
            return False
        self.seen += chunk
        return bool(chunk)

    def expect(self, pattern):
        def there():
            alive = self.read()
            found = re.search(pattern, self.seen)
            assert found or alive, (pattern, self.seen)
            return found

        return until(there, f"{pattern!r} in {self.seen!r}")

    def type(self, text):
        os.write(self.fd, text)

    def end(self):
        """Waits for the end, and returns the exit code in the form of a shell."""
        deadline = time.monotonic() + DEADLINE_S
        while self.read():
            if not os.path.exists(f"/proc/{self.pid}/fd/0") and not select.select([self.fd], [], [], 0)[0]:
                break
            assert time.monotonic() < deadline, f"it does not end: {self.seen!r}"
        self.status = os.waitpid(self.pid, 0)[1]
        return os.waitstatus_to_exitcode(self.status)

    def without_progress(self):
        """Returns the output without the progress lines, which are printed each second and erased again."""
        return re.sub(rb"\r\x1b\[K(?:[^\r\n]* s(?=\r\x1b\[K))?", b"", self.seen)

def run(place, *command, quiet=False, env=None):
    return Terminal(place, [TIDINGS, "run", "-s", "s", "--create", *(["--quiet"] if quiet else []), "--", *command], env)


def gate(place):
    """A FIFO from which a command reads until go()."""
    path = os.path.join(place.dir, "gate")
    os.mkfifo(path)
    return path


def go(place):
    open(os.path.join(place.dir, "gate"), "w", encoding="utf-8").close()


def waiting(place):
    return [message for message in place.messages() if "is waiting for input" in message]


def check_waits(place, *command, prompt=b"", answer=b"blue\n"):
    place.opened()
    with run(place, *command) as terminal:
        terminal.expect(prompt)
        until(lambda: terminal.read() and waiting(place), f"the news that {command} waits")
        assert len(waiting(place)) == 1
        assert not prompt or waiting(place)[0].endswith("The last lines:\n  colour?"), waiting(place)
        terminal.type(answer)
        code = terminal.end()
    assert code == 0, (command, terminal.seen)
    assert waiting(place) == [], "it goes on, so that is no news any more"
    assert [m for m in place.messages() if "finished with exit code 0" in m], place.messages()


def test_waits_shell(place):
    """a shell that reads an answer counts as waiting"""
    check_waits(place, "sh", "-c", "printf 'colour? '; read x; echo got $x", prompt=b"colour\\? ")


def test_waits_below(place):
    """a program below the command that opens the terminal by its name and reads it counts as waiting"""
    check_waits(place, "sh", "-c", "echo x | (cat >/dev/null; head -n 1 </dev/tty >/dev/null)")


def test_waits_poll(place):
    """a program that polls or selects only its terminal counts as waiting"""
    for wait in ("p = select.poll(); p.register(0, select.POLLIN); p.poll()", "select.select([0], [], [])"):
        check_waits(place, sys.executable, "-c", f"import select\n{wait}\ninput()")
        place.ok("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()), stdin="x")


def test_does_not_wait(place):
    """a program that sleeps, or that polls other descriptors too, does not count as waiting"""
    script = "import select, os, time\nr, w = os.pipe()\nprint('on', flush=True)\nselect.select([0, r], [], [], 3)\nselect.select([0], [], [], 2)"
    with run(place, sys.executable, "-c", script) as terminal:
        terminal.expect(b"on")
        assert terminal.end() == 0
    assert not [item for item in place.exported() if "waiting" in item.get("message", "")]


def test_progress(place):
    """a line names the command and its time; it gives way to output, and is gone at the end"""
    with run(place, "sh", "-c", f"echo one; cat {gate(place)}; echo two") as terminal:
        terminal.expect(b"one\r\n\r\x1b\\[Ksh: \\d+ s")
        go(place)
        terminal.expect(b"\r\x1b\\[Ktwo\r\n")
        assert terminal.end() == 0
    assert terminal.without_progress() == b"one\r\ntwo\r\n", terminal.seen


def test_progress_quiet(place):
    """--quiet adds the last output to that line, and finally says where the output is"""
    with run(place, "sh", "-c", f"echo one; printf '\\033[31mhalf \\033[0mway'; cat {gate(place)}; exit 1", quiet=True) as terminal:
        terminal.expect(b"sh: \\d+ s \\| half way")
        go(place)
        assert terminal.end() == 1
    assert b"\x1b[31m" not in terminal.seen and b"sh ended with exit code 1; its output is in " + place.logs.encode() in terminal.seen, terminal.seen


def test_progress_hostile(place):
    """neither the name nor the output in the line controls the terminal"""
    script = f"printf 'a\\tb \\302\\23331mred\\342\\200\\256c'; cat {gate(place)}"
    command = [TIDINGS, "run", "-s", "s", "--create", "--quiet", "--name", "na\x1b[31m\u009bme", "--", "sh", "-c", script]
    with Terminal(place, command) as terminal:
        terminal.expect(rb"\r\x1b\[Kna\{U\+001B\}\[31m\{U\+009B\}me: \d+ s \| a b red\{U\+202E\}c")
        go(place)
        assert terminal.end() == 0


def test_no_progress(place):
    """there is no such line on a terminal that cannot erase it, or after a prompt"""
    with run(place, "sh", "-c", "echo one; sleep 2.2", env={"TERM": "dumb"}) as terminal:
        assert terminal.end() == 0
    assert terminal.seen == b"one\r\n", terminal.seen
    with run(place, "sh", "-c", "printf 'prompt: '; sleep 2.2; echo") as terminal:
        assert terminal.end() == 0
    assert b"prompt: \r\n" in terminal.seen, terminal.seen


def test_prints_as_on_a_terminal(place):
    """the command prints to a terminal of the same size, byte for byte and in its order; with --no-tty, --quiet, or a stdout that is no terminal, it prints to a pipe"""
    show = ("import os, sys\nfor fd in (1, 2): print(fd, os.isatty(fd), os.get_terminal_size(fd) if os.isatty(fd) else '', file=sys.stderr if fd == 2 else sys.stdout, flush=True)\n"
            "os.write(1, b'a\\x1b[31mred\\rb\\n')\nos.write(2, b'after\\n')")
    for options, terminals in (((), (True, True)), (("--no-tty",), (False, False))):
        with Terminal(place, [TIDINGS, "run", "-s", "s", "--create", *options, "--", sys.executable, "-c", show]) as terminal:
            fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
            assert terminal.end() == 0
        for fd in (1, 2):
            assert f"{fd} {terminals[fd - 1]}".encode() in terminal.seen, terminal.seen
        if terminals[0]:
            assert terminal.without_progress().endswith(b"a\x1b[31mred\rb\r\nafter\r\n") and terminal.seen.index(b"1 True") < terminal.seen.index(b"2 True"), terminal.seen
    for words in (["sh", "-c", f"'{TIDINGS}' run -s s --create -- sh -c 'test -t 1 || echo pipe' | cat"],
                  [TIDINGS, "run", "-s", "s", "--create", "--quiet", "--name", "quiet", "--", "sh", "-c", "test -t 1 || echo pipe"]):
        with Terminal(place, words) as terminal:
            terminal.end()
    assert len([message for message in place.messages() if message.endswith("  pipe")]) == 2, place.messages()


def test_resized(place):
    """when the terminal is resized, the command's terminal is too, and the command gets the signal"""
    # The kernel's signal may come before run has resized the command's terminal; run sends another one then.
    script = "trap 'stty size <&2 | grep \"21 61\" && exit 0' WINCH; echo ready; while :; do sleep 0.05; done"
    with run(place, "sh", "-c", script) as terminal:
        terminal.expect(b"ready")
        fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 21, 61, 0, 0))
        terminal.expect(b"21 61")
        assert terminal.end() == 0


def test_interrupt(place):
    """Ctrl-C reaches the command once, and the notification has the command's exit code"""
    script = ("import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\nprint('ready', flush=True)\n"
              "signal.sigwait([signal.SIGINT])\nprint('caught', flush=True)\n"
              "sys.exit(8 if signal.sigtimedwait([signal.SIGINT], 2) else 7)")
    with run(place, sys.executable, "-c", script) as terminal:
        terminal.expect(b"ready")
        terminal.type(b"\x03")
        terminal.expect(b"caught")
        assert terminal.end() == 7
    assert "failed with exit code 7" in place.messages()[0]


def test_job_control(place):
    """a command that reads from the background stops together with run, that is reported, and it continues in the foreground"""
    if not os.path.exists("/bin/bash"):
        raise Skip("there is no bash")
    place.opened()
    with Terminal(place, ["/bin/bash", "--norc", "--noprofile", "-i"], {"PS1": "> ", "PS0": ""}) as terminal:
        terminal.expect(b"> ")
        terminal.type(f"{TIDINGS} run -s s --create -- sh -c 'read x; echo got $x' &\n".encode())
        until(lambda: terminal.read() and waiting(place), "the news that it waits")
        until(lambda: terminal.type(b"jobs\n") or terminal.read(0.5) and b"Stopped" in terminal.seen, "that the shell knows it")
        terminal.type(b"fg\n")
        terminal.type(b"green\n")
        terminal.expect(b"got green")
        terminal.type(b"exit\n")
        terminal.end()
    assert waiting(place) == [] and "finished with exit code 0" in place.messages()[0], place.messages()


if __name__ == "__main__":
    sys.exit(main(globals()))
