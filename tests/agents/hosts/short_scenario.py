# SPDX-License-Identifier: MIT
"""short_scenario.py: the short scenario of an agent that calls hooks, for the usual tests: it starts the agent twice and presses no key.
hook_scenarios.py has all scenarios."""
import record
from hook_scenarios import Gate, never, nothing_pending, once, push, request, rule


def all_in_one(agent):
    """notifications that come while a tool runs or fails are in its result, a message is the next turn, and when the agent is killed in that turn and resumed, nothing is lost or shown twice"""
    gate, failing, last = Gate(agent, "first"), Gate(agent, "failing", "; exit 3"), Gate(agent, "last")
    agent.model.replace([rule("Zebra one", gate.tool, failing.tool, {"text": "Well."}, last.tool), rule("Zebra again", {"text": "Here."})])
    agent.start("Zebra one: do the work.")
    gate.wait()
    agent.attached()
    agent.place.tidings("run", "-s", agent.session, "--name", "zebratests", "--", "sh", "-c", "exit 3", expect=3)
    agent.place.tidings("submit", "-s", agent.session, "Queued: feed the zebra.")
    agent.place.tidings("submit", "-s", agent.session, "--steer", "Steered: mind its nose.")
    gate.open()
    failing.wait()
    push(agent, "The zebra has left.", "-k", "zebra.gone", "-l", "warning")
    failing.open()
    last.wait()
    told = ("failed with exit code 3", "Steered: mind its nose.", "The zebra has left.", "Queued: feed the zebra.")
    for number, there in enumerate((0, 2, 3, 4), 1):
        for text in told[:there]:
            once(request(agent, "Zebra one", number), text)
        for text in told[there:]:
            never(request(agent, "Zebra one", number), text)
    push(agent, "The zebra waits meanwhile.", "-k", "zebra.late")
    agent.kill()
    last.open()
    agent.run("Zebra again: go on.", agent.session)
    resumed = request(agent, "Zebra again", 1)
    once(resumed, "The zebra waits meanwhile.")
    answers = record.marked(resumed)  # by their deliveries: Gemini CLI doubles tool results when it resumes
    for text in told:
        assert sum(text in answer for answer in answers.values()) <= 1, f"\"{text}\" is told again: {answers}"
    nothing_pending(agent)
