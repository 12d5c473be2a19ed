#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings run` without a terminal: output, exit codes, signals, detaching, logs."""
import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time

from kit import DEADLINE_S, TIDINGS, Skip, end, gone, main, until

S = ["-s", "s"]


def log_of(place):
    [name] = os.listdir(place.logs)
    return os.path.join(place.logs, name)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def test_stopped(place):
    """the output of a successful command comes through on both streams, the log has all of it, and the session is notified"""
    result = place.ok("run", *S, "--", "sh", "-c", "echo out; echo err >&2")
    assert result.out == b"out\n" and result.err == b"err\n", result
    assert sorted(read(log_of(place)).splitlines()) == [b"err", b"out"]
    handle = os.path.basename(log_of(place))[:-4]
    assert re.fullmatch(r"sh-[0-9a-f]{6}", handle), handle
    [item] = place.pending()
    assert item["kind"] == {"source": "run", "name": "finished"} and item["level"] == "info" and item["handle"] == handle, item
    command = f"Command `sh -c 'echo out; echo err >&2'` (handle `{handle}`) finished with exit code 0 after"
    assert re.fullmatch(re.escape(command) + r" \d+\.\d s\. Log: `" + re.escape(log_of(place)) + r"`\nThe last lines:\n  (out\n  err|err\n  out)", item["message"]), item


def test_failed(place):
    """the exit code of a failed command is passed on and reported"""
    assert place.refused("run", *S, "--name", "the tests", "--", "sh", "-c", "echo no; exit 3", code=3).out == b"no\n"
    [item] = place.pending()
    assert item["kind"] == {"source": "run", "name": "failed"} and item["level"] == "error", item
    head = r"Command `sh -c 'echo no; exit 3'` \(`the tests`, handle `the-tests-[0-9a-f]{6}`\) failed with exit code 3 after \d+\.\d s\. Log: `\S+\.log`"
    assert re.fullmatch(head + r"\nThe last lines:\n  no", item["message"]), item


def test_content(place):
    """the model gets the last lines as people would see them"""
    script = r"i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done; printf '\033[31mred\033[0m\rbar: 10%%\rbar: 99%%\nbad \377 byte\n\n'; exit 2"
    place.refused("run", *S, "--", "sh", "-c", script, code=2)
    [message] = place.messages()
    head, _, last = message.partition("\n")
    assert re.search(r"` \(handle `sh-[0-9a-f]{6}`\) failed with exit code 2 after \d+\.\d s\. Log: `" + re.escape(log_of(place)) + "`$", head), head
    assert last == "The last lines:\n  line 96\n  line 97\n  line 98\n  line 99\n  bar: 99%\n  bad \ufffd byte", last
    place.ok("run", *S, "--", "sh", "-c", script.replace("exit 2", "exit 0"))
    assert place.messages()[1].endswith("\nThe last lines:\n  line 99\n  bar: 99%\n  bad \ufffd byte"), place.messages()


MOCHA = r"""printf '\n  Array\n    1) finds\n\n  1 failing\n\n  1) Array\n       #indexOf()\n         should return -1:\n\n'
printf '      AssertionError [ERR_ASSERTION]: 2 == -1\n      at Context.<anonymous> (test/array.js:6:14)\n'
for i in 1 2 3 4 5 6 7 8 9; do echo "      at process.frame$i (node:internal/timers:$i:21)"; done; exit 1"""


def test_why(place):
    """for a failed command the notification begins with the lines that say why, with their numbers in the log"""
    place.refused("run", *S, "--", "sh", "-c", MOCHA, code=1)
    message = place.messages()[0]
    why = "\nLines of the log that say why:\n  7: 1) Array\n  8: #indexOf()\n  9: should return -1:\n" \
          "  11: AssertionError [ERR_ASSERTION]: 2 == -1\n  12: at Context.<anonymous> (test/array.js:6:14)\nThe last lines:\n"
    assert why in message and message.count("node:internal") == 6, message
    assert read(log_of(place)).splitlines()[11].strip() == b"at Context.<anonymous> (test/array.js:6:14)"


