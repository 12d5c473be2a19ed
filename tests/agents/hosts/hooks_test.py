#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hooks_test.py HOST [SCENARIO]: tests codex, claude, gemini, qwen or copilot from npm, set up by this build, against a scripted model. Prints TAP.
Most scenarios run only if TIDINGS_HOSTS_FULL is 1."""
import sys

import hook_scenarios
import kill_scenario
import mcp_scenario
import record
import short_scenario
import window_scenario
import wire_scenarios
from hook_hosts import AGENTS
from model.server import ModelServer
from node_hosts import FULL, Place, Tap


OWN = {"gemini": (hook_scenarios.forgotten_when_resumed,), "copilot": (hook_scenarios.after_a_failed_tool,)}
WITHOUT = {"copilot": (hook_scenarios.commands_find_tidings, *wire_scenarios.WITHOUT["copilot"])}


def nothing_was_complained_about(agent):
    """no hook call has failed, except those of agents that the test ended during a call"""
    ended = ("cannot write to stdout: Broken pipe", "stdin: not JSON: it is empty", "waiting ends: the session was taken over by another host", "options.owner_pid: there is no process", "no agent found: ",
             "the session's process has ended between two calls")
    lines = [line for line in agent.complaints().splitlines() if not any(words in line for words in ended)]
    assert not lines, lines


def killed_at_random(agent):
    """an agent that is killed at random moments and resumed has everything exactly once, and the store's history agrees"""
    kill_scenario.killed_at_random(kill_scenario.HookVictim(agent))


def the_record_agrees(agent):
    """every item that the store counts as shown is in the requests, in all sessions"""
    record.compare_all(agent.place, agent.model.requests, hooks=True)


def main():
    name, *wanted = sys.argv[1:]
    tap = Tap()
    with Place() as place, ModelServer([], place.root / "requests.jsonl") as model:
        agent = AGENTS[name](place, model)
        stopped = wire_scenarios.escape_and_wake if agent.wakes_after_escape else hook_scenarios.interrupted_by_a_person
        told, gone = hook_scenarios.LAST
        scenarios = (*hook_scenarios.ALL, *OWN.get(name, ()), *(hook_scenarios.WITH_WAKING + (stopped,) if agent.wakes else hook_scenarios.WITHOUT_WAKING),
                     killed_at_random, told, *wire_scenarios.ALL, *wire_scenarios.BY_AGENT.get(name, ()), *mcp_scenario.BY_AGENT.get(name, ()), *window_scenario.ALL,
                     *window_scenario.BY_AGENT.get(name, ()),
                     the_record_agrees, gone)
        if not FULL and not wanted:
            scenarios = (short_scenario.all_in_one, the_record_agrees)
        scenarios = [scenario for scenario in scenarios if scenario not in WITHOUT.get(name, ())]
        try:
            for scenario in scenarios:
                if not wanted or scenario.__name__ in wanted or scenario is scenarios[0]:
                    tap.run(scenario, agent)
        finally:
            agent.end_all()
        tap.run(nothing_was_complained_about, agent)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
