# SPDX-License-Identifier: MIT
"""wire_scenarios.py: scenarios of agents that call hooks, beside the turns: subagents, a person who is asked or who stops the agent, its configuration,
compaction, failing requests. They use agents only through hook_hosts.Agent.
"""
import contextlib
import html
import json
import os
import pathlib
import re
import signal

from hook_scenarios import Gate, count, never, nothing_pending, once, push, request, requests, rule, says, stops
from node_hosts import until
from terminal import Terminal


def state(agent):
    return agent.place.ask("status", "-s", agent.session)["state"]


def until_state(agent, wanted):
    until(lambda: state(agent) == wanted, lambda: f"the session is {wanted}: {agent.place.ask('status', '-s', agent.session)} {agent.complaints()}")


def pending(agent, words):
    return [item for item in agent.place.ask("pending", "-s", agent.session)["items"] if words in item["message"]]


def subagent_ends(agent):
    """a notification that comes while a subagent works is in none of its requests, but in the parent's next one, with the subagent's type, id and last words"""
    inner, outer = Gate(agent, "inner"), Gate(agent, "outer")
    meanwhile = [] if agent.awaits_subagents else [outer.tool]
    agent.model.replace([rule("Finch one", agent.delegate("Inner finch: work."), *meanwhile, {"text": "Well."}, {"text": "Very well."}),
                         rule("Inner finch", inner.tool, agent.shell("echo second"), agent.last_words("The nest is built. " + "x" * 600))])
    agent.start("Finch one: delegate.", agent.session)
    inner.wait()
    agent.attached()
    push(agent, "The finch sings.", "-k", "finch.sings")
    if meanwhile:
        outer.wait()
    inner.open()
    if meanwhile:
        until(lambda: pending(agent, "[Subagent '"), f"the subagent's end is reported: {agent.complaints()}")
        outer.open()
    agent.end()
    within = [other for other in requests(agent, "Inner finch: work.") if "Finch one" not in other["text"]]
    assert len(within) >= 2, len(within)
    for other in within:
        never(other, "The finch sings.")
    last = [other for other in requests(agent, "Finch one") if "[Subagent '" in html.unescape(other["text"])][0]
    once(last, "The finch sings.")
    once(last, "[Subagent '")
    slug, words = html.unescape(last["text"]).split("[Subagent '")[1].split("[tidings ")[0].split("' finished]", 1)
    kind, _, name = slug.partition(" ")
    assert kind in ("general-purpose", "default", "generalist") and (name or agent.awaits_subagents), slug
    assert "The nest is built. xxx" in words and len(words.strip()) < 560, words
    nothing_pending(agent)


def waits_for_approval(agent):
    """while a person is asked for leave, the session waits; with the tool's result it goes on"""
    agent.model.replace([rule("Raven one", agent.asking("echo a-raven > raven"), {"text": "Allowed."})])
    with agent.terminal("Raven one: ask me.", agent.careful()) as terminal:
        request(agent, "Raven one", 1)
        agent.attached()
        until_state(agent, "waiting")
        push(agent, "The raven knocks.", "-k", "raven.knocks")
        terminal.shows(agent.asks)

        def after():
            return [other for other in requests(agent, "Raven one") if any(item["role"] == "tool" for item in other["items"])]

        terminal.press("Enter", wanted=after, what="the tool has run", only_at=agent.asks)
        once(after()[0], "The raven knocks.")
        until_state(agent, "idle")


@contextlib.contextmanager
def desktop(agent):
    """Turns alerts on, with a notify-send that writes down its arguments. Returns that file."""
    place = agent.place
    told, program, config = place.root / "told", place.root / "desktop" / "notify-send", place.home / ".config" / "tidings" / "config.json"
    for folder in (program.parent, config.parent):
        folder.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho \"$4\" >>'{told}'\n")
    program.chmod(0o755)
    config.write_text(json.dumps({"alerts": {"idle": True, "waiting": True}}))
    before, agent.env["PATH"] = agent.env["PATH"], f"{program.parent}:{agent.env['PATH']}"
    try:
        yield told
    finally:
        config.unlink()
        agent.env["PATH"] = before