def test_why_when_killed(place):
    """when run itself is killed, the lines that say why come from the log"""
    mark = os.path.join(place.work, "mark")
    process = place.start("run", *S, "--", "sh", "-c", f"echo a.c:3:1: error: x; seq 9; echo $$ >{mark}; exec sleep 1000", start_new_session=True)
    until(lambda: os.path.exists(mark) and read(mark), "it runs")
    until(lambda: read(log_of(place)).endswith(b"9\n"), "its output is in the log")
    os.kill(process.pid, signal.SIGKILL)
    [said] = until(place.messages, "the report")
    assert said.endswith("\nLines of the log that say why:\n  1: a.c:3:1: error: x\nThe last lines:\n  4\n  5\n  6\n  7\n  8\n  9"), said
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(read(mark)), signal.SIGKILL)


def test_masked(place):
    """passwords and tokens are masked in the notification and in history, but not in the log; --no-mask shows them"""
    secret = "a1B2c3D4e5F6g7H8i9J0" * 2
    with open(os.path.join(place.work, "token"), "w", encoding="utf-8") as file:
        file.write(f"ghp_{secret}\n")
    script = "echo Error: password=hunter2; seq 6; cat token; exit 1"
    place.refused("run", *S, "--", "env", "API_TOKEN=a b'c", "sh", "-c", script, "--password", "hunter3", code=1)
    [message] = place.messages()
    assert "`env API_TOKEN='[masked]' sh -c 'echo Error: password=[masked]; seq 6; " in message, message
    assert "\n  1: Error: password=[masked]\n" in message and message.endswith("\n  6\n  [masked]"), message
    place.ok("deliver", *S, "--at", "tool-result", "--owner", str(os.getpid()), stdin=b"ok")
    for words in (("history", *S, "--json"), ("export", *S), ("pending", *S, "--json")):
        shown = place.ok(*words).out.decode()
        assert secret not in shown and "hunter" not in shown and "b'c" not in shown, (words, shown)
    assert secret.encode() in read(log_of(place)) and b"hunter2" in read(log_of(place))
    place.refused("run", *S, "--no-mask", "--name", "open", "--", "sh", "-c", script, code=1)
    [message] = place.messages()
    assert "1: Error: password=hunter2\n" in message and message.endswith(f"\n  6\n  ghp_{secret}"), message


def test_hostile(place):
    """output that would control a terminal or hide lines, or that is long, does no harm"""
    script = r"head -c 30000 /dev/zero | tr '\0' '\033'; printf '\033]0;open\033P\nmiddle\033[\n\0\b\007%s' end; exit 1"
    place.refused("run", *S, "--", "sh", "-c", script, code=1)
    assert place.messages()[0].endswith("\nThe last lines:\n  middle\n  end"), place.messages()
    place.refused("run", *S, "--", "sh", "-c", "head -c 30000 /dev/zero | tr '\\0' x; exit 1", code=1)
    assert re.search(r"\nThe last lines:\n  …x{1990,2000}$", place.messages()[1]), place.messages()[1]
    place.refused("run", *S, "--", "sh", "-c", "head -c 30000 /dev/zero | tr '\\0' x; printf '\\033[0m\\n\\n'; exit 1", code=1)
    assert re.search(r"\nThe last lines:\n  …x{1990,2000}$", place.messages()[2]), place.messages()[2]


