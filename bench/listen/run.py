#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how many webhooks a second `tidings listen` stores, beside libmicrohttpd alone (the most there can be) and Debian's `webhook`.

`./dev bench --listen [--rounds N] [--seconds N] [--connections N]` builds the release and runs this. The servers alternate. It prints medians and
ratios of all rounds, the machine's load, and the most memory that each server has used. Then it prints how long after its 200 an event is in the next
tool result of a session, alone and beside a sender with all the connections.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

import to_model

BUILD = os.environ.get("TIDINGS_BUILD_DIR", "build/release")
TOKEN = "a token of the bench"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def write(path, value):
    with open(path, "w", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(value if isinstance(value, str) else json.dumps(value))
    return path


def tidings(place):
    """Each round has a store of its own, on the disk of TMPDIR; each commit is flushed."""
    os.makedirs(f"{place}/home", exist_ok=True)
    write(f"{place}/token", TOKEN)
    config = write(f"{place}/config.json", {"limits": {"pending_per_session": 1000000}})
    routes = write(f"{place}/listen.json", {"listen": {"routes": [
        {"path": path, "recipe": "any", "secret_file": "token", "to": to} for path, to in (("/a", "box:bench"), ("/agent", f"folder:{place}"))]}})
    port = free_port()
    env = {"PATH": os.environ["PATH"], "HOME": f"{place}/home", "XDG_STATE_HOME": f"{place}/home"}
    return port, [f"{BUILD}/tidings-listen", "-c", routes, "--config", config, "--bind", f"127.0.0.1:{port}"], env, "listening on"


def floor(place):
    port = free_port()
    return port, [f"{BUILD}/bench-listen-floor", str(port)], {"HOME": place}, "ready"


def webhook(place):
    hooks = write(f"{place}/hooks.json", [{"id": "a", "execute-command": "/bin/true"}])
    port = free_port()
    return port, ["webhook", "-hooks", hooks, "-ip", "127.0.0.1", "-port", str(port), "-urlprefix", ""], {"PATH": os.environ["PATH"], "HOME": place}, None


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def memory(pid):
    """Returns the peak of the process's resident memory, and its memory without the pages of files."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        found = dict(re.findall(r"^(\w+):\s+(\d+) kB", file.read(), re.M))
    return int(found["VmHWM"]) / 1024, int(found["RssAnon"]) / 1024


def measure(kind, seconds, connections):
    with tempfile.TemporaryDirectory(prefix="tidings-bench-") as place:
        port, words, env, says = kind(place)
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE if says else subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                if says:
                    assert server.stdout.readline().startswith(says), words
                while not is_open(port):
                    assert server.poll() is None, words
                load = subprocess.run([f"{BUILD}/bench-listen-load", str(port), "/a", TOKEN, str(connections), str(seconds), "1"], stdout=subprocess.PIPE, check=True)
                result = json.loads(load.stdout)
                result["peak_mib"], result["own_mib"] = memory(server.pid)
            finally:
                server.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(20)
                if server.poll() is None:
                    server.kill()
        assert not result["wrong"], result
        return result


def print_to_model(seconds, connections):
    for beside in (0, connections):
        with tempfile.TemporaryDirectory(prefix="tidings-bench-") as place:
            port, words, env, says = tidings(place)
            with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
                load = None
                try:
                    assert server.stdout.readline().startswith(says), words
                    agent = to_model.Agent(BUILD, f"{place}/home/tidings", place)
                    if beside:
                        load = subprocess.Popen([f"{BUILD}/bench-listen-load", str(port), "/a", TOKEN, str(beside), str(seconds), "1"], stdout=subprocess.DEVNULL)
                    took = to_model.measure(agent, port, "/agent", TOKEN, seconds)
                finally:
                    for process in (load, server):
                        if process:
                            process.terminate()
                            process.wait(20)
        print(f"from 200 to the tool result, {len(took)} events, {to_model.PER_SECOND} a second, beside {beside} busy connections: "
              f"p50 {statistics.median(took):.1f} ms, p99 {took[int((len(took) - 1) * 0.99)]:.1f} ms, at most {took[-1]:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--to-model", type=float, default=20, help="seconds of each of the two last measurements")
    options = parser.parse_args()
    kinds = {"libmicrohttpd alone": floor, "tidings listen": tidings}
    if shutil.which("webhook"):
        kinds["webhook"] = webhook
    results, loads = {name: [] for name in kinds}, []
    for number in range(options.rounds):
        loads.append(os.getloadavg()[0])
        for name, kind in kinds.items():
            results[name].append(measure(kind, options.seconds, options.connections))
            print(f"round {number + 1}: {name}: {results[name][-1]}", file=sys.stderr)
    median = {name: {key: statistics.median(row[key] for row in rows) for key in rows[0]} for name, rows in results.items()}
    print(f"{options.connections} connections, {options.rounds} rounds of {options.seconds:g} s, {os.cpu_count()} processors, load before each {min(loads):.1f} to {max(loads):.1f}; medians:")
    print(f"{'server':22}{'requests/s':>12}{'best':>9}{'p50 ms':>9}{'p99 ms':>9}{'peak MiB':>10}{'own MiB':>9}{'of floor':>10}")
    for name, row in median.items():
        best = max(one["per_s"] for one in results[name])
        print(f"{name:22}{row['per_s']:12,.0f}{best:9,.0f}{row['p50_ms']:9.1f}{row['p99_ms']:9.1f}{row['peak_mib']:10.1f}{row['own_mib']:9.1f}{row['per_s'] / median['libmicrohttpd alone']['per_s']:10.2f}")
    if "webhook" in median:
        print(f"tidings listen takes {median['tidings listen']['per_s'] / median['webhook']['per_s']:.2f} times what webhook takes, which stores nothing")
    else:
        print("webhook is not installed: apt-get install webhook")
    print_to_model(options.to_model, options.connections)


if __name__ == "__main__":
    main()
