#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings listen` with events in the wrong order, with notifications that a session cannot collect at once, and with a session that was left."""
import fcntl
import json
import os
import signal
import sys

from kit import end, main, until
from listen_kit import route, serve


def test_overtaken(place):
    """the end of a run is left out if a later run has begun or ended: also after a restart, with another listener, and after the later one was delivered"""
    rows = (route("/github", "github", to="box:ci"), route("/gitlab", "gitlab", to="box:lab"))
    first, second = serve(place, *rows), serve(place, *rows)

    def run(number, conclusion, attempt=1, action="completed", server=first, branch="fix"):
        event = {"action": action, "repository": {"html_url": "https://github.com/octo/hello"},
                 "workflow_run": {"name": "CI", "workflow_id": 7, "run_number": number, "run_attempt": attempt, "conclusion": conclusion, "head_branch": branch,
                                  "head_sha": f"c0ffee{number}", "html_url": "https://github.com/octo/hello/actions"}}
        answer = server.post("/github", event, {"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": f"{number} {attempt} {action} {branch} {conclusion}"}, scheme="github")
        assert answer[0] == 200, answer
        return answer[2]["accepted"]

    def status(date, id_, state):
        event = {"id": id_, "sha": "c0ffee", "context": "jenkins", "state": state, "branches": [{"name": "fix"}], "commit": {"commit": {"committer": {"date": date}}},
                 "repository": {"html_url": "https://github.com/octo/hello", "full_name": "octo/hello"}}
        return first.post("/github", event, {"X-GitHub-Event": "status", "X-GitHub-Delivery": f"{id_}"}, scheme="github")[2]["accepted"]

    def pipeline(number, state):
        event = {"object_kind": "pipeline", "object_attributes": {"id": number, "ref": "main", "sha": "beef", "tag": False, "status": state}, "project": {"id": 1, "web_url": "https://gitlab.example/a/b"}}
        return first.post("/gitlab", event, {"X-Gitlab-Event-UUID": f"{number} {state}"}, scheme="gitlab")[2]["accepted"]

    def shown():
        return place.ok("deliver", "-s", "box:ci", "--at", "tool-result", "--owner", str(os.getpid()), stdin="").text

    assert run(9, "failure") == run(10, "success") == 1 and run(9, "failure", attempt=2) == 0, "the newer one has passed; an older one was run again"
    assert run(8, "failure", server=second) == 0, "another process"
    assert run(9, None, action="requested") == 0, "it takes nothing back"
    assert run(8, "failure", branch="other") == 1, "another branch"
    assert "passed on `fix` at c0ffee10" in shown()
    assert run(9, "failure", attempt=3) == 0, "after the delivery, too"
    assert end(first.process, signal.SIGKILL) == -signal.SIGKILL
    first = serve(place, *rows)
    assert run(9, "failure", attempt=4, server=first) == 0, "after a restart, too"
    assert run(11, None, action="requested", server=first) == 1 and run(10, "failure", attempt=2, server=first) == 0, "the newer one has begun"
    assert run(11, "failure", server=first) == run(11, "success", attempt=2, server=first) == 1
    assert status("2026-11-20T12:11:06Z", 3, "success") == 1 and status("2026-11-20T12:11:05Z", 4, "failure") == 0, "of an older commit"
    assert [pipeline(*one) for one in ((31, "failed"), (32, "success"), (32, "failed"), (31, "failed"), (31, "pending"), (30, "success"))] == [1, 1, 1, 0, 0, 0]
    text = shown()
    assert "CI` passed on `fix` at c0ffee11" in text and "jenkins` is success" in text and "failed" not in text, text
    until(lambda: "/github  accepted 4, repeated 0, overtaken 3" in place.ok("stats", "--listen").text, "it is counted")


def test_forks(place):
    """a run of a fork takes back and replaces nothing of the repository's branch with the same name; without the fork's address it goes to no branch"""
    server = serve(place, route("/box", "github", to="box:ci"), route("/own", "github"), route("/lab", "gitlab", to="box:lab"))

    def run(path, number, conclusion, fork, action="completed"):
        event = {"action": action, "repository": {"html_url": "https://github.com/octo/hello", "full_name": "octo/hello"},
                 "workflow_run": {"name": "CI", "workflow_id": 7, "run_number": number, "conclusion": conclusion, "head_branch": "main", "head_sha": f"c0ffee{number}", "html_url": "u",
                                  "head_repository": fork and {"full_name": fork, "html_url": f"https://github.com/{fork}"}}}
        return server.post(path, event, {"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": f"{path} {number} {action}"}, scheme="github")[2]["accepted"]

    def pipeline(number, state, source):
        event = {"object_kind": "pipeline", "object_attributes": {"id": number, "ref": "main", "sha": "beef", "tag": False, "status": state}, "project": {"id": 1, "web_url": "https://gitlab.example/a/b"},
                 "merge_request": source and {"source_project_id": source}}
        return server.post("/lab", event, {"X-Gitlab-Event-UUID": f"{number} {state}"}, scheme="gitlab")[2]["accepted"]

    def shown(box):
        return place.ok("deliver", "-s", box, "--at", "tool-result", "--owner", str(os.getpid()), stdin="").text

    assert run("/box", 1, "failure", "octo/hello") == run("/box", 2, None, "mallory/hello", action="requested") == run("/box", 2, "success", "mallory/hello") == 1
    assert run("/box", 3, "success", None) == run("/own", 1, "failure", "octo/hello") == 1 and run("/own", 2, "success", None) == 0
    assert "failed (failure) on `main` at c0ffee1" in shown("box:ci") and "c0ffee1" in shown("repo:github.com/octo/hello@main")
    assert pipeline(1, "failed", None) == pipeline(2, "pending", 9) == pipeline(3, "success", 9) == 1
    assert "Pipeline 1 failed" in shown("box:lab")
    assert pipeline(4, "failed", 1) == pipeline(5, "success", None) == 1 and "failed" not in shown("box:lab"), "a merge request of the project itself"