def test_small_block(place):
    """if there is little room, the first line stays"""
    config = os.path.join(place.dir, "small.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"limits": {"message_bytes": 300}}, file)
    place.refused("run", *S, "--config", config, "--", "sh", "-c", "seq 100 199; exit 1", code=1)
    [message] = place.messages()
    assert len(message) <= 300 and " failed with exit code 1 after" in message.partition("\n")[0] and message.endswith("\n  199"), message


def test_silent(place):
    """the notification of a command without output says so"""
    place.refused("run", *S, "--", "false", code=1)
    place.refused("run", *S, "--", "sh", "-c", "head -c 30000 /dev/zero; exit 1", code=1)
    silent, shows_nothing = place.messages()
    assert silent.endswith(".log`\nIt printed nothing.") and shows_nothing.endswith(".log`"), place.messages()


def test_killed(place):
    """for a command that a signal has killed, the exit code is 128 + the signal's number, and the notification names the signal"""
    place.refused("run", *S, "--", "sh", "-c", "kill -SEGV $$", code=128 + signal.SIGSEGV)
    place.refused("run", *S, "--", "sh", "-c", f"kill -{signal.SIGRTMIN + 1} $$", code=128 + signal.SIGRTMIN + 1)
    first, second = place.messages()
    assert ") was killed by SIGSEGV after" in first and f") was killed by signal {signal.SIGRTMIN + 1} after" in second, (first, second)


def test_itself_killed(place):
    """when run itself is killed, its watchdog reports that it has lost track, with the output so far; also when detached, and when the whole process group is killed"""
    for number, more in enumerate(((), ("--detach", "--json"))):
        mark = os.path.join(place.work, f"command-{number}")
        started = place.start("run", *S, *more, "--name", f"lost{number}", "--", "sh", "-c", f"echo ready; echo $$ >{mark}; exec sleep 1000", start_new_session=True)
        until(lambda: os.path.exists(mark) and read(mark), "it runs")
        until(lambda: any(name.startswith(f"lost{number}") and read(os.path.join(place.logs, name)) for name in os.listdir(place.logs)), "its output is in the log")
        pid = json.loads(started.stdout.readline())["pid"] if more else started.pid
        os.kill(pid, signal.SIGKILL) if more else os.killpg(pid, signal.SIGKILL)
        said = until(lambda: [message for message in place.messages() if f"`lost{number}`" in message], "the report")
        assert len(said) == 1 and ") was lost track of after " in said[0] and "whether it still runs is not known" in said[0], said
        assert said[0].endswith("\nThe last lines:\n  ready"), said
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(read(mark)), signal.SIGKILL)
    until(lambda: gone(pid), "its end")


def test_killed_at_its_start(place):
    """the watchdog starts before the command: if the command kills run with its whole process group, that is reported"""
    place.opened("s")
    for more in ((), ("--detach",)):
        place.start("run", *S, *more, "--name", "early", "--", "sh", "-c", "kill -KILL $PPID -$PPID", start_new_session=True)
    said = until(lambda: len(place.messages()) == 2 and place.messages(), "both reports")
    assert all("`early`" in message and ") was lost track of after " in message for message in said), said


def test_killed_while_it_reports(place):
    """if run is killed while its report waits for a busy store, the session is notified nevertheless"""
    mark, gate = os.path.join(place.dir, "mark"), os.path.join(place.dir, "gate")
    os.mkfifo(gate)
    process = place.start("run", *S, "--name", "late", "--", "sh", "-c", f"echo out; echo $$ >{mark}; exec cat {gate}")
    until(lambda: os.path.exists(mark) and read(mark), "it runs")
    holder = place.hold()
    open(gate, "w", encoding="utf-8").close()
    until(lambda: gone(int(read(mark))), "the command's end")
    until(lambda: has_open(process.pid, os.path.join(place.store, "data.mdb")), "its report waits for the store")
    end(process, signal.SIGKILL)
    end(holder, signal.SIGKILL)
    [said] = until(lambda: place.messages(), "the report")
    assert "`late`" in said and ") was lost track of after " in said and said.endswith("\n  out"), said


def test_killed_after_it_reported(place):
    """if run is killed after it has reported the end, the watchdog's report has the same id, and no effect"""
    started = place.ok("run", *S, "--detach", "--json", "--", "sleep", "1000").json
    command = until(lambda: child_with(started["pid"], "sleep"), "the command")
    [watchdog] = [pid for pid in children(started["pid"]) if pid != command]
    end_of_run = {"command": "sleep 1000", "handle": started["handle"], "tool": "sleep", "duration_ms": 1, "exit_code": 0}
    place.event("run.finished", end_of_run, source="tidings", id=started["handle"] + "-end")
    os.kill(started["pid"], signal.SIGKILL)
    until(lambda: gone(watchdog), "the watchdog's end")
    [said] = place.messages()
    assert "was lost track of" not in said, said
    os.kill(command, signal.SIGKILL)


def test_log_limit(place):
    """at --log-limit the log ends with a line that says so, which the model gets too; the command and its output continue"""
    result = place.ok("run", *S, "--log-limit", "2K", "--", "sh", "-c", "seq 1000; echo the end")
    assert result.out.decode().splitlines()[-1] == "the end"
    log = read(log_of(place))
    kept, said = log[:2048], log[2048:]
    assert result.out.startswith(kept) and said == b"\n[tidings: the log ends here, at its limit of 2048 bytes; the command goes on]\n", said
    [message] = place.messages()
    assert "(incomplete: it has reached its limit of 2048 bytes)" in message and message.endswith("  the end"), message
    for size in ("1023", "0", "-1", "", "M", "64X", "1.5G", "99999999999999999999", "18014398509481984K"):
        place.refused("run", *S, "--log-limit", size, "--", "true", code=2, says=f"--log-limit: '{size}' is not a number of at least 1024 bytes")
    for size in ("1024", "1K", "64M", "2G"):
        place.ok("run", *S, "--log-limit", size, "--", "true")


