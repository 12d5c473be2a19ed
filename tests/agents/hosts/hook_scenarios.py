# SPDX-License-Identifier: MIT
"""hook_scenarios.py: the scenarios of every agent that calls hooks. They check the requests that its model got, and use agents only through
hook_hosts.Agent.
"""
import html
import signal
import subprocess

import transcripts
from node_hosts import PATIENCE, until
from node_scenarios import gulls_cry, watches


def rule(prompt, *answers):
    return {"prompt": prompt, "answers": [answer if isinstance(answer, list) else [answer] for answer in answers]}


def requests(agent, prompt):
    """Returns the model's requests that contain the prompt, in their order, except those for a title; some agents escape the text of hooks."""
    return [request for request in agent.model.requests if request["tools"] and prompt in html.unescape(request["text"]) and "task title of at most" not in request["text"]]


def request(agent, prompt, number):
    return until(lambda: len(requests(agent, prompt)) >= number and requests(agent, prompt)[number - 1],
                 f"request {number} with \"{prompt}\" (there are {len(requests(agent, prompt))}): {agent.complaints()}")


def count(request, text):
    return html.unescape(request["text"]).count(text)


def once(request, text):
    there = count(request, text)
    assert there == 1, f"\"{text}\" is there {there} times in request {request['number']}: {[item for item in request['items'] if item['role'] != 'system']}"


def never(request, text):
    assert count(request, text) == 0, f"\"{text}\" is in request {request['number']}"


def until_file(path):
    return f"while [ ! -e '{path}' ]; do sleep 0.1; done"


def push(agent, text, *more):
    agent.place.tidings("push", "-s", agent.session, *more, text)


def nothing_pending(agent):
    """Checks that nothing is pending except the model's own edits, which are kept for a moment to recognize a watcher's report, and are never shown."""
    left = [item for item in agent.place.ask("pending", "-s", agent.session)["items"] if not item.get("caused_by")]
    assert not left, f"still pending: {left}"


class Gate:
    """A tool that reports that it runs, and continues when the test opens the gate."""

    def __init__(self, agent, name, end=""):
        self.started, self.go = (agent.place.project.parent / f"{name}-{word}" for word in ("started", "go"))
        self.tool = agent.shell(f"touch '{self.started}'; {until_file(self.go)}; echo {name} has run{end}")

    def wait(self):
        until(self.started.exists, "the tool runs")

    def open(self):
        self.go.touch()


def says(agent, terminal, line):
    """Types a prompt like a person, and waits until the model gets it."""
    terminal.type(line, lambda: requests(agent, line))


def stops(agent, terminal, stopped):
    """Stops the turn like a person, and waits until `stopped` is true."""
    terminal.press(agent.stops, wanted=stopped, what="the turn is stopped", only_at=agent.works)
    terminal.ask("send-keys", "C-u")  # some agents put the prompt back


