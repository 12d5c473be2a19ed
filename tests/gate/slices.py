# SPDX-License-Identifier: MIT
"""slices.py: runs one program for about a minute and reads its counts."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

STOPPED_BY = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
running = set()  # process groups of the slices under way


class Stopped(Exception):
    """Raised if the slice was killed from outside; it does not count."""


class Result:
    def __init__(self, done, violations, why, output):
        self.done, self.violations, self.why, self.output = done, violations, why, output
        self.members = {}


# -- the last output of a program -----------------------------------------------------------------

def read_json(output, _count):
    """Returns the last line that is an object: "done", "violations" and other members."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"part"'):
            members = json.loads(line)
            return members["done"], members["violations"], members
    return None


def read_sim(output, _count):
    found = re.search(r"^seed \d+: \d+ schedules, (\d+) steps, (\d+) differences$", output, re.MULTILINE)
    return (int(found[1]), int(found[2]), {}) if found else None


def read_fuzz(output, count):
    """libFuzzer was given seconds. It stops at the first input that breaks something."""
    found = re.search(r"^stat::number_of_executed_units: +(\d+)$", output, re.MULTILINE)
    return (count, 0, {"inputs": int(found[1])}) if found else None


READERS = {"json": read_json, "sim": read_sim, "fuzz": read_fuzz}


# -- running ----------------------------------------------------------------------------------------

def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop_all():
    """Kills all running slices, which then do not count."""
    for group in list(running):
        kill_group(group)


def remove_left_over(base):
    """Removes the scratch folders of gates that were killed."""
    for name in os.listdir(base):
        found = re.fullmatch(r"tidings-gate-(\d+)-\w+", name)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            shutil.rmtree(os.path.join(base, name), ignore_errors=True)


def scratch_base():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else tempfile.gettempdir()


def make_scratch():
    remove_left_over(scratch_base())
    scratch = tempfile.mkdtemp(prefix=f"tidings-gate-{os.getpid()}-", dir=scratch_base())
    os.chmod(scratch, 0o711)  # the server of a database runs as another user
    return scratch


def run_program(command, scratch, build):
    """Runs a program, and returns its exit status and output. Afterwards it kills all processes that the program has started; if the gate dies, the
    program ends too."""
    environment = {**os.environ, "TMPDIR": scratch, "TIDINGS_BUILD_DIR": build, "TIDINGS_HOSTKIT_PROBE": os.path.join(build, "tidings-hostkit-probe")}
    with open(os.path.join(scratch, "output"), "w+b") as output:
        with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                              env=environment, cwd=scratch, start_new_session=True) as process:
            running.add(process.pid)
            try:
                status = process.wait()
            finally:
                running.discard(process.pid)
                kill_group(process.pid)
        output.seek(0)
        return status, output.read().decode(errors="replace")


def run(part, words, count, found_folder):
    """Runs `part` with `words` in place of the braces in its command. Its output and files are kept if anything was wrong."""
    scratch = make_scratch()
    try:
        command = [word.format(count=count, scratch=scratch, **words) for word in part["command"]]
        status, output = run_program(command, scratch, words["build"])
        if -status in STOPPED_BY:
            raise Stopped(f"{part['name']}: killed by signal {-status}")
        read = READERS[part["result"]](output, count)
        if read is None:
            result = Result(0, 1, f"it ended with status {status} and did not say what it had counted", output)
        else:
            result = Result(read[0], read[1], f"{read[1]} violations" if read[1] else "", output)
            result.members = read[2]
            if status and not read[1]:
                result.violations, result.why = 1, f"it ended with status {status}"
        if result.violations and found_folder:
            keep(result, scratch, found_folder)
        return result
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def keep(result, scratch, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "output.txt"), "w", encoding="utf-8") as file:
        file.write(result.output)
    for name in os.listdir(scratch):
        if name != "output":
            shutil.move(os.path.join(scratch, name), os.path.join(folder, name))


def timed(part, words, count, found_folder):
    began = time.monotonic()
    result = run(part, words, count, found_folder)
    return result, time.monotonic() - began
