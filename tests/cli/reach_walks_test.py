#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types the walks of docs/reach.md and checks that their results are as the page says."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

from kit import DEADLINE_S, Skip, end, main, until
from listen_kit import Server, signed

SOURCE = os.environ["TIDINGS_SOURCE_DIR"]
BESIDE = os.path.dirname(os.environ["TIDINGS_CLI"])


def walk(title, number=0):
    """Returns the block with this number below the heading."""
    with open(os.path.join(SOURCE, "docs", "reach.md"), encoding="utf-8") as file:
        section = file.read().split(f"# {title}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^```\n(.*?)^```", section, re.M | re.S)[number]


def fake(place, name, script):
    path = os.path.join(place.dir, "bin", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


def typed(place, text, env=None):
    """Runs the text in a shell."""
    path = ":".join([os.path.join(place.dir, "bin"), BESIDE, place.env["PATH"]])
    done = subprocess.run(["bash", "-e"], input=text.encode(), cwd=place.work, env={**place.env, "PATH": path, **(env or {})}, capture_output=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, (text, done)
    return done.stdout.decode()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listening(place, text):
    """Types a walk that starts `tidings listen`, at a free port instead of the page's. Returns the server."""
    if not shutil.which("openssl"):
        raise Skip("there is no openssl")
    port = free_port()
    text = text.replace("8787", str(port)).replace("tidings listen &\n", "")
    typed(place, text)
    process = place.start("listen", "--bind", f"127.0.0.1:{port}")
    assert f":{port};" in process.stdout.readline().decode()
    return Server(place, process, f"http://127.0.0.1:{port}")


def secret(place, name):
    with open(os.path.join(place.dir, ".config", "tidings", name), encoding="ascii") as file:
        return file.read().strip()


def test_pull_request(place):
    """checks on a pull request, through a tunnel: the session on the branch gets the failure"""
    subprocess.run(["git", "init", "-q", "-b", "fix", place.work], check=True)
    subprocess.run(["git", "-C", place.work, "remote", "add", "origin", "https://github.com/octo/hello.git"], check=True)
    place.opened("worker")
    fake(place, "cloudflared", 'echo "$@" >tunnel')
    server = listening(place, walk("Checks on a pull request, through a tunnel"))
    with open(os.path.join(place.work, "tunnel"), encoding="ascii") as file:
        assert server.address in file.read()
    run = {"name": "CI", "workflow_id": 7, "conclusion": "failure", "head_branch": "fix", "head_sha": "c0ffee", "html_url": "https://github.com/octo/hello/actions/runs/1",
           "head_repository": {"full_name": "octo/hello", "html_url": "https://github.com/octo/hello"}}
    body = json.dumps({"action": "completed", "workflow_run": run, "repository": {"html_url": "https://github.com/octo/hello"}}).encode()
    headers = {"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": "d1", "Host": "hooks.example.org", **signed("github", body, secret(place, "github.secret"))}
    assert server.post("/hooks/github", body, headers, scheme=None)[2]["accepted"] == 1
    until(lambda: place.messages("worker") == ["Workflow `CI` failed (failure) on `fix` at c0ffee: https://github.com/octo/hello/actions/runs/1"], "the session has it")


def test_alertmanager(place):
    """Alertmanager: a critical alert wakes the idle session that has joined the box"""
    place.opened("ops")
    server = listening(place, walk("Prometheus Alertmanager"))
    waiter = place.start("wait", "-s", "ops", "--owner", str(os.getpid()))
    alert = {"status": "firing", "fingerprint": "f", "startsAt": "t", "labels": {"alertname": "Disk", "severity": "critical"}, "annotations": {"summary": "The disk is full."}}
    assert server.post("/hooks/alerts", {"version": "4", "alerts": [alert]}, secret=secret(place, "alerts.secret"))[0] == 200
    out, _ = waiter.communicate(timeout=DEADLINE_S)
    assert waiter.returncode == 0 and out.decode().startswith("start_turn tidings:") and "The disk is full." in place.ok("deliver", "-s", "ops", "--at", "tool-result", "--owner",
                                                                                                                         str(os.getpid()), stdin="").text, out
    assert end(server.process, signal.SIGTERM) == 0


def test_cron(place):
    """a cron job: its failure waits in the box for the agent that joins it later"""
    with open(os.path.join(place.work, "backup.sh"), "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho no space left\nexit 3\n")
    os.chmod(os.path.join(place.work, "backup.sh"), 0o755)
    typed(place, walk("A cron job").replace("./backup.sh", "./backup.sh || true"))
    [item] = place.pending("box:nightly")
    assert "no space left" in item["message"] and "3" in item["message"], item
    place.opened("later")
    typed(place, "tidings box join nightly\n")
    assert [item["message"] for item in place.pending("later")] == [item["message"]] and not place.pending("box:nightly")


def test_journal(place):
    """the journal: the agent of the folder gets the failure"""
    fake(place, "journalctl", """echo '{"_SYSTEMD_UNIT":"web.service","PRIORITY":"3","MESSAGE":"it broke","__CURSOR":"c"}'""")
    place.opened("here")
    typed(place, walk("Lines of another program"))
    assert place.messages("here") == ["web.service: it broke"]


def test_agents(place):
    """an agent writes to another one, whose session it found in the list"""
    place.opened("mine")
    folder = os.path.join(place.dir, "elsewhere")
    os.mkdir(folder)
    place.opened("other", cwd=folder)
    assert "other" in typed(place, walk("One agent writes to another"))
    assert place.messages("other") == ["The schema has changed; see db/schema.sql."] and not place.pending("mine")


if __name__ == "__main__":
    sys.exit(main(globals()))
