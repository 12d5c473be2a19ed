# SPDX-License-Identifier: MIT
"""Shared by the tests of the command: a separate place for each test, short calls of the command, waiting for a condition, TAP.

A test is a function whose name begins with "test_"; the first line of its docstring is the name of the test point. main() runs those of a module.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

for name in ("TIDINGS_CLI", "TIDINGS_PLUGIN"):  # a person may have typed relative paths
    if name in os.environ:
        os.environ[name] = os.path.abspath(os.environ[name])
TIDINGS = os.environ["TIDINGS_CLI"]
TRICK = os.environ.get("TIDINGS_CLI_TRICK", "none")
DEADLINE_S = 180  # long enough that a busy machine fails no test

for number in (signal.SIGINT, signal.SIGQUIT):  # a shell that starts the tests in the background ignores them, and programs inherit that
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


class Skip(Exception):
    """Raised if this machine cannot run the test."""


NOBODY = 65534


def as_nobody(env):
    """Returns the arguments of a process of another user. Skips the test if that user cannot run this build, because a folder above it is closed."""
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        tried = subprocess.run([TIDINGS, "--version"], env={**env, "GCOV_ERROR_FILE": ""}, capture_output=True, check=False, **user)
    except PermissionError as error:
        raise Skip("another user cannot run this build") from error
    if tried.returncode or tried.stderr:
        raise Skip("another user cannot run this build, or write its counts")
    return user


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def text(self):
        return self.out.decode()

    @property
    def said(self):
        return self.err.decode()

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out!r}\nstderr: {self.err.decode(errors='replace')}"


def creating(words):
    """Adds --create to verbs that report to the session of -s, because most tests push to a session before it has a host."""
    named = words and words[0] in ("push", "run", "submit", "remind", "event", "watch") and any(word in words for word in ("-s", "--session"))
    return [words[0], "--create", *words[1:]] if named else words


class Place:
    """A home with a store and a working folder, without any of the user's files."""

    creates = True

    def __init__(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="tidings-cli-"))
        self.work = os.path.join(self.dir, "work")
        self.state = os.path.join(self.dir, "state")
        self.store = os.path.join(self.state, "tidings")
        self.logs = os.path.join(self.store, "logs")
        os.mkdir(self.work)
        keep = ("PATH", "LANG", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TIDINGS_PLUGIN", "LSAN_OPTIONS")
        self.env = {name: value for name, value in os.environ.items() if name in keep}
        self.env.update(HOME=self.dir, XDG_STATE_HOME=self.state, TERM="xterm", GIT_CONFIG_NOSYSTEM="1",
                        GCOV_ERROR_FILE="/dev/null")  # for the errors of a build with coverage that cannot write its counts
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            leave(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, *words, stdin=b"", cwd=None, env=None, **more):
        """Runs `tidings WORDS...`."""
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        words = creating(words) if self.creates else words
        done = subprocess.run([TIDINGS, *words], input=stdin, cwd=cwd or self.work, env={**self.env, **(env or {})}, timeout=DEADLINE_S, check=False, **more)
        return Result(done)

    def ok(self, *words, **more):
        result = self.run(*words, **more)
        assert result.code == 0, (words, result)
        return result

    def refused(self, *words, code=1, says=(), **more):
        result = self.run(*words, **more)
        assert result.code == code, (words, result)
        for piece in [says] if isinstance(says, str) else says:
            assert piece in result.said, (piece, result)
        return result

    def start(self, *words, command=None, **more):
        """Starts `tidings WORDS...` (or another command) beside the test."""
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.work, "env": self.env, **more}
        words = creating(words) if self.creates else words
        process = subprocess.Popen(command or [TIDINGS, *words], **more)
        self.started.append(process)
        return process

    def trick(self, *words):
        """Runs the helper in C, which uses the store's internals."""
        done = subprocess.run([TRICK, *words], env=self.env, timeout=DEADLINE_S, check=False, capture_output=True)
        assert done.returncode == 0, done

    def hold(self, how="hold"):
        """Starts a process that holds the writer lock until it is killed, or, with "often", for 300 ms before each commit of another process."""
        process = self.start(command=[TRICK, how, self.store])
        assert process.stdout.readline() == b"held\n"
        return process

    def event(self, type_, data=None, session="s", owner=None, **more):
        event = {"type": type_, "session": session, **({"data": data} if data is not None else {}), **more}
        words = ["event"] + (["--owner", str(owner)] if owner else [])
        return self.ok(*words, stdin=json.dumps(event)).json

    def opened(self, session="s", cwd=None, owner=None):
        """Makes the test itself the host of a session."""
        return self.event("session.opened", {"cwd": cwd or self.work, "host": "test"}, session, owner or os.getpid())

    def followed(self, new="next", old="s"):
        """Reports what a hook reports at /clear: the window of this process now shows another session."""
        self.opened(new)
        self.event("session.opened", {"host": "left"}, old, os.getpid())

    def pending(self, session="s"):
        return self.ok("pending", "--json", "-n", "10000", env={"TIDINGS_SESSION": session}).json["items"]  # the session may be new

    def messages(self, session="s"):
        return [item["message"] for item in self.pending(session)]

    def exported(self, session="s"):
        return self.ok("export", env={"TIDINGS_SESSION": session}).json


def sleeps_for_ever(pid):
    """Returns whether the process is in a ppoll without a timeout; on other machines than these, returns True."""
    ppoll = {"x86_64": "271", "aarch64": "73"}.get(os.uname().machine)
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
    except PermissionError as error:
        raise Skip("the kernel does not say in which call another process waits") from error
    return not ppoll or (words[0] == ppoll and words[3] == "0x0")


def until(condition, what, pause_s=0.02):
    """Waits for a condition and returns its value. A condition that starts a process gets longer pauses."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(pause_s)


def gone(pid):
    """Returns whether the process has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return True


def end(process, number=signal.SIGTERM):
    process.send_signal(number)
    return process.wait(DEADLINE_S)


def leave(process):
    """Ends what a test has left running as its user would, so that it writes its counts in a build with coverage; a process that does not end is
    killed."""
    for number in (signal.SIGTERM, signal.SIGCONT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10 if number == signal.SIGCONT else 0)
    process.wait()


def perform(number, test):
    """Runs one test. Returns its TAP lines, and whether it has failed."""
    title = (test.__doc__ or test.__name__).strip().splitlines()[0].rstrip(".")
    try:
        with Place() as place:
            test(place)
        return f"ok {number} - {title}", False
    except Skip as reason:
        return f"ok {number} - {title} # SKIP {reason}", False
    except Exception:  # any exception fails this test
        trace = "\n".join("# " + line for line in traceback.format_exc().splitlines())
        return f"{trace}\nnot ok {number} - {title} ({test.__name__})", True


def main(module, at_once=1):
    """`at_once`: how many tests run at the same time, for tests that mostly wait."""
    tests = [value for name, value in module.items() if name.startswith("test_") and callable(value)]
    wanted = sys.argv[1:]
    failed = 0
    chosen = [(number, test) for number, test in enumerate(tests, 1) if not wanted or test.__name__ in wanted]
    with ThreadPoolExecutor(at_once) as threads:
        for lines, bad in threads.map(lambda pair: perform(*pair), chosen):
            print(lines, flush=True)
            failed += bad
    print(f"1..{len(tests)}")
    return 1 if failed else 0
