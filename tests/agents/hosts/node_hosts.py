# SPDX-License-Identifier: MIT
"""node_hosts.py: the shared part of the tests of agents that run in Node or Bun: an installation of the project in a folder of its own, a home that
is not the user's, the `tidings` command in it, waiting for conditions, and TAP. It knows no agent.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
FULL = os.environ.get("TIDINGS_HOSTS_FULL") == "1"  # all scenarios, as in `./dev test hosts`; the others are left out otherwise, because agents take
                                                    # seconds of CPU time
PATIENCE = int(os.environ.get("TIDINGS_HOSTS_PATIENCE", "180"))  # seconds after which a condition fails: enough for an agent that needs 4 s of CPU time to start and has a tenth of a
                                                                 # CPU


class Tap:
    """Test points. Each scenario is a function, and an exception fails it."""

    def __init__(self):
        self.count = self.failures = 0

    def run(self, scenario, *arguments):
        self.count += 1
        began = time.monotonic()
        try:
            scenario(*arguments)
        except Exception as error:  # the other scenarios run after any exception
            self.failures += 1
            print(f"not ok {self.count} - {scenario.__doc__}", flush=True)
            where = "; ".join(f"{frame.name}:{frame.lineno} {frame.line}" for frame in traceback.extract_tb(error.__traceback__)[1:])
            for line in f"{type(error).__name__}: {error}\n{where}".splitlines():
                print(f"# {line}", flush=True)
        else:
            print(f"ok {self.count} - {scenario.__doc__} ({time.monotonic() - began:.1f} s)", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failures else 0


def skip(why):
    print(f"1..0 # SKIP {why}")
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(77)


def installed_host(name, **variables):
    """Returns the folder of a pinned host. The variables are for npm."""
    ran = subprocess.run([HERE / "install.sh", name], capture_output=True, text=True, check=False, env={**os.environ, **variables})
    if ran.returncode == 77:
        skip(f"{name} cannot be installed: {ran.stderr.strip()}")
    if ran.returncode:
        raise RuntimeError(f"install.sh {name}: {ran.stderr}")
    return pathlib.Path(ran.stdout.strip())


def until(condition, what, seconds=PATIENCE):
    """Waits until the condition is true, and returns its value. `what` names it in the failure, and may be a function."""
    deadline, pause = time.monotonic() + seconds, 0.01
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(1.3 * pause, 0.25)  # many conditions start a process
    return value


class Place:
    """An installation, a home, a project's folder and the `tidings` command; removed at the end."""

    def __init__(self, prefix="prefix"):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="tidings-hosts-"))
        self.prefix = self.root / prefix
        self.home = self.root / "home"
        self.project = self.root / "project"
        for folder in (self.home, self.project):
            folder.mkdir()
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("TIDINGS_", "XDG_", "OPENCODE", "PI_"))}
        self.env |= {"HOME": str(self.home), "PWD": str(self.project), "XDG_STATE_HOME": str(self.home / "state"), "npm_config_offline": "true", "NO_COLOR": "1"}

    def __enter__(self):
        ran = subprocess.run(["cmake", "--install", os.environ["TIDINGS_BUILD_DIR"], "--prefix", self.prefix], capture_output=True, text=True, check=False)
        if ran.returncode:
            self.__exit__()
            raise RuntimeError(f"cmake --install: {ran.stdout}{ran.stderr}")
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def shims(self):
        return next(self.prefix.glob("lib*/**/tidings/node"))

    @property
    def command(self):
        return self.prefix / "bin" / "tidings"

    def tidings(self, *arguments, expect=0):
        """Runs the command in the project's folder, and returns its output."""
        ran = subprocess.run([self.command, *arguments], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        if ran.returncode != expect:
            raise AssertionError(f"tidings {' '.join(map(str, arguments))}: exit {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def ask(self, *arguments):
        return json.loads(self.tidings(*arguments, "--json"))

    def complaints(self):
        """Returns what the shims have logged."""
        log = self.home / "state" / "tidings" / "logs" / "hosts.log"
        return log.read_text() if log.exists() else ""


class Lines:
    """A process that prints JSON lines: it keeps them, and waits for more."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **more)
        self.said = []
        self.stderr = []
        self.silent = False  # it has closed its output
        self.news = threading.Condition()
        self.threads = [threading.Thread(target=self.read, args=(self.process.stdout, self.hear), daemon=True),
                        threading.Thread(target=self.read, args=(self.process.stderr, self.stderr.append), daemon=True)]
        for thread in self.threads:
            thread.start()

    def read(self, stream, take):
        for line in stream:
            take(line)
        with self.news:
            self.silent = self.silent or stream is self.process.stdout
            self.news.notify_all()

    def hear(self, line):
        with self.news:
            try:
                self.said.append(json.loads(line))
            except ValueError:
                self.said.append({"type": "text", "text": line})
            self.news.notify_all()

    def say(self, **record):
        self.process.stdin.write(json.dumps(record) + "\n")
        self.process.stdin.flush()

    def wait(self, condition, what, since=0):
        """Waits for the first record from number `since` on that fits."""
        with self.news:
            def found():
                return next((record for record in self.said[since:] if condition(record)), None)
            self.news.wait_for(lambda: found() or self.silent, PATIENCE)
            if not found():
                raise AssertionError(f"never said: {what}; stderr: {''.join(self.stderr)[-2000:]}")
            return found()

    def kill(self):
        """Kills the process and its children at once, like a power cut."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()
        for thread in self.threads:
            thread.join()

    def end(self):
        """Ends the process by closing its stdin; it fails if the process does not end."""
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("it does not end when its input ends") from None


def texts(request, role):
    return [item["text"] for item in request["items"] if item["role"] == role]


def times(request, text):
    """Counts how often the model reads the text in this request."""
    return sum(item["text"].count(text) for item in request["items"] if item["role"] != "system")