def alerters(agent):
    """Returns the processes that alert a person about the agent's session."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--alert" in words and agent.session.encode() in words:
            found.append(int(folder.name))
    return found


def person_is_alerted(agent):
    """with alerts in the configuration, one process alerts a person when the agent asks and when it idles; that process ends with the agent"""
    agent.model.replace([rule("Owl one", agent.asking("echo an-owl > owl"), {"text": "Whoo."})])
    with desktop(agent) as told:
        lines = lambda: told.read_text().splitlines() if told.exists() else []
        with agent.terminal("Owl one: ask me.", agent.careful()) as terminal:
            request(agent, "Owl one", 1)
            agent.attached()
            until(lambda: lines() == ["The agent waits for you"], lambda: f"the person is alerted: {lines()} {agent.complaints()}")
            assert len(alerters(agent)) == 1, alerters(agent)
            terminal.press("Enter", wanted=lambda: len(requests(agent, "Owl one")) > 1, what="the tool has run", only_at=agent.asks)
            until(lambda: lines() == ["The agent waits for you", "The agent is idle"], lambda: f"the person is alerted again: {lines()}")
            os.kill(agent.place.ask("status", "-s", agent.session)["attachment"]["pid"], signal.SIGKILL)
            until(lambda: not alerters(agent), "it ends with the agent")


def escape_and_wake(agent):
    """when a person stops a turn, the session is idle, the queued message is its next turn, and a critical notification wakes it, also in its first turn"""
    agent.model.replace([rule("Ibis ten", [{"text": "On and on "}, {"hold": f"{agent.name}-never"}]), rule("The ibis wades", {"text": "I see."}), rule("ibis number", {"text": "Done so."})])
    with agent.terminal("Ibis ten: go on.") as terminal:
        first = request(agent, "Ibis ten", 1)
        agent.attached()
        terminal.shows(agent.streams)
        agent.place.tidings("submit", "-s", agent.session, "Queued: ibis number one.")
        assert state(agent) == "busy"
        stops(agent, terminal, lambda: agent.model.ended(first["number"]) == "gone")
        once(request(agent, "Queued: ibis number one.", 1), "Queued: ibis number one.")
        until_state(agent, "idle")
        push(agent, "The ibis wades.", "-k", "ibis.wet", "-l", "critical")
        last = request(agent, "The ibis wades.", 1)
        once(last, "The ibis wades.")
        once(last, "Queued: ibis number one.")


def stopped_in_a_tool(agent):
    """when a person stops the turn while a tool runs, the session is idle, and notifications that came during the tool and afterwards are in the next turn, once"""
    gate = Gate(agent, "stork")
    agent.model.replace([rule("Stork zero", {"text": "Hello."}), rule("Stork one", gate.tool, {"text": "Never."}), rule("Stork two", {"text": "Yes."})])
    with agent.terminal("Stork zero: hello.") as terminal:
        request(agent, "Stork zero", 1)
        agent.attached()
        terminal.shows("Hello.")
        until_state(agent, "idle")
        says(agent, terminal, "Stork one: work.")
        gate.wait()
        terminal.shows(agent.works)
        push(agent, "The stork lands.", "-k", "stork.lands")
        stops(agent, terminal, lambda: state(agent) == "idle")
        push(agent, "The stork stands.", "-k", "stork.stands")
        says(agent, terminal, "Stork two: go on.")
        for words in ("The stork lands.", "The stork stands."):
            once(request(agent, "Stork two", 1), words)


def stopped_by_request(agent):
    """tidings stop ends the turn when its tool has ended: the model gets no further request, the session is idle, and a notification of that time is in the next turn"""
    gate = Gate(agent, "crake")
    agent.model.replace([rule("Crake one", gate.tool, {"text": "Never."}), rule("Crake two", {"text": "Yes."})])
    agent.start("Crake one: work.", agent.session)
    gate.wait()
    push(agent, "The crake calls.", "-k", "crake.calls")
    agent.place.tidings("stop", "-s", agent.session)
    gate.open()
    agent.end()
    assert state(agent) == "idle", state(agent)
    history = agent.place.tidings("history", "-s", agent.session)
    assert "turn.stop" in history and "turn.aborted" in history, history
    agent.run("Crake two: go on.", agent.session)
    assert ["Crake two" in one["text"] for one in requests(agent, "Crake one")] == [False, True], "the model was asked again"
    once(request(agent, "Crake two", 1), "The crake calls.")


def typed_meanwhile(agent):
    """a prompt that is typed while the model answers is a turn without a hook: the session counts as idle; a notification that comes in it reaches the model once"""
    gate = Gate(agent, "rail")
    agent.model.replace([rule("Rail zero", {"text": "Hello."}), rule("Rail one", [{"text": "On and on "}, {"hold": f"{agent.name}-rail"}]),
                         rule("Rail two", gate.tool, [{"text": "Seen. "}, {"hold": f"{agent.name}-rail-two"}], {"text": "Heard."}), rule("The rail calls", {"text": "Heard."})])

    def started():
        return agent.place.ask("status", "-s", agent.session).get("started_at")
    with agent.terminal("Rail zero: hello.") as terminal:
        request(agent, "Rail zero", 1)
        agent.attached()
        terminal.shows("Hello.")
        until_state(agent, "idle")
        says(agent, terminal, "Rail one: go on.")
        first = started()
        terminal.type("Rail two: then this.", lambda: started() != first)
        assert not requests(agent, "Rail two"), "it did not wait"
        agent.model.release(f"{agent.name}-rail")
        gate.wait()
        assert state(agent) == "idle", "the agent has called a hook for it: docs/hosts/ says that it does not"
        push(agent, "The rail wades.", "-k", "rail.wet")
        gate.open()
        once(request(agent, "Rail two", 2), "The rail wades.")
        assert state(agent) == "idle"
        agent.model.release(f"{agent.name}-rail-two")
        terminal.shows("Seen.")
        push(agent, "The rail calls.", "-k", "rail.loud", "-l", "critical")
        request(agent, "The rail calls.", 1)
        until_state(agent, "idle")
        nothing_pending(agent)
        for words in ("The rail wades.", "The rail calls."):
            once(requests(agent, "Rail two")[-1], words)


def compacted(agent):
    """after compaction the model reads the paragraph about the blocks again; a pending notification comes once"""
    agent.model.replace([rule("Crane one", agent.shell("echo crane"), agent.compacting_answer()), rule("Crane two", {"text": "I remember."}),
                         rule("produce the <state_snapshot> XML", {"text": "<state_snapshot>Hello was said.</state_snapshot>"})])
    with agent.terminal("Crane one: hello.") as terminal:
        request(agent, "Crane one", 2)
        agent.attached()
        terminal.shows("Hello.")
        until_state(agent, "idle")
        push(agent, "The crane dances.", "-k", "crane.dances")
        before = len(agent.model.requests)
        terminal.type(agent.compact, lambda: len(agent.model.requests) > before and agent.model.ended(agent.model.requests[-1]["number"]))
        says(agent, terminal, "Crane two: go on.")
        last = request(agent, "Crane two", 1)
        once(last, "The crane dances.")
        assert count(last, 'Lists that begin with "While you worked (not from the user)" report') >= 1, last["items"]


def larger_than_the_room(agent):
    """a queued message of 14,000 bytes reaches the model whole and once, over as many turns as it takes"""
    words = [f"heron-{number}" for number in range(1500)]
    gate = Gate(agent, "wader")
    agent.model.replace([rule("Heron one", gate.tool, *[{"text": "Well."}] * 4)])
    agent.start("Heron one: work.")
    gate.wait()
    agent.attached()
    agent.place.tidings("submit", "-s", agent.session, " ".join(words))
    gate.open()
    agent.end()
    last = html.unescape(requests(agent, "Heron one")[-1]["text"])
    assert re.findall(r"\bheron-\d+\b", last) == words, len(re.findall(r"\bheron-\d+\b", last))


def cleared(agent):
    """after /clear the session that follows in the same window gets the pending notifications of the earlier one, once"""
    agent.model.replace([rule("Wren one", {"text": "Alpha."}), rule("Wren two", {"text": "Beta."})])
    with agent.terminal("Wren one: hello.") as terminal:
        request(agent, "Wren one", 1)
        former = agent.attached()
        terminal.shows("Alpha.")
        until_state(agent, "idle")
        push(agent, "The wren sings.", "-k", "wren.sings")
        terminal.type("/clear", lambda: "Alpha." not in terminal.screen())
        says(agent, terminal, "Wren two: go on.")
        once(request(agent, "Wren two", 1), "The wren sings.")
        terminal.shows("Beta.")
        assert not pending(agent, "The wren sings."), former


def resumed_is_woken(agent):
    """a critical notification wakes the agent before anybody types when a session is resumed in a window"""
    agent.model.replace([rule("Merlin one", {"text": "Alpha."}), rule("The merlin dives", {"text": "Beta."})])
    agent.run("Merlin one: hello.")
    agent.session = agent.place.ask("sessions")["sessions"][0]["session"]
    push(agent, "The merlin dives.", "-k", "merlin.dives", "-l", "critical")
    terminal = Terminal(agent.place.root.name, agent.resuming(), agent.place.project, agent.env)
    try:
        once(request(agent, "The merlin dives.", 1), "The merlin dives.")
    finally:
        terminal.close()
        agent.end_all()


def configuration_changes(agent):
    """a change of the agent's own configuration is in a request of the same session, once"""
    path, more = agent.settings()
    gate = Gate(agent, "shrike")
    agent.model.replace([rule("Shrike zero", {"text": "Hello."}), rule("Shrike one", gate.tool, {"text": "Well."})])
    with agent.terminal("Shrike zero: hello.") as terminal:
        request(agent, "Shrike zero", 1)
        agent.attached()
        terminal.shows("Hello.")
        until_state(agent, "idle")
        old = path.read_text()
        path.write_text(old + more if more else json.dumps(json.loads(old) | {"cleanupPeriodDays": 31}, indent=2))
        if not more:
            until(lambda: pending(agent, "Configuration reloaded"), f"the agent has read it: {agent.complaints()}")
        says(agent, terminal, "Shrike one: work.")
        once(request(agent, "Shrike one", 1), f"Configuration reloaded: `{path}`")
        gate.open()
        once(request(agent, "Shrike one", 2), "Configuration reloaded: ")
    path.write_text(old)