def test_log_limit_of_errors(place):
    """the lines of a failure that the log has no longer are shown without a number"""
    place.run("run", *S, "--log-limit", "1K", "--", "sh", "-c", "echo error: one; seq 1000; echo error: two; seq 30; exit 1")
    [message] = place.messages()
    assert "\n  1: error: one\n  error: two\nThe last lines:" in message, message


def test_full_session(place):
    """if the session has no room at the end, the report of a detached command is tried again until there is some"""
    place.env["TIDINGS_CONFIG"] = os.path.join(place.dir, "limit.json")
    with open(place.env["TIDINGS_CONFIG"], "w", encoding="utf-8") as file:
        file.write('{"limits": {"pending_per_session": 1}}')
    place.ok("push", *S, "first")
    assert "TIDINGS_E_FULL" in place.ok("run", *S, "--", "true").said
    run = place.ok("run", *S, "--detach", "--json", "--name", "late", "--", "true").json["pid"]
    until(lambda: len(children(run)) == 1, "the command's end; its watchdog is left")
    place.ok("deliver", *S, "--at", "tool-result", stdin="x")
    [message] = until(lambda: place.messages(), "the report")
    assert "`late`" in message, message


def test_not_started(place):
    """a command that cannot be started causes no notification, and leaves no log"""
    place.refused("run", *S, "--", "no-such-command", code=127, says="cannot run 'no-such-command': No such file or directory")
    place.refused("run", *S, "--", place.dir, code=126, says="Permission denied")
    place.refused("run", *S, "--detach", "--", "no-such-command", code=127, says="cannot run 'no-such-command'")
    assert os.listdir(place.logs) == [] and place.messages() == []


def test_before(place):
    """wrong arguments are reported before anything is started"""
    mark = os.path.join(place.dir, "mark")
    place.refused("run", "--to", "nobody", "--", "touch", mark, code=2, says="'nobody' is no address")
    place.refused("run", *S, "--", "touch", mark, env={"TIDINGS_PLUGIN": "/nowhere.so"}, says="/nowhere.so")
    for name in (b"\xff", "s" * 256, "a\nb"):
        for verb in ("run", "watch", "wait", "status"):
            place.refused(verb, *({"run": ["--", "touch", mark]}.get(verb, [])), says=f"tidings {verb}: session: ", env={"TIDINGS_SESSION": name})
    place.refused("run", *S, code=2, says="a command is missing")
    place.refused("run", *S, "--json", "--", "touch", mark, code=2, says="--json needs --detach")
    place.refused("run", *S, "--name", "", "--", "touch", mark, code=2, says="--name: it is empty")
    place.refused("run", *S, "--name", "n" * 256, "--", "touch", mark, code=2, says="--name: it has more than 255 bytes")
    place.refused("run", *S, "--frobnicate", "touch", mark, code=2, says="--frobnicate")
    with open(os.path.join(place.dir, "file"), "w", encoding="utf-8"):
        pass
    place.refused("run", *S, "-S", os.path.join(place.dir, "st"), "--", "touch", mark, env={"XDG_STATE_HOME": os.path.join(place.dir, "file")}, says="cannot make a log")
    assert not os.path.exists(mark)


def test_names_of_bytes(place):
    """names and folders that are not UTF-8 are replaced in the notification, which is sent"""
    program, state = (os.path.join(os.fsencode(place.dir), name) for name in (b"t\xff", b"state\xfe"))
    os.symlink("/bin/true", program)
    place.ok("run", *S, "--", program, env={"XDG_STATE_HOME": state, "TIDINGS_STORE": place.store})
    place.ok("run", *S, "--name", b"a\xffb", "--", "true")
    first, second = place.messages()
    assert second.startswith("Command `true` (`a\ufffdb`, handle `a-b-") and re.match(r"Command `'/\S*/t\ufffd'` \(handle `t-.* Log: \S*/state\ufffd/", first, re.DOTALL), (first, second)
    started = place.ok("run", *S, "--detach", "--json", "--", "true", env={"XDG_STATE_HOME": state, "TIDINGS_STORE": place.store}).json
    assert started["handle"].startswith("true-") and "/state\ufffd/" in started["log"] and started["pid"], started


