#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exchange.py TARGET=BUILD_DIR…: tests that the builds for several targets can use one store, each with each. Prints TAP.

A store that one build wrote must be sound and unchanged for another one. Only builds with the same locks may use it at the same time; any other is
refused with an error, and nothing is lost.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60
TEXTS = ("short", "ä ö ü € 🙂", "a long one: " + "0123456789" * 3000, "two\nlines")


class Build:
    def __init__(self, target, folder):
        self.target, self.folder = target, folder

    def start(self, store, *words, **options):
        environment = {"PATH": os.environ["PATH"], "HOME": store, "TIDINGS_STORE": store, "TIDINGS_PLUGIN": f"{self.folder}/tidings.so",
                       "QEMU_LD_PREFIX": os.environ.get("QEMU_LD_PREFIX", "")}
        return subprocess.Popen([f"{self.folder}/tidings", *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def run(self, store, *words):
        process = self.start(store, *words)
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    def ok(self, store, *words):
        code, out, err = self.run(store, *words)
        assert code == 0, (self.target, words, code, out, err)
        return out

    def json(self, store, *words):
        return json.loads(self.ok(store, *words, "--json"))


def written_by_one(store, writer, reader):
    """a store that one build wrote is sound for the other build, and both read the same from it"""
    for number, text in enumerate(TEXTS):
        writer.ok(store, "push", "-s", "s", "--create", "--level", ("info", "warning", "error", "critical")[number], "--key", f"k{number}", text)
    writer.ok(store, "submit", "-s", "s", "a message that waits")
    for one in (reader, writer):
        other = writer if one is reader else reader
        checked = one.json(store, "store", "check")
        assert checked["sound"] and checked["messages"] == 1, checked
        for words in (("pending", "-s", "s"), ("queue", "-s", "s"), ("history", "-s", "s"), ("sessions",)):
            assert one.json(store, *words) == other.json(store, *words), words
        preview = one.ok(store, "pending", "-s", "s", "--preview=tool-result")
        assert preview == other.ok(store, "pending", "-s", "s", "--preview=tool-result")
        assert "short" in preview and "🙂" in preview, preview
        one.ok(store, "push", "-s", "s", f"one more, by {one.target}")
    pending = json.dumps(writer.json(store, "pending", "-s", "s"))
    assert f"one more, by {reader.target}" in pending and f"one more, by {writer.target}" in pending, pending


def await_sleep(process, store):
    """Waits until the process has the store open and sleeps; then it has a FIFO there. (It opens the store once before, to find the session.)"""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        if any(name.startswith(f"wake.{process.pid}.") for name in os.listdir(store)):
            return
        time.sleep(0.01)
    raise AssertionError("it does not wait")


def at_the_same_time(store, holder, other):
    """while one build uses a store, a build whose locks differ refuses it, and nothing is lost"""
    holder.ok(store, "push", "-s", "s", "--create", "before")
    process = holder.start(store, "wait", "-s", "s")
    try:
        await_sleep(process, store)
        code, out, err = other.run(store, "push", "-s", "s", "meanwhile")
        assert code != 0 and "whose locks differ" in err and "end the other processes first" in err, (code, out, err)
        musl = ["musl" in build.target for build in (holder, other)]
        if musl[0] != musl[1]:
            assert f"a build for {'musl' if musl[0] else 'glibc'}" in err, err
        holder.ok(store, "push", "-s", "s", "during")
    finally:
        process.kill()
        process.communicate()
    other.ok(store, "push", "-s", "s", "after")
    assert other.json(store, "store", "check")["sound"]
    messages = json.dumps(other.json(store, "pending", "-s", "s"))
    assert all(word in messages for word in ("before", "during", "after")) and "meanwhile" not in messages, messages


def main(arguments):
    builds = [Build(*argument.split("=", 1)) for argument in arguments]
    failed = False
    for test in (written_by_one, at_the_same_time):
        for one in builds:
            for other in builds:
                if one is other:
                    continue
                with tempfile.TemporaryDirectory() as store:
                    try:
                        test(store, one, other)
                        print(f"ok - {one.target}, {other.target}: {test.__doc__}", flush=True)
                    except (AssertionError, subprocess.TimeoutExpired) as reason:
                        failed = True
                        print(f"not ok - {one.target}, {other.target}: {test.__doc__}\n# {reason!r}"[:4000], flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