def forked(agent):
    """a fork of a session is another session: the parent's delivered notifications are in its transcript, and the pending ones stay with the parent"""
    gate = Gate(agent, "fulmar")
    agent.model.replace([rule("Fulmar one", gate.tool, {"text": "Hello."}), rule("Fulmar two", {"text": "Hello again."})])
    agent.start("Fulmar one: hello.")
    gate.wait()
    agent.attached()
    push(agent, "The fulmar soars.", "-k", "fulmar.soars")
    gate.open()
    agent.end()
    parent = agent.session
    push(agent, "The fulmar waits.", "-k", "fulmar.waits")
    known = {session["session"] for session in agent.place.ask("sessions")["sessions"]}
    with agent.fork("Fulmar two: and now?"):
        last = request(agent, "Fulmar two", 1)
    once(last, "The fulmar soars.")
    never(last, "The fulmar waits.")
    assert pending(agent, "The fulmar waits.")
    fresh = {session["session"] for session in agent.place.ask("sessions")["sessions"]} - known
    assert len(fresh) == 1 and parent not in fresh, fresh


def answered_again(agent):
    """when the model answers 500 twice, at a prompt and at a tool's result, nothing is lost and nothing is there twice; no hook reports the failures"""
    push(agent, "The plover calls.", "-k", "plover.calls")
    gate, fails = Gate(agent, "plover"), {"status": 500, "message": "Internal server error"}
    agent.model.replace([rule("Plover one", [fails | {"times": 2}, gate.tool], [fails | {"times": 2}, {"text": "Well."}], {"text": "Fed."})])
    agent.launch([*agent.command("Plover one: try it.", agent.session), *agent.tries_again])
    gate.wait()
    assert state(agent) == "busy", agent.place.ask("status", "-s", agent.session)
    push(agent, "The plover runs.", "-k", "plover.runs")
    agent.place.tidings("submit", "-s", agent.session, "Queued: feed the plover.")
    gate.open()
    agent.end()
    sent = requests(agent, "Plover one")
    assert len(sent) == 7, [request["items"][-1]["text"][-200:] for request in sent]
    for number, request_ in enumerate(sent):
        once(request_, "The plover calls.")
        assert (count(request_, "The plover runs."), count(request_, "Queued: feed the plover.")) == (number > 2, number > 5), (number, request_["items"][-3:])
    nothing_pending(agent)
    assert "turn.retrying" not in agent.place.tidings("history", "-s", agent.session)


