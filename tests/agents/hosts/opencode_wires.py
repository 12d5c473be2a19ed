# SPDX-License-Identifier: MIT
"""opencode_wires.py: tests events of the real opencode: subagents, MCP servers, retries, limits, permissions, compaction in a turn, reverts and forks."""
import os
import signal
import threading

from node_hosts import times, until
from node_scenarios import TITLE, Script, exactly_once, never, pending, push, status, wait_for_file
from terminal import Terminal


def of_prompt(opencode, text):
    """Returns the model's requests with tools whose conversation has a prompt with this text."""
    return [request for request in opencode.model.requests if request["tools"] and any(item["role"] == "user" and text in item["text"] for item in request["items"])]


def task(words, **more):
    return {"call": "task", "arguments": {"description": "A part", "prompt": words, "subagent_type": "general", **more}}


def subagent_ends(opencode):
    """a subagent's end is a notification for its parent, with its last words; the subagent gets none of the parent's"""
    opencode.begin()
    script = Script(opencode, "Hand it on.", [task("A small part of it.")], [{"text": "All done."}])
    inner = {"prompt": "A small part of it.", "answers": [[opencode.shell("echo one")], [{"text": "These are my last words."}]]}
    opencode.model.replace([*opencode.model.script.rules, inner])
    opencode.prompt("Hand it on.")
    until(lambda: of_prompt(opencode, "A small part of it."), "the subagent works")
    push(opencode, "For the parent alone.", "-l", "error")
    opencode.settled()
    last = script.last(2)
    exactly_once(last, "[Subagent 'general ses_")
    exactly_once(last, "finished]\n  These are my last words.")
    exactly_once(last, "For the parent alone.")
    for request in of_prompt(opencode, "A small part of it."):
        never(request, "For the parent alone.")
        never(request, "[Subagent")


def subagent_in_the_background(opencode):
    """a subagent that works in the background has a handle, and a notification with that handle reports its end"""
    opencode.begin()
    go = opencode.place.project / "background-go"
    script = Script(opencode, "Start it aside.", [task("A part aside.", background=True)], [{"text": "It is started."}])
    inner = {"prompt": "A part aside.", "answers": [[opencode.shell(wait_for_file(go))], [{"text": "The part aside is done."}]]}
    opencode.model.replace([inner, *opencode.model.script.rules, {"text": "Background task completed", "prompt": "<task id=", "answers": [[{"text": "Good."}]]}])
    opencode.prompt("Start it aside.")
    script.last(2)
    until(lambda: status(opencode)["state"] == "idle", "the turn has ended")
    go.touch()
    reads = lambda: [request for request in script.requests if "Tool `task` (handle `ses_" in request["text"]]
    until(lambda: reads() or "Tool `task` (handle `ses_" in opencode.place.tidings("pending", "-s", opencode.session), "its end is known")
    opencode.settled()
    opencode.prompt("Start it aside. And now?")
    opencode.settled()
    exactly_once(script.requests[-1], "has stopped")
    never(script.requests[-1], "[Subagent")


def mcp_server(opencode):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                is_server = b"mcp_server.py" in file.read()
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if is_server and parent == opencode.server.pid:
            return int(pid)
    return None


def mcp_server_goes_and_comes(opencode):
    """the loss of an MCP server is a notification, and so is its return"""
    opencode.begin()
    script = Script(opencode, "Any notes?")
    opencode.prompt("Any notes?")
    opencode.settled()
    os.kill(mcp_server(opencode), signal.SIGKILL)
    until(lambda: "MCP server `notes` has disconnected." in opencode.place.tidings("pending", "-s", opencode.session), "the loss is pending")
    opencode.prompt("Any notes? Now?")
    opencode.settled()
    exactly_once(script.last(2), "MCP server `notes` has disconnected.")
    opencode.ask("POST", "/mcp/notes/connect")
    opencode.prompt("Any notes? Again?")
    opencode.settled()
    exactly_once(script.last(3), "MCP server `notes` has reconnected.")


