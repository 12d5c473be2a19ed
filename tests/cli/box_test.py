#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `--to` and `tidings box`: addresses, and notifications that wait in mailboxes until a session collects them."""
import json
import os
import random
import signal
import subprocess
import sys
import time

from kit import DEADLINE_S, TIDINGS, Skip, end, main


def boxes(place):
    return {row["session"]: (row["pending"], row["queued"]) for row in place.ok("box", "--json").json}


def collect(place, session, **more):
    return place.ok("box", "collect", "-s", session, "--json", **more).json


def git(place, folder, url, branch):
    """Makes the parts of a checkout that tidings reads; git is not needed."""
    os.makedirs(os.path.join(folder, ".git", "refs", "heads"), exist_ok=True)
    with open(os.path.join(folder, ".git", "HEAD"), "w", encoding="ascii") as file:
        file.write(f"ref: refs/heads/{branch}\n")
    with open(os.path.join(folder, ".git", "config"), "w", encoding="ascii") as file:
        file.write(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "x"]\n\tremote = origin\n')


def test_waits(place):
    """notifications for a box wait there, those with one id once, until a session joins it; later ones go to that session at once"""
    said = place.ok("push", "--to", "box:ci", "-k", "ci.failed", "-l", "error", "--id", "41", "Build 41 failed.").said
    assert "waits in box:ci" in said, said
    place.ok("push", "--to", "box:ci", "--id", "41", "Build 41 failed.")
    place.ok("submit", "--to", "box:ci", "--id", "m1", "Look at build 41.")
    assert boxes(place) == {"box:ci": (1, 1)}
    shown = place.ok("box", "show", "ci").text
    assert "Build 41 failed." in shown and "Look at build 41." in shown, shown
    place.opened("s")
    assert "1 notifications and 1 messages were moved" in place.ok("box", "join", "ci", "-s", "s").text
    assert place.messages("s") == ["Build 41 failed."]
    assert [row["id"] for row in place.ok("queue", "-s", "s", "--json").json["messages"]] == ["m1"]
    assert boxes(place) == {"box:ci": (0, 0)}  # it is listed as long as it has a member
    place.ok("push", "--to", "box:ci", "--id", "41", "Build 41 failed.")
    place.ok("push", "--to", "box:ci", "--id", "42", "Build 42 failed.")
    assert place.messages("s") == ["Build 41 failed.", "Build 42 failed."]
    place.ok("box", "leave", "ci")
    assert "waits in box:ci" in place.ok("push", "--to", "box:ci", "later").said
    assert boxes(place) == {"box:ci": (1, 0)}
    place.ok("box", "drop", "ci")
    assert boxes(place) == {}
    assert "Nothing waits" in place.ok("box").text


def test_lost_member(place):
    """what is sent to a box whose session was forgotten or closed waits in the box, for a session that joins it; a closed one that opens again has it again"""
    host = place.start(command=["sleep", "1000"])
    place.opened("agentX", owner=host.pid)
    place.ok("box", "join", "ci", "-s", "agentX")
    place.ok("push", "--to", "box:ci", "hello1")
    assert place.messages("agentX") == ["hello1"]
    end(host)
    place.ok("store", "forget", "-s", "agentX")
    assert "waits in box:ci" in place.ok("push", "--to", "box:ci", "hello2").said
    assert boxes(place) == {"box:ci": (1, 0)} and "joined by" not in place.ok("box").text
    place.opened("agentX")  # another session of that name
    assert collect(place, "agentX") == {"notifications": 0, "messages": 0} and "joined by" not in place.ok("box").text
    place.opened("agentY")
    place.ok("box", "join", "ci", "-s", "agentY")
    assert place.messages("agentY") == ["hello2"] and "joined by agentY" in place.ok("box").text
    place.event("session.closed", {}, "agentY", os.getpid())
    assert "waits in box:ci" in place.ok("push", "--to", "box:ci", "hello3").said
    assert place.messages("agentY") == [] and boxes(place) == {"box:ci": (1, 0)}
    place.opened("agentY")
    assert collect(place, "agentY") == {"notifications": 1, "messages": 0} and place.messages("agentY") == ["hello3"]
    place.ok("push", "--to", "box:ci", "hello4")
    assert place.messages("agentY") == ["hello3", "hello4"]