def budget_is_short(agent):
    """when the agent reports that the context is nearly full, the model reads it at the next prompt, once"""
    gate = Gate(agent, "grebe")
    agent.model.replace([rule("Grebe one", gate.tool, [{"tokens": agent.nearly_full}, {"text": "Hello."}]), rule("Grebe two", agent.shell("echo more"), {"text": "I know."})])
    agent.start("Grebe one: hello.")
    gate.wait()
    agent.attached()
    gate.open()
    agent.end()
    push(agent, "The grebe dives.", "-k", "grebe.dives")  # so that the transcript is read
    agent.run("Grebe two: and now?", agent.session)
    assert count(request(agent, "Grebe two", 2), "Token budget: ") == 1, request(agent, "Grebe two", 2)["items"]


def takes_back(agent, terminal, prompt, answer):
    """Takes back the last prompt and its answer, like a person."""
    menu, chosen, confirmed = agent.rewinds
    until(lambda: agent.works not in terminal.screen(), "it does not work any more")
    if agent.rewinds_by.startswith("/"):
        terminal.type(agent.rewinds_by, lambda: menu in terminal.screen())
    else:
        terminal.press_twice("Escape", at=agent.rewinds_by, wanted=lambda: menu in terminal.screen(), what="the menu is there")
    if chosen != menu:
        terminal.press("Up", wanted=lambda: chosen in terminal.screen(), what="the prompt is chosen", only_at=menu)
    if confirmed:
        terminal.press("Enter", wanted=lambda: confirmed in terminal.screen(), what="the answer is chosen", only_at=chosen)
    terminal.press("Enter", wanted=lambda: answer not in terminal.screen(), what="the prompt is taken back", only_at=confirmed or chosen)
    terminal.shows(prompt)  # in the line for the next prompt
    terminal.press("C-u", wanted=lambda: prompt not in terminal.screen(), what="the line is empty")


