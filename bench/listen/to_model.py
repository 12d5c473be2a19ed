# SPDX-License-Identifier: MIT
"""Measures the time from the sender's 200 until the model has the notification, in a host that makes one tool result after the other."""
import http.client
import json
import os
import re
import sys
import threading
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PER_SECOND, TOOL_PAUSE_S, DEADLINE_S = 20, 0.005, 60


class Agent(threading.Thread):
    """A session that works in `folder`. Its delays run until the delivery is settled."""

    def __init__(self, build, store, folder):
        super().__init__(daemon=True)
        sys.path.insert(0, os.path.join(SOURCE, "bindings", "python"))
        from tidings import Tidings  # pylint: disable=import-outside-toplevel,import-error
        os.environ.setdefault("TIDINGS_HOSTKIT_PROBE", os.path.join(build, "tidings-hostkit-probe"))
        self.kit = Tidings.open(library=os.path.join(build, "libtidings-hostkit.so.1"), plugin=os.path.join(build, "tidings.so"), store=store)
        self.kit.event("session.opened", "bench", {"host": "bench", "cwd": folder})
        self.kit.event("turn.started", "bench")
        self.seen, self.ending = {}, threading.Event()

    def run(self):
        number = 0
        while not self.ending.is_set():
            number += 1
            delivery = self.kit.tool_result("bench", "ok", call_id=f"call{number}", tool="bash")
            self.kit.settle(delivery.id, committed=True)
            now = time.monotonic()
            for found in re.findall(r"Event (\d+)\.", " ".join(part.text for part in delivery.outgoing)):
                self.seen.setdefault(int(found), now)
            self.ending.wait(TOOL_PAUSE_S)


def send(port, path, token, seconds):
    """Returns when each event was answered."""
    answered = {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    begun = time.monotonic()
    for number in range(int(seconds * PER_SECOND)):
        time.sleep(max(0.0, begun + number / PER_SECOND - time.monotonic()))
        connection.request("POST", path, json.dumps({"message": f"Event {number}."}), {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        answered[number] = time.monotonic()
    connection.close()
    return answered


def measure(agent, port, path, token, seconds):
    """Returns the delays in ms, sorted. A delay is 0 if the model has the event before the sender has its answer."""
    agent.start()
    answered = send(port, path, token, seconds)
    end = time.monotonic() + DEADLINE_S
    while len(agent.seen) < len(answered) and time.monotonic() < end:
        time.sleep(TOOL_PAUSE_S)
    agent.ending.set()
    agent.join()
    agent.kit.close()
    assert set(agent.seen) == set(answered), "what was answered with 200 has not reached the model"
    return sorted(max(0.0, agent.seen[number] - at) * 1000 for number, at in answered.items())
