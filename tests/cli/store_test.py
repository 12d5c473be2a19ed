#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings store`: check, backup, salvage and migrate, with their output in words and as JSON, and their exit codes."""
import os
import signal
import stat
import sys

from kit import end, main

PAGE = 4096
CRASHES = os.environ.get("TIDINGS_CLI_CRASHES")


def spoil(path, page):
    with open(os.path.join(path, "data.mdb"), "r+b") as file:
        file.seek(page * PAGE)
        file.write(bytes(PAGE))


def leaves(path):
    """Returns the pages that are or were leaves of the tree of rows."""
    with open(os.path.join(path, "data.mdb"), "rb") as file:
        data = file.read()
    pages = range(2, len(data) // PAGE)
    return [page for page in pages if data[page * PAGE:page * PAGE + 8] == page.to_bytes(8, "little") and data[page * PAGE + 10] == 2
            and b"cli" in data[page * PAGE:(page + 1) * PAGE]]


def filled(place, count=3):
    for number in range(count):
        place.ok("push", "-s", "s", f"message {number}")
    return [f"message {number}" for number in range(count)]


def test_check(place):
    """check ends with 0 for a sound store, and with 1 and its findings, in words or JSON, for another one; doctor reports the same"""
    filled(place)
    assert place.ok("store", "check").text.startswith(f"{place.store}: sound; 1 sessions, 3 notifications, 0 messages, ")
    answer = place.ok("store", "check", "--json").json
    assert answer["sound"] and answer["notifications"] == 3 and answer["findings"] == [], answer
    for page in leaves(place.store):
        spoil(place.store, page)
    result = place.run("store", "check")
    assert result.code == 1 and "not sound" in result.text and "page " in result.text, result
    result = place.run("store", "check", "--json")
    assert result.code == 1 and not result.json["sound"] and result.json["findings"][0]["page"] > 1, result
    place.refused("pending", "-s", "s", says=["TIDINGS_E_STORE", "tidings store salvage"])
    doctor = place.run("doctor", "--json")
    found = [finding for finding in doctor.json if finding["topic"] == "store"]
    assert doctor.code == 1 and len(found) == 1 and found[0]["severity"] == "problem", doctor
    assert "page" in found[0]["text"] and "tidings store salvage" in found[0]["remedy"], found


def test_forget(place):
    """forget says how much it removes, with --dry-run without doing so; it removes nothing of another session, and refuses a session with a running host"""
    filled(place)
    place.ok("push", "--create", "-s", "other", "stays")
    assert place.ok("store", "forget", "-s", "s", "--dry-run").text == "session s: would go: 3 notifications, 0 deliveries, 0 messages, 4 rows in all\n"
    place.ok("deliver", "--at", "chat-request", "-s", "s", "--owner", str(os.getpid()), stdin="x")
    place.refused("store", "forget", "-s", "s", says=["TIDINGS_E_STATE", f"a host that runs, pid {os.getpid()}"])
    place.refused("store", "forget", code=2, says=["name the session with -s"])
    place.refused("store", "check", "-s", "s", code=2, says=["-s is for forget"])
    place.refused("store", "forget", "-s", "nobody", says=["TIDINGS_E_NOT_FOUND", "has no session"])
    place.refused("store", "forget", "-s", "s", "/nowhere", says=["there is no such folder"])
    answer = place.ok("store", "forget", "-s", "other", "--json").json
    assert answer["notifications"] == 1 and answer["deliveries"] == 0 and answer["rows"] == 2, answer
    assert "other" not in place.ok("sessions", "--json").text
    assert place.ok("store", "check", "--json").json["sound"]


def test_doctor_reads_every_row(place):
    """doctor runs the check: it finds a row with a wrong checksum, which opening the store does not find"""
    filled(place)
    path = os.path.join(place.store, "data.mdb")
    with open(path, "r+b") as file:
        data = file.read()
        assert b"message 1" in data
        file.seek(0)
        file.write(data.replace(b"message 1", b"messagE 1"))
    place.ok("status", "-s", "s")
    doctor = place.run("doctor", "--json")
    found = [finding for finding in doctor.json if finding["topic"] == "store" and finding["severity"] == "problem"]
    assert doctor.code == 1 and found and "checksum" in found[0]["text"] and "tidings store salvage" in found[0]["remedy"], doctor


def test_crash(place):
    """a check that crashes is a finding, and does not end the command"""
    filled(place)
    result = place.run("store", "check", env={"TIDINGS_PLUGIN": CRASHES})
    assert result.code == 1 and "ended by signal 11" in result.text, result
    assert "ended by signal 11" in place.run("store", "check", "--json", env={"TIDINGS_PLUGIN": CRASHES}).json["findings"][0]["text"]


def test_in_use(place):
    """while a process has the store open, backup works, and salvage and migrate refuse and name the process"""
    messages = filled(place)
    holder = place.hold()
    copy = os.path.join(place.dir, "copy")
    place.ok("store", "backup", copy)
    for task in ("salvage", "migrate"):
        place.refused("store", task, place.store, copy + "2", says=["TIDINGS_E_STATE", f"is in use by process {holder.pid};"])
    end(holder, signal.SIGKILL)
    assert not os.path.exists(copy + "2")
    items = place.ok("pending", "-S", copy, "-s", "s", "--json").json["items"]
    assert [item["message"] for item in items] == messages


def test_backup(place):
    """backup makes a store of its own with mode 0700, and overwrites nothing"""
    messages = filled(place)
    copy = os.path.join(place.dir, "copy")
    assert place.ok("store", "backup", copy).text.startswith(f"{copy}: 1 sessions, 3 notifications")
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o700
    place.refused("store", "backup", copy, says=["TIDINGS_E_STATE", "is not empty"])
    place.refused("store", "backup", place.store, says=["TIDINGS_E_STATE", "is not empty"])
    place.ok("push", "-s", "s", "later")
    place.ok("store", "check", "-S", copy)
    items = place.ok("pending", "-S", copy, "-s", "s", "--json").json["items"]
    assert [item["message"] for item in items] == messages
    assert place.ok("store", "backup", copy + "2", "--json").json["notifications"] == 4
    place.refused("store", "backup", copy + "3", "-S", os.path.join(place.dir, "none"), says="TIDINGS_E_NOT_FOUND")
    assert not os.path.exists(copy + "3") and not os.path.exists(os.path.join(place.dir, "none"))


def test_salvage(place):
    """salvage copies the undamaged rows into a new store, reports the losses, and leaves the old store unchanged"""
    filled(place, 60)
    place.opened("t")
    place.ok("push", "-s", "t", "of the other")
    for page in leaves(place.store):  # until a page that is in use was damaged
        if place.run("store", "check").code == 0:
            spoil(place.store, page)
    assert place.run("store", "check").code == 1
    with open(os.path.join(place.store, "data.mdb"), "rb") as file:
        before = file.read()
    saved = os.path.join(place.dir, "saved")
    text = place.ok("store", "salvage", "--also-stale", place.store, saved).text
    assert len(place.ok("pending", "-S", saved, "-s", "s", "--json", "-n", "1000").json["items"]) > 30
    assert text.startswith(f"{saved}: ") and "notifications" in text and "may be delivered again" in text, text
    answer = place.ok("store", "salvage", place.store, saved + "2", "--json").json
    assert {"rows", "sessions", "notifications", "stale", "made_heads", "pending_again", "made_names", "damaged"} < set(answer), answer
    with open(os.path.join(place.store, "data.mdb"), "rb") as file:
        assert file.read() == before
    place.ok("store", "check", "-S", saved)
    place.refused("store", "salvage", place.store, saved, says="is not empty")
    place.refused("store", "salvage", place.store, place.store, says="is not empty")
    assert place.ok("status", "-S", saved, "--all").text


def test_migrate(place):
    """migrate converts only an older layout; the refusal of an older store names the command"""
    filled(place)
    place.refused("store", "migrate", place.store, place.store + "2", says=["TIDINGS_E_STATE", "nothing to migrate"])
    place.trick("older", place.store)
    place.refused("pending", "-s", "s", says=["TIDINGS_E_STORE", "tidings store migrate"])
    result = place.run("store", "check")
    assert result.code == 1 and "layout 3" in result.text, result
    doctor = {finding["topic"]: finding for finding in place.run("doctor", "--json").json}
    assert "tidings store migrate" in doctor["store"]["text"], doctor
    new = os.path.join(place.dir, "new")
    place.ok("store", "migrate", place.store, new)
    items = place.ok("pending", "-S", new, "-s", "s", "--json").json["items"]
    assert [item["message"] for item in items] == ["message 0", "message 1", "message 2"]


def test_usage(place):
    """wrong arguments are usage errors"""
    for words, says in ((["store"], "check, backup, salvage, migrate, init, upgrade, drop, copy or forget"), (["store", "mend"], "'mend' is not one of"),
                        (["store", "check", "x", "y"], "unexpected argument 'y'"), (["store", "check", "x", "-S", "y"], "takes the store as an argument"), (["store", "backup"], "name the folder to make"),
                        (["store", "salvage", "a"], "name the store and the folder to make"),
                        (["store", "backup", "x", "--also-stale"], "--also-stale is for salvage"),
                        (["store", "salvage", "a", "b", "-S", "c"], "takes the store as an argument")):
        place.refused(*words, code=2, says=says)
    place.refused("store", "check", says="TIDINGS_E_NOT_FOUND")
    assert not os.path.exists(place.store)
    place.ok("push", "-s", "s", "one")
    assert place.ok("store", "check", place.store).text == place.ok("store", "check").text


if __name__ == "__main__":
    sys.exit(main(globals()))