def retried(opencode):
    """while opencode waits to try again the session is retrying, and a limit of the provider's is a notification"""
    opencode.begin()
    limited = {"status": 429, "until": "limit", "message": "Rate limit exceeded", "headers": {"retry-after": "3"}}
    script = Script(opencode, "Ask too often.", [limited, {"text": "At last "}, opencode.shell("true")], [{"text": "It worked."}])
    opencode.prompt("Ask too often.")
    until(lambda: status(opencode)["state"] == "retrying", lambda: f"the session is retrying: {status(opencode)}")
    assert status(opencode)["attempt"] == 1, status(opencode)
    opencode.model.release("limit")
    opencode.settled()
    exactly_once(script.requests[-1], "Rate limited; retry after 3 s.")


def permission(opencode):
    """while a person is asked for a permission the session waits; afterwards the turn goes on"""
    opencode.begin()
    script = Script(opencode, "Dare it.", [opencode.shell("true asked")], [{"text": "Dared."}])
    opencode.prompt("Dare it.")
    until(lambda: status(opencode)["state"] == "waiting", lambda: f"the session waits: {status(opencode)}")
    asked = [one for one in opencode.ask("GET", "/permission") if one["sessionID"] == opencode.session]
    opencode.ask("POST", f"/permission/{asked[0]['id']}/reply", {"reply": "once"})
    script.last(2)
    opencode.settled()


def compacted_in_a_turn(opencode):
    """when opencode compacts in a turn, a notification that only the summarizer has read is pending again, and the queued message is the next turn, once"""
    opencode.begin()
    go = opencode.place.root / "compact-go"
    script = Script(opencode, "A tale to compact.", [opencode.shell("echo a first")],
                    [{"tokens": 99500}, opencode.shell(f"{wait_for_file(go)}; echo a second")], [{"text": "Told."}])
    summary = {"name": "summary", "tools": False, "text": "Create a new anchored summary", "answers": [[{"text": "So far so good."}]]}
    goes_on = {"name": "goes on", "prompt": "Continue if you have next steps", "answers": [[opencode.shell("echo a third")], [{"text": "Told."}]]}
    opencode.model.replace([summary, *opencode.model.script.rules, goes_on])
    opencode.prompt("A tale to compact.")
    script.last(2)
    until(lambda: status(opencode).get("phase") == "tools", "the second tool runs")
    push(opencode, "On the last result.", "-l", "warning")
    opencode.place.tidings("submit", "-s", opencode.session, "Then deploy: see the notifications in this message.")
    go.touch()
    opencode.settled()
    deploys = lambda: [request for request in opencode.model.requests if request["rule"] == "system turn" and "Then deploy" in request["items"][-1]["text"]]
    last = until(lambda: deploys() and deploys()[-1], "the message is the next turn")
    opencode.settled()
    exactly_once(last, "On the last result.")
    exactly_once(last, "Then deploy")


def during_compaction(opencode):
    """a message or a critical notification that comes while opencode compacts starts a turn afterwards"""
    opencode.begin()
    for number, (words, *push_or_submit) in enumerate((("Then deploy it.", "submit"), ("The disk is full.", "push", "-l", "critical", "-k", "disk.full"))):
        script = Script(opencode, "A tale to tell.", [{"text": "I see."}])
        summary = {"name": "summary", "tools": False, "text": "Do not mention the summary process", "answers": [[{"text": "So far "}, {"hold": words}]]}
        opencode.model.replace([summary, *opencode.model.script.rules])
        opencode.prompt(f"A tale to tell. {number}")
        opencode.settled()
        before = len(opencode.model.requests)
        asked = threading.Thread(target=opencode.ask, args=("POST", f"/session/{opencode.session}/summarize", {"providerID": "fake", "modelID": "fake-1"}))
        asked.start()
        until(lambda: [one for one in opencode.model.requests[before:] if one["rule"] == "summary"], "opencode asks for a summary")
        opencode.place.tidings(push_or_submit[0], "-s", opencode.session, *push_or_submit[1:], words)
        opencode.model.release(words)
        asked.join()
        until(lambda: [one for one in opencode.model.requests[before:] if one["tools"] and words in one["text"]], "the turn's request")
        opencode.settled()
        assert pending(opencode) == 0 and not status(opencode).get("queued"), status(opencode)