def has_written(agent, words):
    """Returns whether the transcript has the words; only agents that write it late are checked."""
    return not agent.rewinds_late or any(words in file.read_text(encoding="utf-8") for file in (agent.place.home / agent.name / "projects").glob("*/*.jsonl"))


def rewound(agent):
    """notifications with a prompt that a person takes back come again, once: with the next prompt, or with the one after it if the agent writes down later that it was taken back"""
    agent.model.replace([rule("Skua zero", {"text": "Alpha."}), rule("Skua one", {"text": "Beta."}), rule("Skua two", {"text": "Gamma."}), rule("Skua three", {"text": "Delta."})])
    with agent.terminal("Skua zero: hello.") as terminal:
        request(agent, "Skua zero", 1)
        agent.attached()
        terminal.shows("Alpha.")
        until_state(agent, "idle")
        push(agent, "The skua steals.", "-k", "skua.steals")
        says(agent, terminal, "Skua one: look.")
        once(request(agent, "Skua one", 1), "The skua steals.")
        terminal.shows("Beta.")
        until_state(agent, "idle")
        takes_back(agent, terminal, "Skua one", "Beta.")
        push(agent, "The skua returns.", "-k", "skua.returns")
        says(agent, terminal, "Skua two: go on.")
        first = request(agent, "Skua two", 1)
        never(first, "Skua one")
        once(first, "The skua returns.")
        assert count(first, "The skua steals.") == (0 if agent.rewinds_late else 1), first["items"]
        terminal.shows("Gamma.")
        until_state(agent, "idle")
        until(lambda: has_written(agent, "Gamma."), "its transcript has the answer")
        says(agent, terminal, "Skua three: go on.")
        for words in ("The skua steals.", "The skua returns."):
            once(request(agent, "Skua three", 1), words)
        terminal.shows("Delta.")
        until_state(agent, "idle")
        nothing_pending(agent)


def saved_and_resumed(agent):
    """notifications since /chat save come again with the next prompt, once, when a person resumes the saved conversation"""
    agent.model.replace([rule("Eider zero", {"text": "Alpha."}), rule("Eider one", {"text": "Beta."}), rule("Eider two", {"text": "Gamma."})])
    with agent.terminal("Eider zero: hello.") as terminal:
        request(agent, "Eider zero", 1)
        agent.attached()
        terminal.shows("Alpha.")
        until_state(agent, "idle")
        terminal.type("/chat save eider", lambda: "checkpoint saved" in terminal.screen())
        push(agent, "The eider swims.", "-k", "eider.swims")
        says(agent, terminal, "Eider one: look.")
        once(request(agent, "Eider one", 1), "The eider swims.")
        terminal.shows("Beta.")
        until_state(agent, "idle")
        until(lambda: agent.works not in terminal.screen(), "it does not work any more")
        suggested = lambda: "eider" in (line.strip() for line in terminal.screen().splitlines())
        terminal.put("/chat resume eider", suggested)
        terminal.press("Escape", wanted=lambda: not suggested(), what="the suggestion is gone")  # before that, Enter may take another suggestion
        terminal.press("Enter", wanted=lambda: "Beta." not in terminal.screen(), what="the conversation is as it was saved")
        push(agent, "The eider returns.", "-k", "eider.returns")
        says(agent, terminal, "Eider two: go on.")
        last = request(agent, "Eider two", 1)
        never(last, "Eider one")
        for words in ("The eider swims.", "The eider returns."):
            once(last, words)


ALL = (subagent_ends, waits_for_approval, stopped_in_a_tool, compacted, cleared, larger_than_the_room, configuration_changes, answered_again)
WITHOUT = {"copilot": (stopped_in_a_tool, configuration_changes)}
BY_AGENT = {"claude": (forked, rewound, stopped_by_request, typed_meanwhile, resumed_is_woken), "codex": (forked, rewound, budget_is_short, person_is_alerted), "gemini": (rewound, stopped_by_request, saved_and_resumed), "qwen": (forked, rewound, budget_is_short, resumed_is_woken)}
