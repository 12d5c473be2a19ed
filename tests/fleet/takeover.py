# SPDX-License-Identifier: MIT
"""takeover.py: stops a host, lets another one take over its session, and continues the first one: its settle and its hooks must return CLOSED, and
nothing may be shown twice in one transcript. If this user may make PID namespaces, each host has one, so that they look like hosts on two machines.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position


def ask(host, op, **members):
    """Makes a call in the process of a host, and returns the answer."""
    import json
    host.stdin.write(json.dumps({"op": op, **members}) + "\n")
    host.stdin.flush()
    return json.loads(host.stdout.readline())


def start(url, apart):
    command = [*(apart or ()), sys.executable, os.path.join(os.path.dirname(__file__), "asked.py"), url]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def hook(host, number, session="s"):
    return ask(host, "tool_result", session=session, call_id=f"c{number}", tool="shell", content="done")


def stop_all(host, how):
    """Sends the signal to the children first, because they would end with their parent."""
    for pid in [*map(int, subprocess.run(["pgrep", "-P", str(host.pid)], capture_output=True, text=True, check=False).stdout.split()), host.pid]:
        os.kill(pid, how)


def case(url, apart, failures):
    def expect(good, what):
        print(f"{'ok' if good else 'not ok'} - {what}{' (two machines)' if apart else ''}")
        failures.extend([] if good else [what])

    first, second = start(url, apart), start(url, apart)
    expect("reply" in ask(first, "event", event={"type": "session.opened", "session": "s", "data": {}}), "the first host opens")
    kit.tidings("push", "-S", url, "-s", "s", "alpha")
    kit.tidings("push", "-S", url, "-s", "s", "beta")
    shown = hook(first, 1)
    expect("alpha" in shown.get("content", "") and "beta" in shown.get("content", ""), "the first host shows both")
    ask(first, "event", event={"type": "session.opened", "session": "quiet", "data": {}})
    for number in (10, 11):
        expect("error" not in hook(first, number, "quiet"), "the first host has a second session, which is quiet")
    refused = ask(second, "event", event={"type": "session.resumed", "session": "s", "data": {"deliveries": []}})
    expect(refused.get("error", {}).get("code") == "TIDINGS_E_OWNED", f"the second is refused while the first lives: {refused}")
    stop_all(first, signal.SIGSTOP)
    taken = ask(second, "event", event={"type": "session.resumed", "session": "s", "data": {"deliveries": [], "takeover": True}})
    expect("reply" in taken, f"the second takes over: {taken}")
    ask(second, "event", event={"type": "session.resumed", "session": "quiet", "data": {"deliveries": [], "takeover": True}})
    again = hook(second, 2)
    expect("alpha" in again.get("content", "") and "beta" in again.get("content", ""), "what was not settled is shown by the second, once")
    stop_all(first, signal.SIGCONT)
    late = ask(first, "settle", delivery=shown["reply"]["delivery"], outcome="committed")
    expect(late.get("error", {}).get("code") == "TIDINGS_E_CLOSED", f"the first's settle is CLOSED: {late}")
    closed = hook(first, 3)
    expect(closed.get("error", {}).get("code") == "TIDINGS_E_CLOSED", f"the first's hook is CLOSED: {closed}")
    closed = hook(first, 12, "quiet")
    expect(closed.get("error", {}).get("code") == "TIDINGS_E_CLOSED", f"so is its hook in the quiet session: {closed}")
    expect("error" not in ask(second, "settle", delivery=again["reply"]["delivery"], outcome="committed"), "the second settles")
    quiet = hook(second, 4)
    expect("alpha" not in quiet.get("content", "") and "beta" not in quiet.get("content", ""), "nothing is shown twice")
    kit.tidings("push", "-S", url, "-s", "s", "three")
    stop_all(second, signal.SIGKILL)
    second.wait(120)
    deadline = time.monotonic() + 120
    third = start(url, apart)
    while "error" in (answer := ask(third, "event", event={"type": "session.resumed", "session": "s", "data": {"deliveries": []}})):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    expect("error" not in answer, f"a killed host's session goes to another: {answer}")
    expect("three" in hook(third, 5).get("content", ""), "with what was pushed")
    for host in (first, third):
        host.kill()
        host.wait(120)


def opened_once(url, failures):
    """A process is one host: it can open a store only once, even with another copy of the plugin."""
    def again(plugin):
        kit.PLUGIN, first = plugin, kit.PLUGIN
        try:
            kit.Kit(url).close()
            return "opened"
        except kit.Failed as failed:
            return str(failed)
        finally:
            kit.PLUGIN = first

    def expect(good, what):
        print(f"{'ok' if good else 'not ok'} - {what}")
        failures.extend([] if good else [what])

    with tempfile.TemporaryDirectory() as folder:
        for name in ("tidings.so", "tidings-postgres.so"):
            shutil.copy(os.path.join(kit.BUILD, name), folder)
        plugins = {"the plugin": kit.PLUGIN, "a copy of it": os.path.join(folder, "tidings.so")}
        open_one = kit.Kit(url)
        for name, plugin in plugins.items():
            expect("already open in this process" in (answer := again(plugin)), f"{name} does not open the store once more: {answer}")
        open_one.close()
        for name, plugin in plugins.items():
            expect((answer := again(plugin)) == "opened", f"{name} opens it when it was closed: {answer}")


def main():
    failures = []
    with kit.Server() as server:
        opened_once(kit.make_store(server, "once"), failures)
        case(kit.make_store(server, "near"), None, failures)
        apart = kit.apart()
        if apart:
            case(kit.make_store(server, "far"), apart, failures)
        print(f"# sum: takeover, {'as on two machines too' if apart else 'on one machine (no PID namespaces here)'}: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
