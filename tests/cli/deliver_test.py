#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings deliver`: the carrier is written after any error, and a notification counts as shown only when all of it was written."""
import json
import os
import signal
import subprocess
import sys

from kit import DEADLINE_S, TIDINGS, Skip, end, main, until

MINE = ["--owner", str(os.getpid())]


def deliver(place, *words, **more):
    return place.run("deliver", "-s", "s", "--at", "tool-result", *MINE, *words, **more)


def test_bytes(place):
    """a carrier without notifications comes through to the byte; notifications are added around it"""
    carrier = bytes(range(256)) * 300 + b"no line break at the end"
    assert deliver(place, stdin=carrier).out == carrier
    assert deliver(place, stdin=b"").out == b""
    place.ok("push", "-s", "s", "news")
    out = deliver(place, stdin=carrier).out
    assert out.endswith(carrier) and b"- news\n---\n\n" in out, out[:600]
    assert deliver(place, stdin=carrier).out == carrier
    assert not place.pending()


def test_host_name(place):
    """the name of --host is in the block's title"""
    place.ok("push", "-s", "s", "news")
    assert b"**JP System Notifications**" in deliver(place, "--host", "JP", stdin=b"x").out


def test_formats(place):
    """in text, notifications are set apart from the carrier; with --json they are a message of their own"""
    config = os.path.join(place.dir, "c.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"delivery": {"format": "synthetic-call"}}, file)
    place.ok("push", "-s", "s", "news")
    messages = json.loads(deliver(place, "--json", "--config", config, stdin=b"result").out)
    assert [m["role"] for m in messages] == ["carrier", "tool"] and messages[0] == {"role": "carrier", "carrier": True, "text": "result"}, messages
    assert messages[1]["tool"] == "_system_notification" and "news" in messages[1]["text"], messages
    assert json.loads(deliver(place, "--json", stdin=b"result").out) == [{"role": "carrier", "carrier": True, "text": "result"}]
    place.ok("push", "-s", "s", "more")
    text = deliver(place, "--config", config, stdin=b"result").out
    assert text.startswith(b"result\n\n") and b"more" in text, text
    place.ok("push", "-s", "s", "again")
    assert deliver(place, "--json", stdin=b"\xff").code == 1, "what is not UTF-8 is no JSON"
    assert place.messages() == ["again"], "and then it was not told"


def test_room(place):
    """--room limits all that is added; notifications that do not fit come with a later carrier"""
    carrier, seen = b"the output", []
    for i in range(9):
        place.ok("push", "-s", "s", f"news number {i}")
    for _ in range(9):
        out = deliver(place, "--room", "500", stdin=carrier).out
        assert out.endswith(carrier) and len(out) - len(carrier) <= 500, out
        seen += [line for line in out.decode().split("\n") if line.startswith("- ")]
    assert seen == [f"- news number {i}" for i in range(9)], seen
    assert not place.pending()
    place.ok("push", "-s", "s", "more news")
    assert deliver(place, "--room=20", stdin=carrier).out == carrier
    assert b"more news" in deliver(place, "--room=0", stdin=carrier).out


def test_settled(place):
    """one call is one delivery, committed"""
    place.ok("push", "-s", "s", "news")
    deliver(place, "--call", "c1", "--tool", "make", stdin=b"x")
    [delivery] = place.ok("history", "-s", "s", "--json").json["deliveries"]
    assert (delivery["outcome"], delivery["carrier"], delivery["call_id"], delivery["tool"]) == ("committed", "tool_result", "c1", "make"), delivery


def test_reader_gone(place):
    """if the reader goes away before the end, the notification is pending again"""
    place.ok("push", "-s", "s", "news")
    process = place.start("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.close()
    assert process.wait(DEADLINE_S) == 1
    assert b"cannot write to stdout: Broken pipe" in process.stderr.read()
    assert place.messages() == ["news"]


def test_stdout_closed(place):
    """without a stdout the notification stays pending, and the error is reported"""
    place.ok("push", "-s", "s", "news")
    command = f'exec 1>&-; exec "{TIDINGS}" deliver -s s --at tool-result --owner {os.getpid()}'
    process = place.start(command=["sh", "-c", command], stdin=subprocess.PIPE)
    assert b"cannot write to stdout: Bad file descriptor" in process.communicate(b"x")[1]
    assert process.returncode == 1
    assert place.messages() == ["news"]
    assert os.path.getsize(os.path.join(place.store, "data.mdb")) > 0, "and nothing was written into the store"


def test_full_disk(place):
    """if the disk fills up during the output, the notification stays pending, and the error is reported"""
    if not os.path.exists("/dev/full"):
        raise Skip("there is no /dev/full")
    place.ok("push", "-s", "s", "news")
    with open("/dev/full", "wb") as full:
        result = deliver(place, stdin=b"x", stdout=full)
    assert result.code == 1 and "cannot write to stdout: No space left on device" in result.said, result
    assert place.messages() == ["news"]


def test_stopped(place):
    """after SIGTERM or SIGINT while the reader is slow, nothing counts as shown"""
    place.ok("push", "-s", "s", "news")
    for number in (signal.SIGTERM, signal.SIGINT):
        process = place.start("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin=subprocess.PIPE)
        process.stdin.write(b"x" * 1_000_000)
        process.stdin.close()
        until(lambda: place.ok("pending", "-s", "s", "--json").json["leased"] == 1, "the lease")
        assert process.stdout.read(10), "it writes, and nobody reads on"
        assert end(process, number) == 128 + number
        assert place.messages() == ["news"]


def test_killed(place):
    """after SIGKILL and the host's end, the session is recovered, and the notification is shown again"""
    host = place.start(command=["sleep", "1000"])
    place.ok("push", "-s", "s", "news")
    process = place.start("deliver", "-s", "s", "--at", "tool-result", "--owner", str(host.pid), stdin=subprocess.PIPE)
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.close()
    until(lambda: place.ok("pending", "-s", "s", "--json").json["leased"] == 1, "the lease")
    end(process, signal.SIGKILL)
    end(host, signal.SIGKILL)
    assert b"- news" in deliver(place, stdin=b"x").out


def test_unchanged(place):
    """after an error the carrier is written unchanged, and stderr and the exit code report the error"""
    host = place.start(command=["sleep", "1000"])
    place.opened(owner=host.pid)
    place.ok("push", "-s", "s", "news")
    result = deliver(place, stdin=b"carrier")
    assert result.code == 1 and result.out == b"carrier" and f"pid {host.pid}" in result.said, result
    result = deliver(place, "--json", stdin=b"carrier")
    assert result.code == 1 and json.loads(result.out) == [{"role": "carrier", "carrier": True, "text": "carrier"}], result
    for env, says in (({"TIDINGS_PLUGIN": "/nowhere.so"}, "/nowhere.so"), ({"TIDINGS_STORE": "/proc/nowhere"}, "TIDINGS_E_STORE"), ({"TIDINGS_CONFIG": "/nowhere"}, "/nowhere")):
        result = deliver(place, stdin=b"carrier", env=env)
        assert result.code == 1 and result.out == b"carrier" and says in result.said, (env, result)
    result = place.run("deliver", "--at", "tool-result", stdin=b"carrier", cwd="/")
    assert result.code == 1 and result.out == b"carrier" and "no running session" in result.said, result
    assert place.messages() == ["news"]


def test_too_large(place):
    """a carrier that is too large for notifications comes through whole, without them"""
    place.ok("push", "-s", "s", "news")
    carrier = b"0123456789abcdef" * (5 << 20)
    result = deliver(place, stdin=carrier)
    assert result.code == 1 and "more than 67108864 bytes" in result.said and result.out == carrier, (result.code, len(result.out), result.said)
    result = deliver(place, "--json", stdin=carrier)
    assert result.code == 1 and result.out == b"", (result.code, len(result.out), result.said)
    assert place.messages() == ["news"]


def test_busy(place):
    """if the store stays busy, the carrier is written unchanged, and nothing is lost"""
    place.ok("push", "-s", "s", "news")
    holder = place.hold()
    result = deliver(place, stdin=b"carrier")
    assert result.code == 1 and result.out == b"carrier" and "TIDINGS_E_BUSY" in result.said, result
    end(holder, signal.SIGKILL)
    assert b"- news" in deliver(place, stdin=b"carrier").out


def test_busy_settle(place):
    """if the store is busy when the delivery is settled, the command waits for it"""
    place.ok("push", "-s", "s", "news")
    process = place.start("deliver", "-s", "s", "--at", "tool-result", *MINE, stdin=subprocess.PIPE)
    process.stdin.write(b"x" * 1_000_000)
    process.stdin.close()
    assert process.stdout.read(10), "it is leased and being written"
    holder = place.hold()
    assert len(process.stdout.read(1_000_000)) == 1_000_000, "all but what tidings added"
    assert process.poll() is None, "it waits for the store"
    end(holder, signal.SIGKILL)
    process.stdout.read()
    assert process.wait(DEADLINE_S) == 0, process.stderr.read()
    [delivery] = place.ok("history", "-s", "s", "--json").json["deliveries"]
    assert delivery["outcome"] == "committed", delivery


def test_chat_request(place):
    """a chat request takes the messages that it names; messages that are not offered are refused"""
    place.opened()
    place.ok("submit", "-s", "s", "--id", "m1", "do it")
    chat = ["deliver", "-s", "s", "--at", "chat-request", *MINE]
    result = place.run(*chat, "--message", "nonsense", stdin=b"do it")
    assert result.code == 1 and result.out == b"" and "TIDINGS_E_NOT_FOUND" in result.said, result
    place.ok("push", "-s", "s", "news")
    out = place.ok(*chat, "--message", "m1", stdin=b"do it").text
    assert out.endswith("do it") and "- news" in out, out
    result = place.run(*chat, "--message", "m1", "--source", "system", stdin=b"do it")
    assert place.ok("status", "-s", "s", "--json").json["messages"] == ["m1"]
    assert place.event("turn.finished", owner=os.getpid())["status"]["state"] == "idle"
    result = place.run(*chat, "--message", "m1", stdin=b"do it")
    assert result.code == 1 and result.out == b"" and "TIDINGS_E_FIRED" in result.said, result


def test_wrong(place):
    """wrong arguments are refused"""
    for words, says in (([], "--at is missing"), (["--at", "letter"], "not one of tool-result, chat-request"), (["--at", "tool-result", "--message", "m"], "need --at=chat-request"),
                        (["--at", "chat-request", "--tool", "t"], "need --at=tool-result"), (["--at", "chat-request", "--source", "me"], "not one of user, system"),
                        (["--at", "tool-result", "x"], "unexpected argument 'x'"), (["--at", "tool-result", "--room", "-5"], "--room: '-5' is not a number of bytes"), (["--at", "tool-result", "--room", "10kB"], "--room: '10kB' is not a number of bytes"),
                        (["--at", "chat-request", "--message", b"\xff"], "--message: the id is not UTF-8"), (["--at", "chat-request", *["--message", "m"] * 257], "--message: given more than 256 times"),
                        (["--at", "tool-result", "--owner", "x"], "--owner: 'x' is not a process id")):
        result = place.refused("deliver", "-s", "s", *words, code=2, says=says)
        assert not result.out, result


SCRIPT = """
set -e
say() { "$T" deliver -s s --at tool-result --call "$1"; }
x=$(echo first | say c1)
echo second | say c2 >/dev/null
(echo third | say c3) >/dev/null
y=$(sh -c 'echo fourth | "$T" deliver -s s --at tool-result --call c4')
"$T" status -s s --json >"$1"
echo "$$"
"""


def test_owner(place):
    """a script owns its session when it calls from subshells, pipelines and programs below it"""
    status = os.path.join(place.dir, "status")
    script = os.path.join(place.dir, "agent.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    done = subprocess.run(["sh", script, status], env={**place.env, "T": TIDINGS}, cwd=place.work, check=False, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done
    with open(status, encoding="utf-8") as file:
        attachment = json.load(file)["attachment"]
    assert attachment["pid"] == int(done.stdout) and attachment["epoch"] == 1, (attachment, done)


def test_orphan(place):
    """a command whose caller has ended is the host only while it runs; the process that adopts it gets no session"""
    left = 'exec 3<&0; (read line <&3; exec "$@" <&3 3<&-) &'
    for number, words in enumerate((["deliver", "--at", "tool-result"], ["wait", "--timeout", "0"])):
        words = [*words, "-s", f"s{number}"]
        caller = place.start(command=["sh", "-c", left, "sh", TIDINGS, *words], stdin=subprocess.PIPE, start_new_session=True)  # a session with no other
                                                                                                                                # process
        assert caller.wait(DEADLINE_S) == 0
        caller.communicate(b"\n", timeout=DEADLINE_S)
        until(lambda number=number: not place.ok("status", "-s", f"s{number}", "--json").json["attachment"]["alive"], "its host has ended")


if __name__ == "__main__":
    sys.exit(main(globals()))