def reverted(opencode):
    """a notification on a prompt that a person has reverted is on the next prompt again"""
    opencode.begin()
    script = Script(opencode, "A question.")
    opencode.prompt("A question.")
    opencode.settled()
    push(opencode, "On the prompt that goes.", "-l", "error")
    opencode.prompt("A question. Another.")
    opencode.settled()
    exactly_once(script.last(2), "On the prompt that goes.")
    asked = [message["info"]["id"] for message in opencode.messages() if message["info"]["role"] == "user"]
    opencode.ask("POST", f"/session/{opencode.session}/revert", {"messageID": asked[-1]})
    opencode.prompt("A question. A third.")
    opencode.settled()
    exactly_once(script.last(3), "On the prompt that goes.")
    never(script.last(3), "Another.")


def forked(opencode):
    """a fork begins with the notifications that were pending, does not get those in its transcript again, and the parent keeps its own"""
    opencode.begin()
    push(opencode, "Long before the fork.", "-l", "info")
    script = Script(opencode, "Fork here.")
    opencode.prompt("Fork here.")
    opencode.settled()
    exactly_once(script.last(1), "Long before the fork.")
    parent = opencode.session
    push(opencode, "Right before the fork.", "-l", "info")
    opencode.session = opencode.ask("POST", f"/session/{parent}/fork", {})["id"]
    opencode.prompt("Fork here. In the child.")
    opencode.settled()
    exactly_once(script.last(2), "Right before the fork.")
    exactly_once(script.last(2), "Long before the fork.")
    opencode.session = parent
    assert pending(opencode) == 1, status(opencode)
    opencode.prompt("Fork here. In the first.")
    opencode.settled()
    exactly_once(script.last(3), "Right before the fork.")
    assert times(script.last(3), "In the child.") == 0


def new_in_a_window(opencode):
    """after /new the session that follows in the same window gets the pending notifications of the earlier one, and the end of a command that was started there, once"""
    place, model, go = opencode.place, opencode.model, opencode.place.root / "wren-go"
    model.replace([TITLE, *({"prompt": f"Wren {number}", "answers": [[{"text": f"{answer}."}]]} for number, answer in (("one", "Alpha"), ("two", "Beta"), ("three", "Gamma")))])
    asked = lambda prompt: [request for request in model.requests if request["tools"] and prompt in request["text"]]
    known = lambda: {session["session"] for session in place.ask("sessions")["sessions"]}
    before = known() if (place.home / "state" / "tidings").exists() else set()
    terminal = Terminal(place.root.name, [opencode.program], place.project, place.env)
    try:
        terminal.shows("Ask anything")
        terminal.type("Wren one: hello.", lambda: asked("Wren one"))
        terminal.shows("Alpha.")
        former = until(lambda: next(iter(known() - before), None), "tidings knows the session")
        until(lambda: place.ask("status", "-s", former)["state"] == "idle", "its turn is over")
        place.tidings("run", "--detach", "-s", former, "--name", "wrens", "--", "sh", "-c", f"{wait_for_file(go)}; exit 3")
        place.tidings("push", "-s", former, "The wren sings.")
        terminal.put("/new", lambda: "New session" in terminal.screen())
        terminal.press("Enter", wanted=lambda: "Ask anything" in terminal.screen(), what="the window is empty")
        terminal.type("Wren two: go on.", lambda: asked("Wren two"))
        exactly_once(asked("Wren two")[0], "The wren sings.")
        terminal.shows("Beta.")
        opencode.session = next(iter(known() - before - {former}))
        go.touch()
        until(lambda: pending(opencode), lambda: f"the end of the command is reported to the session that follows: {place.complaints()}")
        place.tidings("push", "-s", former, "The wren flies.")
        until(lambda: status(opencode)["state"] == "idle", "its turn is over")
        terminal.type("Wren three: and now?", lambda: asked("Wren three"))
        for words in ("failed with exit code 3", "The wren flies.", "The wren sings."):
            exactly_once(asked("Wren three")[0], words)
        terminal.shows("Gamma.")
    finally:
        terminal.close()


ALL = [subagent_ends, subagent_in_the_background, mcp_server_goes_and_comes, retried, permission, compacted_in_a_turn, during_compaction, reverted, forked, new_in_a_window]