def news_at_a_tool_result(agent):
    """the report of a command that fails while a tool runs is in the next request, once, and is not added again; the result of a failed tool carries notifications too"""
    gate, failing = Gate(agent, "first"), Gate(agent, "failing", "; exit 3")
    agent.model.replace([rule("Zebra one", gate.tool, failing.tool, {"text": "Well."})])
    agent.start("Zebra one: do the work.")
    gate.wait()
    agent.attached()
    ran = subprocess.run([agent.place.command, "run", "--name", "zebratests", "--", "sh", "-c", "exit 3"], cwd=agent.place.project,
                         env=agent.env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 3, ran.stderr
    gate.open()
    failing.wait()
    push(agent, "The zebra has left.", "-k", "zebra.gone", "-l", "warning")
    failing.open()
    agent.end()
    never(request(agent, "Zebra one", 1), "zebratests")
    once(request(agent, "Zebra one", 2), "failed with exit code 3")
    never(request(agent, "Zebra one", 2), "The zebra has left.")
    once(request(agent, "Zebra one", 3), "failed with exit code 3")
    once(request(agent, "Zebra one", 3), "The zebra has left.")
    nothing_pending(agent)


def told_what_the_blocks_are(agent):
    """a session's start explains the blocks to the model, once in each of its requests, also after it is resumed"""
    said = 'Lists that begin with "While you worked (not from the user)" report'
    agent.model.replace([rule("Lynx one", agent.shell("echo lynx"), {"text": "I know."})])
    agent.run("Lynx one: what do you know?")
    once(request(agent, "Lynx one", 1), said)
    once(request(agent, "Lynx one", 2), said)
    for prompt in ("Lynx two", "Lynx three"):
        agent.model.replace([rule(prompt, {"text": "I know it still."})])
        agent.run(f"{prompt}: and now?", agent.session)
        once(request(agent, prompt, 1), said)


def failed_request(agent):
    """when a request to the model fails, a queued message waits for the next prompt, and its turn comes after that one"""
    gate = Gate(agent, "otter")
    agent.model.replace([rule("Otter one", gate.tool, {"status": 400}), rule("Otter two", {"text": "Fed."}, {"text": "Again."})])
    agent.start("Otter one: begin.", agent.session)
    gate.wait()
    agent.place.tidings("submit", "-s", agent.session, "Queued: feed the otter.")
    gate.open()
    agent.end(failing=True)
    assert len(agent.place.ask("status", "-s", agent.session)["queued"]) == 1
    agent.run("Otter two: and now?", agent.session)
    never(request(agent, "Otter two", 1), "Queued: feed the otter.")
    once(request(agent, "Otter two", 2), "Queued: feed the otter.")


def as_the_page_shows(agent):
    """the requests on the page in docs/hosts/ are those that the model gets"""
    gate, before = Gate(agent, "x"), len(agent.model.requests)
    agent.model.replace([rule("Quail one", gate.tool, [{"text": "The tests "}, {"hold": f"{agent.name}-quail"}, {"text": "failed."}], {"text": "I will."})])
    agent.start("Quail one: are the tests green?", agent.session)
    gate.wait()
    agent.place.tidings("run", "-s", agent.session, "--name", "unit-tests", "--", "false", expect=1)
    gate.open()
    request(agent, "Quail one", 2)
    agent.place.tidings("submit", "-s", agent.session, "Deploy when they pass.")
    agent.model.release(f"{agent.name}-quail")
    agent.end()
    request(agent, "Quail one", 3)
    transcripts.check(agent.title, agent.model.requests[before:])


def pending_rides_on_the_prompt(agent):
    """pending notifications, critical ones too, come with the next prompt of the resumed session, once"""
    push(agent, "The yak is shaved.", "-k", "yak.done")
    push(agent, "The swan hisses.", "-k", "swan.angry", "-l", "critical")
    agent.model.replace([rule("Yak two", agent.shell("echo yak"), {"text": "Fine."})])
    agent.run("Yak two: how is the yak?", agent.session)
    for number in (1, 2):
        once(request(agent, "Yak two", number), "The yak is shaved.")
        once(request(agent, "Yak two", number), "The swan hisses.")
    nothing_pending(agent)


def own_edits_are_not_news(agent):
    """a file that the model edits itself is not reported; a file that somebody else edits is"""
    own, other = agent.place.project / "own.txt", agent.place.project / "other.txt"
    gate = Gate(agent, "edit")
    watch = subprocess.Popen([agent.place.command, "watch", "-s", agent.session, "."], cwd=agent.place.project, env=agent.env, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: watches(watch.pid), "the watcher watches")
        agent.model.replace([rule("Wren three", agent.write(own, "of the model's own\n"), gate.tool, {"text": "Good."})])
        watch.send_signal(signal.SIGSTOP)  # otherwise, if the agent is slow, the watcher may see the file while it is still empty
        agent.start("Wren three: write it.", agent.session)
        gate.wait()
        watch.send_signal(signal.SIGCONT)
        assert own.exists(), f"the model's tool did not write: {request(agent, 'Wren three', 2)['items'][-1]}"
        other.write_text("of somebody else\n")
        until(lambda: any("other.txt" in item["message"] for item in agent.place.ask("pending", "-s", agent.session)["items"]), "the watcher has told")
        gate.open()
        agent.end()
        last = request(agent, "Wren three", 3)
        assert count(last, "`other.txt` was created externally.") + count(last, "`other.txt` was modified externally.") >= 1, last["items"][-3:]
        for word in ("created", "modified"):
            never(last, f"`own.txt` was {word} externally.")
    finally:
        watch.send_signal(signal.SIGCONT)
        watch.terminate()
        _, said = watch.communicate(timeout=PATIENCE)
        assert watch.returncode in (0, -15, 143), said


def killed_mid_turn(agent):
    """if an agent is killed in the middle of a turn and resumed, no notification is lost, and none comes twice"""
    gate = Gate(agent, "killed")
    agent.model.replace([rule("Vole four", gate.tool), rule("Vole again", agent.shell("echo vole"), {"text": "Here."})])
    push(agent, "The vole is told before.", "-k", "vole.one")
    agent.start("Vole four: begin.", agent.session)
    gate.wait()
    once(request(agent, "Vole four", 1), "The vole is told before.")
    push(agent, "The vole waits meanwhile.", "-k", "vole.two")
    agent.kill()
    gate.open()
    agent.run("Vole again: go on.", agent.session)
    for number in (1, 2):
        once(request(agent, "Vole again", number), "The vole waits meanwhile.")
        told = count(request(agent, "Vole again", number), "The vole is told before.")
        assert told <= 1, f"what was told before the kill is there {told} times: {request(agent, 'Vole again', number)['items'][2:]}"
    nothing_pending(agent)


def critical_into_streaming(agent):
    """a critical push while the model streams makes the agent go on with it instead of stopping"""
    agent.model.replace([rule("Urchin five", [{"text": "I am "}, {"hold": f"{agent.name}-urchin"}, {"text": "done."}], {"text": "I see."})])
    agent.start("Urchin five: speak.", agent.session)
    request(agent, "Urchin five", 1)
    push(agent, "The urchin burns.", "-k", "urchin.fire", "-l", "critical")
    agent.model.release(f"{agent.name}-urchin")
    agent.end()
    second = request(agent, "Urchin five", 2)
    once(second, "The urchin burns.")
    assert count(second, "Critical notification (urchin.fire)") >= 1, second["items"][-3:]
    assert len(requests(agent, "Urchin five")) == 2


def submitted_while_busy(agent):
    """a message that is submitted while a turn runs is the next turn, and a steered one is in the next tool result"""
    gate = Gate(agent, "busy")
    agent.model.replace([rule("Tapir six", gate.tool, {"text": "First."}, {"text": "Second."})])
    agent.start("Tapir six: begin.", agent.session)
    gate.wait()
    agent.place.tidings("submit", "-s", agent.session, "--id", f"{agent.name}-tapir", "Queued: feed the tapir.")
    agent.place.tidings("submit", "-s", agent.session, "--id", f"{agent.name}-steer", "--steer", "Steered: mind its nose.")
    gate.open()
    agent.end()
    second, third = request(agent, "Tapir six", 2), request(agent, "Tapir six", 3)
    once(second, "Steered: mind its nose.")
    never(second, "Queued: feed the tapir.")
    once(third, "Queued: feed the tapir.")
    once(third, "Steered: mind its nose.")
    assert len(requests(agent, "Tapir six")) == 3
    status = agent.place.ask("status", "-s", agent.session)
    # A delivery of the moment before the agent ended is settled when the agent comes back.
    assert status["state"] == "idle" and all(message["state"] == "leased" for message in status["queued"]), status


def woken_when_idle(agent):
    """a critical push and a submitted message wake an agent that idles in a terminal, and its model gets each once"""
    agent.model.replace([rule("Heron eight", {"text": "Hello."})])
    with agent.terminal("Heron eight: wait for news."):
        request(agent, "Heron eight", 1)
        agent.attached()
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the agent is idle")
        push(agent, "The heron flies.", "-k", "heron.gone", "-l", "critical")
        once(request(agent, "The heron flies.", 1), "The heron flies.")
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the agent is idle again")
        agent.place.tidings("submit", "-s", agent.session, "--id", f"{agent.name}-heron", "Queued: follow the heron.")
        last = request(agent, "Queued: follow the heron.", 1)
        once(last, "Queued: follow the heron.")
        once(last, "The heron flies.")


def interrupted_by_a_person(agent):
    """a turn that a person interrupts in a terminal has ended; a critical notification that comes then waits for the next prompt"""
    agent.model.replace([rule("Ibis ten", [{"text": "On and on "}, {"hold": f"{agent.name}-never"}]), rule("Ibis eleven", {"text": "All right."})])
    with agent.terminal("Ibis ten: go on.") as terminal:
        first = request(agent, "Ibis ten", 1)
        agent.attached()
        terminal.shows(agent.streams)
        stops(agent, terminal, lambda: agent.model.ended(first["number"]) == "gone")
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the turn has ended")
        push(agent, "The ibis wades.", "-k", "ibis.wet", "-l", "critical")
        says(agent, terminal, "Ibis eleven: stop that.")
        once(request(agent, "Ibis eleven", 1), "The ibis wades.")
        assert len(requests(agent, "The ibis wades.")) == 1, "it was told before"


def not_woken_when_idle(agent):
    """an agent that idles in a terminal and cannot be woken gets notifications with the next prompt, and a submitted message after that turn"""
    agent.model.replace([rule("Heron eight", {"text": "Hello."}), rule("Heron nine", {"text": "What a bird."}), rule("follow the heron", {"text": "I run."})])
    with agent.terminal("Heron eight: wait for news.") as terminal:
        request(agent, "Heron eight", 1)
        agent.attached()
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the agent is idle")
        terminal.shows("Hello.")
        push(agent, "The heron flies.", "-k", "heron.gone", "-l", "critical")
        agent.place.tidings("submit", "-s", agent.session, "--id", f"{agent.name}-heron", "Queued: follow the heron.")
        says(agent, terminal, "Heron nine: look up.")
        second, third = request(agent, "Heron nine", 1), request(agent, "Queued: follow the heron.", 1)
        once(second, "The heron flies.")
        never(second, "Queued: follow the heron.")
        once(third, "The heron flies.")
        once(third, "What a bird.")
        assert requests(agent, "The heron flies.")[0] is second, "it was told before"
        terminal.shows("I run.")


def queue_survives_escape(agent):
    """a turn that a person interrupts delivers nothing: queued messages and notifications of that time come in the next turns, once"""
    agent.model.replace([rule("Kiwi zero", {"text": "Hello."}), rule("Kiwi ten", [{"text": "On and on "}, {"hold": f"{agent.name}-kiwi"}]),
                         rule("Kiwi eleven", {"text": "All right."}, {"text": "One."}, {"text": "Two."}, {"text": "Three."})])
    with agent.terminal("Kiwi zero: hello.") as terminal:
        request(agent, "Kiwi zero", 1)
        agent.attached()
        terminal.shows("Hello.")
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle", "the agent is idle")
        says(agent, terminal, "Kiwi ten: go on.")
        first = request(agent, "Kiwi ten", 1)
        terminal.shows(agent.streams)
        for number in (1, 2, 3):
            agent.place.tidings("submit", "-s", agent.session, f"Queued: kiwi number {number}.")
        push(agent, "The kiwi runs.", "-k", "kiwi.gone", "-l", "critical")
        stops(agent, terminal, lambda: agent.model.ended(first["number"]) == "gone")
        until(lambda: agent.place.ask("status", "-s", agent.session)["state"] == "idle" or not agent.stops_alike, "the turn has ended")
        assert len(agent.place.ask("status", "-s", agent.session)["queued"]) == 3 and not requests(agent, "The kiwi runs.")
        says(agent, terminal, "Kiwi eleven: stop that.")
        once(request(agent, "Kiwi eleven", 1), "The kiwi runs.")
        last = request(agent, "Queued: kiwi number 3.", 1)
        for number in (1, 2, 3):
            once(last, f"Queued: kiwi number {number}.")


def many_queued(agent):
    """if more messages are queued than an agent goes on for in a row, each is a turn once, the rest after the next prompt"""
    gate = Gate(agent, "many")
    agent.model.replace([rule("Tern one", gate.tool, *({"text": f"Turn {number}."} for number in range(12))),
                         rule("Tern two", *({"text": f"More {number}."} for number in range(12)))])
    agent.start("Tern one: begin.", agent.session)
    gate.wait()
    for number in range(10):
        agent.place.tidings("submit", "-s", agent.session, f"Tern number {number}.")
    gate.open()
    agent.end()
    status = agent.place.ask("status", "-s", agent.session)
    left = [message for message in status["queued"] if message["state"] == "queued"]
    assert status["state"] == "idle" and len(left) == agent.left_of_ten, status
    if left:
        agent.run("Tern two: and then?", agent.session)
    last = request(agent, "Tern number 9.", 1)
    if agent.keeps_reasons:
        for number in range(10):
            once(last, f"Tern number {number}.")
    assert not [message for message in agent.place.ask("status", "-s", agent.session)["queued"] if message["state"] == "queued"]


def more_than_fits(agent):
    """150 notifications of 120 bytes and a steered message during one tool: each is in the next requests exactly once, the steered one in the first"""
    gate, number_of_calls = Gate(agent, "room"), 16  # ten notifications are shown at once
    agent.model.replace([rule("Gull one", gate.tool, *(agent.shell(f"echo gull {number}") for number in range(number_of_calls)), {"text": "Enough."})])
    agent.start("Gull one: begin.", agent.session)
    gate.wait()
    gulls_cry(agent)
    gate.open()
    agent.end()
    answers = [html.unescape(one["text"]) for one in requests(agent, "Gull one")]
    first = answers[1]
    assert "Steered: mind the gulls." in first and "Gull 000 " in first, first[-4000:]
    last = request(agent, "Gull one", len(answers))
    once(last, "Steered: mind the gulls.")
    for number in range(150):
        once(last, f"Gull {number:03} xxx")
    nothing_pending(agent)


def forgotten_when_resumed(agent):
    """a prompt that begins with ? is forgotten when the session is resumed; notifications are not, nor is a queued message that begins with /"""
    push(agent, "The moth sits.", "-k", "moth.sits")
    gate = Gate(agent, "moth")
    agent.model.replace([rule("Moth one", gate.tool, {"text": "Well."}, {"text": "I do."}), rule("Moth two", {"text": "Still."})])
    agent.start("? Moth one: why.", agent.session)
    gate.wait()
    agent.place.tidings("submit", "-s", agent.session, "/ Queued: count the moths.")
    gate.open()
    agent.end()
    never(request(agent, "Moth one", 1), "The moth sits.")
    once(request(agent, "Moth one", 2), "The moth sits.")
    once(request(agent, "Moth one", 3), "Queued message:\n/ Queued: count the moths.")
    agent.run("Moth two: and now?", agent.session)
    never(request(agent, "Moth two", 1), "? Moth one: why.")
    assert count(request(agent, "Moth two", 1), "The moth sits.") >= 1, "it is gone"  # Gemini CLI doubles tool results when it resumes
    once(request(agent, "Moth two", 1), "/ Queued: count the moths.")


def commands_find_tidings(agent):
    """a command of the model's pushes by $TIDINGS to the session that has called it, in any folder if the agent names the session"""
    anywhere = agent.names_session is not None
    push_it = f"{'cd / && ' if anywhere else ''}PATH=/usr/bin:/bin \"$TIDINGS\" push{agent.names_session or ''} 'From inside.'"
    agent.model.replace([rule("Rook one", agent.shell(push_it), agent.shell("echo x"), {"text": "Heard."})])
    agent.run("Rook one: ask around.", agent.session)
    once(request(agent, "Rook one", 2), "- [cli] From inside.")


def after_a_failed_tool(agent):
    """a notification that comes before a tool fails is not in that result, which a resumed session would lack, but in the next one, once"""
    agent.model.replace([rule("Auk one", [{"text": "Let me see. "}, {"hold": f"{agent.name}-auk"}, agent.failing()], agent.shell("echo auk"), {"text": "Well."}),
                         rule("Auk two", {"text": "Still."})])
    agent.start("Auk one: try it.", agent.session)
    request(agent, "Auk one", 1)
    push(agent, "The auk dives.", "-k", "auk.dives")
    agent.model.release(f"{agent.name}-auk")
    agent.end()
    never(request(agent, "Auk one", 2), "The auk dives.")
    once(request(agent, "Auk one", 3), "The auk dives.")
    agent.run("Auk two: and now?", agent.session)
    once(request(agent, "Auk two", 1), "The auk dives.")


def nothing_stays_leased(agent):
    """a run without a terminal that ends right after its last tool leaves nothing leased, though the agent completes its transcript only when it ends"""
    numbers = range(10)
    pushes = [agent.shell(f"'{agent.place.command}' push -s {agent.session} \"Siskin number \"'{number}'\" sings.\"") for number in numbers]
    agent.model.replace([rule("Siskin one", *pushes, {"text": "Ten of them."})])
    agent.run("Siskin one: count them.", agent.session)
    until(lambda: not agent.place.ask("pending", "-s", agent.session)["leased"], lambda: f"nothing is leased: {agent.place.ask('pending', '-s', agent.session)} {agent.complaints()}")
    for number in numbers:
        once(requests(agent, "Siskin one")[-1], f"Siskin number {number} sings.")
    nothing_pending(agent)


def installation_is_gone(agent):
    """without the installation the agent continues to work"""
    away = agent.place.command.rename(agent.place.root / "tidings-was-here")
    try:
        agent.model.replace([rule("Dodo one", agent.shell("echo x"), {"text": "Still well."})])
        assert "Still well." in agent.run("Dodo one: work.", agent.session)
        request(agent, "Dodo one", 2)
    finally:
        away.rename(agent.place.command)


ALL = (news_at_a_tool_result, pending_rides_on_the_prompt, own_edits_are_not_news, killed_mid_turn, critical_into_streaming, submitted_while_busy, more_than_fits,
       many_queued, nothing_stays_leased, failed_request, as_the_page_shows, commands_find_tidings)
LAST = (told_what_the_blocks_are, installation_is_gone)  # these begin sessions, and Gemini CLI resumes the latest one
WITH_WAKING = (woken_when_idle,)
WITHOUT_WAKING = (not_woken_when_idle, queue_survives_escape)