def test_options_end(place):
    """options after the command belong to the command"""
    assert place.ok("run", *S, "echo", "-n", "--name", "x", "-s").out == b"--name x -s"
    assert place.ok("run", *S, "--quiet", "echo", "x").out == b""


def test_stdin(place):
    """the command gets stdin"""
    assert place.ok("run", *S, "--", "cat", stdin=b"in\0put").out == b"in\0put"


def test_large(place):
    """large output comes through whole, and the log has all of it"""
    result = place.ok("run", *S, "--", "sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x")
    assert len(result.out) == 20_000_000 and os.path.getsize(log_of(place)) == 20_000_000


def test_slow_reader(place):
    """a slow reader makes the command wait; nothing is lost"""
    process = place.start("run", *S, "--", "sh", "-c", "head -c 3000000 /dev/zero; echo done >&2")
    first = os.read(process.stdout.fileno(), 1000)
    assert process.poll() is None
    out, err = process.communicate(timeout=DEADLINE_S)
    assert len(first + out) == 3_000_000 and err == b"done\n" and process.returncode == 0


def test_reader_gone(place):
    """if the reader goes away, the command ends as it would without run"""
    process = place.start("run", *S, "--", "yes")
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(DEADLINE_S) == 128 + signal.SIGPIPE, process.stderr.read()
    assert "was killed by SIGPIPE" in place.messages()[0]


def test_full_output(place):
    """if the output is full, stderr says so, the command continues, and the log has all of it"""
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        result = place.ok("run", *S, "--", "sh", "-c", "echo one; sleep 0.1; echo two", stdout=full)
    assert "cannot pass the output on: No space left on device" in result.said, result
    assert read(log_of(place)) == b"one\ntwo\n"


def test_full_log(place):
    """if the disk of the log is full, the command continues, and the notification says that the log is incomplete"""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        raise Skip("only root may mount a small file system")
    script = f"""mount -t tmpfs -o size=64k none "{place.state}/tidings/logs" && exec "{TIDINGS}" run -s s --create -- sh -c 'head -c 300000 /dev/zero; echo end'"""
    os.makedirs(place.logs, mode=0o700)
    os.chmod(place.store, 0o700)
    process = place.start(command=["unshare", "-m", "sh", "-c", script])
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0 and len(out) == 300_004, (process.returncode, len(out), err)
    assert ".log` (incomplete: No space left on device)\n" in place.messages()[0], place.messages()


def test_signals(place):
    """signals that are sent to run reach the command, and run ends with the command's exit code"""
    script = "trap 'echo got $1; exit 9' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done"
    process = place.start("run", *S, "--", "sh", "-c", script)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == b"usr1\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=DEADLINE_S)[0] == b"got\n" and process.returncode == 9
    process = place.start("run", *S, "--", "sleep", "1000")
    until(lambda: child_with(process.pid, "sleep"), "the command")
    assert end(process, signal.SIGINT) == 128 + signal.SIGINT


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def child_with(pid, program):
    """Returns the child that runs the program, or None: before it runs the program, its command line is its parent's, and then empty."""
    return next((child for child in children(pid) if read(f"/proc/{child}/cmdline").startswith(program.encode() + b"\0")), None)