def test_order_of_what_was_refused(place):
    """a later event that the full store has refused does not keep an earlier one out"""
    os.makedirs(os.path.join(place.dir, ".config", "tidings"))
    with open(os.path.join(place.dir, ".config", "tidings", "config.json"), "w", encoding="utf-8") as file:
        json.dump({"limits": {"pending_per_session": 2}}, file)
    server = serve(place, route("/gitlab", "gitlab", to="box:lab"))

    def fill():
        while place.run("push", "--to", "box:lab", "x").code == 0:
            pass

    def empty():
        place.ok("deliver", "-s", "box:lab", "--at", "tool-result", "--owner", str(os.getpid()), stdin="")

    def pipeline(number, state):
        event = {"object_kind": "pipeline", "object_attributes": {"id": number, "ref": "main", "sha": "beef", "tag": False, "status": state}, "project": {"id": 1, "web_url": "https://gitlab.example/a/b"}}
        status, _, answer = server.post("/gitlab", event, {"X-Gitlab-Event-UUID": f"{number} {state}"}, scheme="gitlab")
        return answer["accepted"] if status == 200 else status

    fill()
    assert pipeline(32, "failed") == 429
    empty()
    assert pipeline(31, "failed") == 1
    fill()
    assert pipeline(33, "failed") == 429
    empty()
    assert pipeline(30, "failed") == 0, "before the one that was stored"
    assert [pipeline(32, "failed"), pipeline(31, "success")] == [1, 0]


def test_kept_lock(place):
    """while another process keeps the lock of the orders, requests are answered with 503, and the server can end"""
    server = serve(place, route("/gitlab", "gitlab", to="box:lab"))

    def pipeline(number):
        event = {"object_kind": "pipeline", "object_attributes": {"id": number, "ref": "main", "sha": "beef", "tag": False, "status": "failed"}, "project": {"id": 1, "web_url": "https://gitlab.example/a/b"}}
        return server.post("/gitlab", event, {"X-Gitlab-Event-UUID": f"{number}"}, scheme="gitlab")[0]

    assert pipeline(1) == 200
    with open(os.path.join(place.store, "recipes", "orders.lock"), "r+", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert pipeline(2) == 503
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert pipeline(2) == 200
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert end(server.process) == 0


def test_followed(place):
    """after /clear what is sent to the session of a route reaches the one that follows in the window"""
    place.opened()
    server = serve(place, route("/a", to="session:s"))
    for session, text in (("s", "one"), ("next", "two")):
        assert server.post("/a", {"text": text})[0] == 200 and place.messages(session) == [text]
        place.followed()
    assert place.messages() == ["one"]


def test_repeated_after_clear(place):
    """a request that is repeated after /clear is known, whichever session the window showed when it came; after SIGHUP too"""
    place.opened()
    server = serve(place, route("/a", to="session:s"), route("/b", to="session:s"))
    window = ["s", "next", "third"]
    for old, new in zip(window, window[1:]):
        assert server.post("/a", {"text": f"to {old}"})[2] == {"accepted": 1, "repeated": 0}
        place.followed(new, old)
        if old == "s":
            continue
        place.event("session.opened", {"host": "left"}, "s", os.getpid())
        server.process.send_signal(signal.SIGHUP)
        assert "read again" in server.process.stderr.readline().decode()
    for old in window[:-1]:
        assert server.post("/a", {"text": f"to {old}"})[2] == {"accepted": 0, "repeated": 1}, old
        assert place.messages(old) == [f"to {old}"]
    assert place.messages("third") == []
    assert server.post("/b", {"text": "to s"})[2]["accepted"] == 1, "another route is another sender"


def test_forwarded_later(place):
    """a notification that a session cannot collect yet reaches it later, without another request"""
    host = place.start(command=["sleep", "600"])
    place.opened("s")
    box = f"folder:{place.work}"
    place.opened(box, cwd="/", owner=host.pid)
    server = serve(place, route("/a", to=box), route("/b", to="box:b"))
    assert server.post("/a", {"text": "one"})[0] == 200
    said = server.process.stderr.readline()
    assert f"it waits in {box}, and is tried again: " in said.decode(), said
    assert server.post("/b", {"text": "other"})[0] == 200
    end(host, signal.SIGKILL)
    until(lambda: place.messages("s") == ["one"], "the session has it")
    assert end(server.process) == 0


def test_full_session(place):
    """what a full session cannot collect reaches it once it has room, without another request"""
    os.makedirs(os.path.join(place.dir, ".config", "tidings"))
    with open(os.path.join(place.dir, ".config", "tidings", "config.json"), "w", encoding="utf-8") as file:
        json.dump({"limits": {"pending_per_session": 2}}, file)
    place.opened("s")
    place.ok("box", "join", "-s", "s", "b")
    for text in ("one", "two"):
        place.ok("push", "-s", "s", text)
    server = serve(place, route("/b", to="box:b"))
    assert server.post("/b", {"text": "three"})[0] == 200 and place.messages("s") == ["one", "two"]
    place.ok("deliver", "-s", "s", "--at", "tool-result", "--owner", str(os.getpid()), stdin="")
    until(lambda: place.messages("s") == ["three"], "the session has it")
    assert end(server.process) == 0


if __name__ == "__main__":
    sys.exit(main(globals()))
