#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Types the walks of docs/mcp.md with `tidings subscribe`, and checks that their results are as the page says."""
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import listen_kit  # pylint: disable=wrong-import-position
from kit import DEADLINE_S, TIDINGS, Skip, end, main, until  # pylint: disable=wrong-import-position
from reach_walks_test import free_port, typed  # pylint: disable=wrong-import-position

from events_kit import EVENT, Events, numbers  # pylint: disable=wrong-import-position


def walk(title, number=0):
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "mcp.md"), encoding="utf-8") as file:
        section = file.read().split(f"### {title}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^```\n(.*?)^```", section, re.M | re.S)[number]


def ticks(place):
    return [int(number) for number in re.findall(r"tick number (\d+)", typed(place, walk("A walk", 1)))]


def start(place, command):
    """Starts the line of a walk that ends with & as a process of the test. The page's paths are those of a clone."""
    path, command = os.path.dirname(TIDINGS), command.replace("docs/examples", os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "examples"))
    return place.start(command=["bash", "-c", f"exec {command}"], env={**place.env, "PATH": f"{path}:{place.env['PATH']}"})


def test_clock(place):
    """events of a server of a few lines wait in the box, and after a restart none is missing or there twice"""
    [line] = walk("A walk").splitlines()
    assert line.endswith(" &")
    process = start(place, line.removesuffix(" &"))
    until(lambda: os.path.exists(os.path.join(place.dir, "state", "tidings", "data.mdb")), "the first push makes the store")
    until(lambda: len(ticks(place)) >= 2, "two ticks")
    end(process, signal.SIGKILL)
    before = len(ticks(place))
    process = start(place, line.removesuffix(" &"))
    until(lambda: len(ticks(place)) > before + 1, "more of them")
    end(process)
    seen = sorted(ticks(place))
    assert seen == list(range(2, 2 + len(seen))), seen


def test_webhook(place):
    """by webhook: the server gets the URL and the secret, and its events wait in the box"""
    if not shutil.which("openssl"):
        raise Skip("there is no openssl")
    events, port = Events(place, {"offers": ["webhook"], "token": "t"}), free_port()
    os.makedirs(os.path.join(place.dir, ".config", "tidings"))
    with open(os.path.join(place.dir, ".config", "tidings", "mcp.token"), "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("t\n")
    before, after = walk("By webhook").split("tidings listen &\n")
    typed(place, before)
    listening = place.start("listen", "--bind", f"127.0.0.1:{port}")
    assert f":{port};" in listening.stdout.readline().decode()
    url = f"http://127.0.0.1:{events.port}/mcp"
    process = start(place, after.replace("\\\n", " ").replace("https://mcp.example.org/mcp incident.created", f"{url} {EVENT}").strip())
    [row] = until(lambda: events.seen("events/subscribe"), "the subscription")
    assert row["delivery"]["url"] == "https://hooks.example.org/mcp"
    server = listen_kit.Server(place, listening, f"http://127.0.0.1:{port}")
    body = {"eventId": "evt-0", "name": EVENT, "data": {"message": "number 0."}}
    assert server.post("/mcp", body, {"Host": "hooks.example.org"}, scheme="standard", secret=row["delivery"]["secret"])[0] == 200
    assert numbers(place, "box:ops") == [0]
    assert end(process) == 128 + signal.SIGTERM and end(listening) == 0


def test_examples(place):
    """the examples are accepted as they stand"""
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "mcp.md"), encoding="utf-8") as file:
        section = file.read().split("## Events of MCP servers\n", 1)[1]
    block = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)[0]
    os.makedirs(os.path.join(place.dir, ".config", "tidings"))
    for line in block.splitlines():
        words = line.replace("https://mcp.example.org", "http://127.0.0.1:9").replace("127.0.0.1:8080", "127.0.0.1:9").replace("~/.config/tidings/mcp.token", "token")
        with open(os.path.join(place.work, "token"), "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("t\n")
        path = os.path.dirname(TIDINGS)
        done = subprocess.run(["bash", "-c", f"timeout 2 {words}"], cwd=place.work, env={**place.env, "PATH": f"{path}:{place.env['PATH']}"}, timeout=DEADLINE_S, check=False, capture_output=True)
        assert done.returncode == 124, (line, done)


if __name__ == "__main__":
    sys.exit(main(globals()))
