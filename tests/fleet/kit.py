# SPDX-License-Identifier: MIT
"""Shared by the tests of stores in a database: a PostgreSQL server of the test's own, and hosts and producers as processes.

The server is Debian's. It has a folder and a socket of its own, and never runs as root. Without one the test is skipped, with the reason.
"""
import atexit
import ctypes
import glob
import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# A script that a person starts takes the build of the preset dev.
SOURCE = os.environ.setdefault("TIDINGS_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.abspath(os.environ.setdefault("TIDINGS_BUILD_DIR", os.path.join(SOURCE, "build", "dev")))
PLUGIN = os.path.join(BUILD, "tidings.so")
HOSTSIM = os.path.join(BUILD, "hostsim")
TIDINGS = os.path.join(BUILD, "tidings")
OK, SKIP = 0, 77
# The budget of calls if a test does not test the budget; it is large, because machines may be busy.
PATIENT_MS = 60000
# A call may exceed its budget by so many ms, because other programs use the processors. Without a budget, some of these calls would wait for ever.
LATE_MS = float(os.environ.get("TIDINGS_FLEET_LATE_MS", "20000"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def dies_with_us(how=signal.SIGQUIT):
    """Lets the server end at once when the test is killed. This is set after the change of user, which would reset it."""
    ctypes.CDLL(None).prctl(1, how)


def command_dies_with_us():
    """The same for a command that waits for a server. It may be one that ignores SIGQUIT, as this process does in the background of a shell."""
    dies_with_us(signal.SIGKILL)


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    if not found or int(found[-1].split("/")[4]) < 15:
        skip("there is no PostgreSQL 15 or newer (Debian: postgresql-15)")
    if not os.path.exists(os.path.join(BUILD, "tidings-postgres.so")):
        skip("tidings-postgres.so was not built: libpq is missing (Debian: libpq-dev)")
    return os.path.dirname(found[-1])


failures = []  # the failures of this process


def expect(good, what):
    """Prints a line of the test, and counts failures; the test continues."""
    print(f"{'ok' if good else 'not ok'} - {what}")
    if not good:
        failures.append(what)


def wait_for(condition, what):
    """Waits for the condition and returns its value."""
    deadline = time.monotonic() + 120
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise SystemExit(f"{what}: not within two minutes")
        time.sleep(0.02)
    return value


class Server:
    """A PostgreSQL cluster in a folder that only an unprivileged user may read."""

    # For tests without a crash of the server: it does not wait for the disk, and has no background work.
    FAST = {"fsync": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": 0, "autovacuum": "off", "jit": "off"}

    def __init__(self, copy_of=None, **settings):
        self.bin = programs()
        self.folder = tempfile.mkdtemp(prefix="tidings-fleet-")
        self.settings = {"listen_addresses": "", "max_connections": 200, "shared_buffers": "32MB", "fsync": "on", **settings}
        self.user = None
        if os.geteuid() == 0:
            self.user = "nobody"
            account = pwd.getpwnam(self.user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.process = None
        if copy_of:
            self.run("pg_basebackup", "-h", copy_of.folder, "-U", "fleet", "-D", self.data, "-R", "--no-sync", "-c", "fast")
            return
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "fleet", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")

    def demoted(self):
        return {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []} if self.user else {}

    def run(self, program, *arguments):
        done = subprocess.run([os.path.join(self.bin, program), *arguments], cwd="/", capture_output=True, text=True, check=False, **self.demoted())
        if done.returncode:
            raise SystemExit(f"{program}: {done.stderr}")

    def start(self, until="ready", env=None):
        arguments = [os.path.join(self.bin, "postgres"), "-D", self.data, "-k", self.folder]
        for name, value in self.settings.items():
            arguments += ["-c", f"{name}={value}"]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(arguments, cwd="/", stdout=log, stderr=log, start_new_session=True, preexec_fn=dies_with_us, env=env, **self.demoted())
        deadline = time.monotonic() + 600  # after a crash the server syncs each of its files
        while not self.is_ready(until):
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
                    raise SystemExit(f"the server does not start:\n{log.read()[-2000:]}")
            time.sleep(0.02)
        return self

    def is_ready(self, until="ready"):
        """Reads the state from the server's own file, which is faster than a connection. (After a kill, the file still says "ready" until the next
        server writes it.)"""
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return False
        return lines[0] == str(self.process.pid) and len(lines) > 7 and lines[7].strip() == until

    def ready(self):
        self.start()
        self.sql("CREATE DATABASE fleet", database="postgres")
        return self

    def sql(self, text, database="fleet", check=True):
        done = subprocess.run([os.path.join(self.bin, "psql"), "-XAtq", "-h", self.folder, "-U", "fleet", "-d", database, "-c", text],
                              capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SystemExit(f"{text}: {done.stderr}")
        return done.stdout.strip()

    def url(self, schema="tidings", more=""):
        return f"postgresql://fleet@/fleet?host={self.folder}&schema={schema}{more}"

    def children(self):
        return [int(pid) for pid in subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False).stdout.split()]

    def kill_children(self):
        """Kills the server's child processes and waits until they have ended, because a server does not start while its shared memory is in use."""
        for pid in self.children():
            try:
                ended = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            signal.pidfd_send_signal(ended, signal.SIGKILL)
            select.select([ended], [], [], 120)
            os.close(ended)

    def stop(self, how=signal.SIGINT):
        """Stops the server. SIGINT: fast; SIGQUIT: at once, like a crash; SIGKILL: kills all of its processes."""
        if not self.process:
            return
        if how == signal.SIGKILL:
            self.process.send_signal(signal.SIGSTOP)  # so that it starts no more processes
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            self.kill_children()
            self.process.kill()
        else:
            self.process.send_signal(how)
        self.process.wait(120)
        self.process = None

    def end(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.ready()

    def __exit__(self, *unused):
        self.end()


# An address of this machine that no other test listens on.
ADDRESS = f"127.1.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}"


class Quiet:
    """Catches the output of this process and its libraries to stderr."""

    def __enter__(self):
        self.kept, self.file = os.dup(2), tempfile.TemporaryFile()
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *unused):
        os.dup2(self.kept, 2)
        os.close(self.kept)

    def text(self):
        self.file.seek(0)
        return self.file.read().decode(errors="replace")


# The state of a connection that has executed a statement in a transaction.
BEGUN = "state = 'idle in transaction' AND query NOT LIKE 'BEGIN%'"


class Sql:
    """A connection to which a test sends single statements."""

    def __init__(self, server, name, user="fleet"):
        self.server, self.name = server, name
        self.process = subprocess.Popen([os.path.join(server.bin, "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", server.folder, "-U", user, "-d", "fleet"],
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env={**os.environ, "PGAPPNAME": name})

    def say(self, text, until):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        asked, deadline = f"SELECT {until} FROM pg_stat_activity WHERE application_name = '{self.name}'", time.monotonic() + 120
        while (good := self.server.sql(asked)) != "t" and time.monotonic() < deadline:
            time.sleep(0.02)
        expect(good == "t", f"{self.name}: {until}")

    def end(self, text=""):
        self.process.stdin.write(text)
        self.process.stdin.close()
        return self.process.wait(120)


def tidings(*arguments, check=True, **more):
    done = subprocess.run([TIDINGS, *arguments], capture_output=True, text=True, check=False, **more)
    if check and done.returncode:
        raise SystemExit(f"tidings {' '.join(arguments)}: {done.returncode}: {done.stderr}")
    return done


def make_store(server, schema="tidings"):
    tidings("store", "init", server.url(schema))
    return server.url(schema)


class Failed(Exception):
    """The error that a call returned."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


class Kit:
    """An open plugin, used through hostkit's flat functions."""
    library = None

    def __init__(self, store, role="host", budget_ms=PATIENT_MS, config=None):
        if not Kit.library:
            Kit.library = ctypes.CDLL(os.path.join(BUILD, "libtidings-hostkit.so"))
            Kit.library.hostkit_flat_open.restype = ctypes.c_int64
            Kit.library.hostkit_flat_open.argtypes = [ctypes.c_char_p]
            Kit.library.hostkit_flat_call.restype = ctypes.c_void_p
            Kit.library.hostkit_flat_call.argtypes = [ctypes.c_int64, ctypes.c_char_p]
            Kit.library.hostkit_flat_error.restype = ctypes.c_char_p
            Kit.library.hostkit_free.argtypes = [ctypes.c_void_p]
            Kit.library.hostkit_flat_close.argtypes = [ctypes.c_int64]
        options = {"plugin": PLUGIN, "store": store, "role": role, "hook_budget_ms": budget_ms, "probe": False, "configuration": config or {}}
        self.handle = Kit.library.hostkit_flat_open(json.dumps(options).encode())
        if not self.handle:
            raise Failed("open", Kit.library.hostkit_flat_error().decode())

    def call(self, op, **members):
        text = Kit.library.hostkit_flat_call(self.handle, json.dumps({"op": op, **members}).encode())
        answer = json.loads(ctypes.string_at(text))
        Kit.library.hostkit_free(text)
        if "error" in answer:
            raise Failed(answer["error"]["code"], answer["error"]["text"])
        return answer

    def event(self, kind, session, **data):
        return self.call("event", event={"type": kind, "session": session, "data": data})

    def close(self):
        Kit.library.hostkit_flat_close(self.handle)


class Worker:
    """A process of one of this folder's programs; its lines are read as they come."""

    def __init__(self, program, *arguments, build=BUILD):
        # Lines go to a file, so that they survive a SIGKILL. The file is opened twice, so that reading does not move the position of the writer.
        with tempfile.TemporaryFile() as written:
            self.lines = open(f"/proc/self/fd/{written.fileno()}", encoding="utf-8")
            self.process = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), program), *map(str, arguments)], stdout=written,
                                            env={**os.environ, "TIDINGS_BUILD_DIR": build})
        atexit.register(self.process.kill)  # after a failed test, no process may hold its output open

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        return self.process.wait(120)

    def read(self):
        self.lines.seek(0)
        return [line.split() for line in self.lines.read().split("\n")[:-1]]


def apart():
    """Returns words before a host's command that give the host a PID namespace, so that it looks like a host on another machine, or None if this user may not make one."""
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return None if subprocess.run([*command, "true"], capture_output=True, check=False).returncode else command


class Asked:
    """A host in a process of its own (asked.py), which may have another environment, and makes the calls that a test asks for."""

    def __init__(self, url, environment=None, before=(), config=None):
        command = [*before, sys.executable, os.path.join(os.path.dirname(__file__), "asked.py"), url, json.dumps(config or {})]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})

    def ask(self, op, **members):
        self.process.stdin.write(json.dumps({"op": op, **members}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def event(self, kind, session, **data):
        return self.ask("event", event={"type": kind, "session": session, "data": data})

    def end(self):
        self.process.kill()
        self.process.wait(120)