def has_open(pid, path):
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(FileNotFoundError):  # a descriptor was closed meanwhile
        return path in [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
    return False


def test_ignored_signals(place):
    """ignored signals stay ignored, as nohup expects; SIGPIPE and SIGCHLD are not ignored, and no signal is blocked"""
    ignoring, command = ["env", "--ignore-signal=HUP", "--ignore-signal=CHLD"], ["--", "grep", "-E", "SigIgn|SigBlk", "/proc/self/status"]
    out = subprocess.run([*ignoring, TIDINGS, "run", *S, "--create", *command], env=place.env, check=True, capture_output=True, timeout=DEADLINE_S).stdout.decode()
    masks = dict(re.findall(r"(\w+):\s+([0-9a-f]+)", out))
    assert int(masks["SigIgn"], 16) & 1, masks
    assert not int(masks["SigIgn"], 16) & (1 << signal.SIGPIPE - 1 | 1 << signal.SIGCHLD - 1) and int(masks["SigBlk"], 16) == 0, masks


def test_detach(place):
    """--detach returns at once and prints handle, log and process; the end is reported later"""
    gate = os.path.join(place.dir, "gate")
    os.mkfifo(gate)
    result = place.ok("run", *S, "--detach", "--name", "bg", "--", "sh", "-c", f"echo started; cat {gate}; exit 4")
    handle, log, pid = re.fullmatch(r"handle (\S+)\nlog (\S+)\npid (\d+)\n", result.text).groups()
    until(lambda: read(log) == b"started\n", "its output")
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600 and stat.S_IMODE(os.stat(place.logs).st_mode) == 0o700
    assert place.messages() == [], "it still runs"
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    assert fields[3] != str(os.getsid(0)) and fields[4] == "0", "a session of its own, without a terminal"
    open(gate, "w", encoding="utf-8").close()
    assert until(lambda: place.messages(), "the news")[0].startswith(f"Command `sh -c 'echo started; cat {gate}; exit 4'` (`bg`, handle `{handle}`) failed with exit code 4 after ")
    until(lambda: gone(pid), "its end")


def test_detach_holds_nothing(place):
    """a detached command keeps none of its caller's pipes open"""
    reader, writer = os.pipe()
    result = place.ok("run", *S, "--detach", "--json", "--", "sh", "-c", "ls -l /proc/self/fd >fds; exec sleep 1000", pass_fds=[writer])
    os.close(writer)
    assert os.read(reader, 1) == b"", "and so its reader sees the end"
    os.close(reader)
    until(lambda: os.path.exists(os.path.join(place.work, "fds")) and b"2 -> pipe" in read(os.path.join(place.work, "fds")), "its descriptors")
    listed = re.findall(rb" (\d+) -> (\S+)", read(os.path.join(place.work, "fds")))
    assert dict(listed)[b"0"] == b"/dev/null" and {int(fd) for fd, _ in listed} <= {0, 1, 2, 3}, listed
    os.kill(result.json["pid"], signal.SIGTERM)  # reaches all processes of the command
    assert "was killed by SIGTERM" in until(lambda: place.messages(), "the news")[0]


def test_detach_busy(place):
    """if the store is busy when a detached command ends, the report waits for it"""
    gate = os.path.join(place.dir, "gate")
    os.mkfifo(gate)
    result = place.ok("run", *S, "--detach", "--json", "--", "cat", gate).json
    command = until(lambda: child_with(result["pid"], "cat"), "the command")
    holder = place.hold()
    open(gate, "w", encoding="utf-8").close()
    until(lambda: gone(command), "the command's end")
    end(holder, signal.SIGKILL)
    assert len(until(lambda: place.messages(), "the news")) == 1


def test_told_in_vain(place):
    """if the store cannot be written at the end, stderr says so, and the exit code is the command's"""
    result = place.refused("run", *S, "--", "sh", "-c", f'"{os.environ["TIDINGS_CLI_TRICK"]}" newer "{place.store}"; exit 5', code=5)
    assert "TIDINGS_E_SCHEMA_NEWER" in result.said and "the session was not notified" in result.said and place.logs in result.said, result


def test_prune(place):
    """old logs are removed, but none that is still written, and no other file"""
    os.makedirs(place.logs, mode=0o700)
    os.chmod(place.store, 0o700)
    for i in range(250):
        path = os.path.join(place.logs, f"old-{i:06x}.log")
        with open(path, "w", encoding="utf-8"):
            os.utime(path, (time.time() - i, time.time() - i))
    for name in ("notes.txt", "ancient-000000.log"):
        path = os.path.join(place.logs, name)
        with open(path, "w", encoding="utf-8"):
            os.utime(path, (0, 0))
    running = place.ok("run", *S, "--detach", "--json", "--", "sleep", "1000").json
    os.utime(running["log"], (1, 1))
    place.ok("run", *S, "--", "true")
    left = os.listdir(place.logs)
    assert "notes.txt" in left and os.path.basename(running["log"]) in left and "ancient-000000.log" not in left, left
    assert len([name for name in left if name.startswith("old-")]) < 200 and "old-000000.log" in left and "old-0000f9.log" not in left, sorted(left)
    os.kill(running["pid"], signal.SIGTERM)
    until(lambda: gone(running["pid"]), "its end")


if __name__ == "__main__":
    sys.exit(main(globals()))