def test_folder(place):
    """a folder's address reaches the session that works there or above; without one, the next session that starts there; a folder further down is another address"""
    inside = os.path.join(place.work, "inside")
    os.mkdir(inside)
    place.ok("push", "--to", "folder:inside", "for inside")
    place.ok("push", "--to", f"folder:{place.work}", "for work")
    place.opened("lower", cwd=inside)
    assert collect(place, "lower") == {"notifications": 1, "messages": 0}
    assert place.messages("lower") == ["for inside"]
    assert boxes(place) == {f"folder:{place.work}": (1, 0)}
    place.opened("upper", cwd=place.work)
    assert collect(place, "upper") == {"notifications": 1, "messages": 0}
    place.ok("push", "--to", "folder:inside", "to the nearest")
    place.ok("submit", "--to", "folder:.", "--id", "m1", "to the upper")
    assert place.messages("lower") == ["for inside", "to the nearest"] and boxes(place) == {}
    assert place.ok("queue", "-s", "upper", "--json").json["count"] == 1


def test_two_in_one_folder(place):
    """if two sessions work in one folder, only the one that was used last gets the notification"""
    for session in ("one", "two"):
        place.opened(session, owner=place.start(command=["sleep", "1000"]).pid)
    place.event("turn.started", session="one", owner=place.started[0].pid)
    place.ok("push", "--to", "folder:.", "x")
    assert place.messages("one") == ["x"] and place.messages("two") == [] and boxes(place) == {}


def test_repository(place):
    """a repository's address reaches the session in a checkout of it, on the branch if one is named; tidings reads it from .git, also for a work tree"""
    app, tree = os.path.join(place.work, "app"), os.path.join(place.work, "tree")
    git(place, app, "git@github.com:Owner/App.git", "main")
    os.makedirs(os.path.join(app, ".git", "worktrees", "tree"))
    os.makedirs(os.path.join(tree, "deep"))
    for path, text in ((os.path.join(tree, ".git"), f"gitdir: {app}/.git/worktrees/tree\n"), (os.path.join(app, ".git/worktrees/tree/commondir"), "../..\n"),
                       (os.path.join(app, ".git/worktrees/tree/HEAD"), "ref: refs/heads/feature/x\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    place.ok("push", "--to", "repo:github.com/owner/app@feature/x", "for the branch")
    place.ok("push", "--to", "repo:github.com/owner/other", "for another")
    place.opened("main", cwd=app)
    assert collect(place, "main") == {"notifications": 0, "messages": 0}
    place.opened("branch", cwd=os.path.join(tree, "deep"))
    assert collect(place, "branch") == {"notifications": 1, "messages": 0}
    place.ok("push", "--to", "repo:github.com/OWNER/App@main", "to main")
    assert place.messages("main") == ["to main"] and place.messages("branch") == ["for the branch"]
    git(place, app, "https://github.com/owner/moved.git", "main")
    place.ok("push", "--to", "repo:github.com/owner/app@main", "it has moved")
    assert boxes(place) == {"repo:github.com/owner/app@main": (1, 0), "repo:github.com/owner/other": (1, 0)}


def test_moved_repository(place):
    """a notification for a repository's new address waits until the checkout has that address; the old address still reaches it"""
    git(place, place.work, "git@github.com:octocat/Hello.git", "main")
    place.opened()
    assert "waits in repo:github.com/octocat/hello-world@main" in place.ok("push", "--to", "repo:https://github.com/octocat/Hello-World@main", "checks failed").said
    place.ok("push", "--to", "repo:https://github.com/octocat/Hello", "The repository is now octocat/Hello-World.")
    assert place.messages("s") == ["The repository is now octocat/Hello-World."]
    assert boxes(place)["repo:github.com/octocat/hello-world@main"] == (1, 0)
    git(place, place.work, "git@github.com:octocat/Hello-World.git", "main")
    assert collect(place, "s")["notifications"] == 1
    assert place.messages("s") == ["The repository is now octocat/Hello-World.", "checks failed"]


def test_explain(place):
    """explain follows a notification and a message through the box to the session"""
    place.ok("push", "--to", "box:ci", "x")
    place.ok("submit", "--to", "box:ci", "--id", "m1", "y")
    [item] = place.pending("box:ci")
    place.opened("s")
    place.ok("push", "-s", "s", "--level", "error", "has the first number of s")
    place.ok("box", "join", "ci", "-s", "s")
    text = place.ok("explain", "-s", "box:ci", item["id"]).text
    assert "another session took it over" in text and "In session s: " in text and "It is pending" in text, text
    assert place.ok("explain", "-s", "box:ci", str(int(item["id"]) & 0xffffffff)).text == text
    text = place.ok("explain", "-s", "box:ci", "--message", "m1").text
    assert "In session s: " in text and "asked to start a turn" in text, text
    assert place.ok("explain", "-s", "box:ci", "--json", item["id"]).json["moved_to"] == "s"


def test_living_owner(place):
    """notifications of a session with a running host are not collected, and stay there"""
    host = place.start(command=["sleep", "1000"])
    place.opened("busy", owner=host.pid)
    place.ok("push", "-s", "busy", "x")
    place.opened("s")
    result = place.run("event", stdin=json.dumps({"type": "session.collected", "session": "s", "data": {"from": ["busy"]}}))
    assert result.code == 1 and "owned by a running host" in result.said, result
    assert place.messages("busy") == ["x"] and place.messages("s") == []


def test_full(place):
    """a session that is nearly full collects as much as it has room for; the rest waits, and nothing is lost or there twice"""
    config = os.path.join(place.dir, "small.json")
    with open(config, "w", encoding="ascii") as file:
        json.dump({"limits": {"pending_per_session": 20}}, file)
    for number in range(19):
        place.ok("push", "--to", "box:ci", "--config", config, str(number))
    full = place.refused("push", "--to", "box:ci", "--config", config, "one too many", says="pending_per_session")
    assert "box:ci" in full.said, full
    place.opened("s")
    for number in range(15):
        place.ok("push", "-s", "s", "--config", config, f"own {number}")
    place.ok("box", "join", "ci", "-s", "s", "--config", config)
    assert len(place.messages("s")) == 19 and boxes(place) == {"box:ci": (15, 0)}
    moved = [text for text in place.messages("s") if not text.startswith("own")]
    assert sorted(moved + place.messages("box:ci"), key=int) == [str(number) for number in range(19)]


def test_run_without_session(place):
    """without a session, run runs the command, says who is notified, and notifies the folder"""
    result = place.run("run", "--", "sh", "-c", "echo out; exit 3")
    assert result.code == 3 and "no running session works here" in result.said and f"folder:{place.work}" in result.said, result
    place.opened("s")
    assert collect(place, "s")["notifications"] == 1
    [text] = place.messages("s")
    assert "failed with exit code 3" in text, text
    place.ok("run", "--to", "folder:.", "--", "true")
    assert len(place.messages("s")) == 2 and boxes(place) == {}


def test_wrong(place):
    """a wrong address is refused, the error says what was expected, and nothing is stored"""
    wrong = [(["--to", "ci"], "'ci' is no address; expected session:ID, folder:PATH, box:NAME or repo:HOST/OWNER/NAME[@BRANCH]"),
             (["--to", "repo:github.com/x"], "is not HOST/OWNER/NAME"), (["--to", "folder:"], "expected a path"),
             (["--to", "box:a", "-s", "s"], "--to and --session exclude each other"), (["--to", "box:" + "x" * 252], "256 bytes; expected at most 255")]
    for words, says in wrong:
        place.refused("push", *words, "x", code=2, says=says)
    place.refused("push", "--to", "session:nobody", "x", says="the store has no session 'nobody'")
    place.refused("box", "join", "folder:/", "-s", "s", code=2, says="only a box:NAME can be joined")
    place.refused("box", "leave", "folder:/x", code=2, says="only a box:NAME can be left")
    place.refused("box", "show", "session:s", code=2, says="is a session; expected a mailbox")
    place.refused("box", "eat", code=2, says="not one of list, show, drop, join, leave, collect")
    assert boxes(place) == {}


def test_killed(place):
    """a hand-over that is killed at any moment leaves each notification in exactly one place"""
    rounds = int(os.environ.get("TIDINGS_BOX_KILLS", "12"))
    random.seed(7)
    place.opened("s")
    sent = 0
    for _ in range(rounds):
        for _ in range(3):
            place.ok("push", "--to", "folder:/elsewhere", "--id", str(sent), str(sent))
            sent += 1
        event = json.dumps({"type": "session.collected", "session": "s", "data": {"from": ["folder:/elsewhere"]}})
        mover = subprocess.Popen([TIDINGS, "event"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place.work, env=place.env)
        mover.stdin.write(event.encode())
        mover.stdin.close()
        time.sleep(random.random() * 0.03)  # any moment will do
        mover.send_signal(signal.SIGKILL)
        mover.wait()
        place.run("push", "--to", "folder:/elsewhere", "--id", str(random.randrange(sent)), "again")
    there, here = place.messages("s"), place.messages("folder:/elsewhere")
    assert sorted(there + here, key=int) == [str(number) for number in range(sent)], (there, here)
    print(f"# {rounds} kills: {len(there)} moved, {len(here)} not yet, lost 0, twice 0")


def each_step(place, command, prepare, look):
    """Runs a command again and again, and kills it one step later each time, until it completes. Returns the number of kills."""
    for number in range(1, 5000):
        words, stdin = command(number), prepare(number)
        done = subprocess.run([TIDINGS, *words], env={**place.env, "LD_PRELOAD": os.environ["TIDINGS_CLI_KILL_AT"], "KILL_AT": str(number)}, cwd=place.work,
                              input=stdin, capture_output=True, timeout=DEADLINE_S, check=False)
        look(number)
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0, done
            return number - 1
    raise AssertionError("it has no end")


def test_killed_at_each_step(place):
    """a hand-over that is killed before each of its steps, by a session that collects and by a sender that forwards, leaves everything in exactly one place"""
    if "TIDINGS_CLI_KILL_AT" not in os.environ:
        raise Skip("a library cannot be preloaded under this sanitizer")
    passes = int(os.environ.get("TIDINGS_BOX_STEPS", "1"))
    place.opened("s")
    sent, kills = [], 0

    def wait_in_box(number):
        for kind in ("a", "b"):
            sent.append(f"{kind}{len(sent)}")
            place.ok("push", "--to", "box:steps", "--id", sent[-1], sent[-1])
        place.ok("submit", "--to", "box:steps", "--id", f"m{len(sent)}", str(number))
        return json.dumps({"type": "session.collected", "session": "s", "data": {"from": ["box:steps"]}}).encode()

    def send(number):
        sent.append(f"c{len(sent)}")
        return ["push", "--to", f"folder:{place.work}", "--id", sent[-1], sent[-1]]

    def repeat(_):
        place.ok("push", "--to", f"folder:{place.work}", "--id", sent[-1], sent[-1])
        assert place.messages("s").count(sent[-1]) == 1, sent[-1]

    for _ in range(passes):
        kills += each_step(place, lambda _: ["event"], wait_in_box, lambda _: place.ok("push", "--to", "box:steps", "--id", sent[-1], "again"))
        kills += each_step(place, send, lambda _: b"", repeat)
    there, here = place.messages("s"), place.messages("box:steps")
    assert sorted(there + here) == sorted(sent), (len(there), len(here), len(sent))
    queued = [row["id"] for session in ("s", "box:steps") for row in place.ok("queue", "-s", session, "--json").json["messages"]]
    assert len(queued) == len(set(queued)) == sum(name.startswith("b") for name in sent), (len(queued), len(sent))
    print(f"# {kills} kills, each before another step: {len(there)} moved, {len(here)} not yet, lost 0, twice 0")


if __name__ == "__main__":
    sys.exit(main(globals()))
