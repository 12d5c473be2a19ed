#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Qwen Code does not write down reasons to go on: notes, and its calls of the prompt's hook with them, say which it has got."""
import os
import signal
import subprocess
import sys

from calls import full_pipe, log
from kit import DEADLINE_S, main, until
from proof_test import Agent, deliveries, leased, told
from wake_test import sleeps_without_limit


def test_reasons_not_written(place):
    """Qwen Code does not write down reasons to go on: a message that was one is committed at the next call"""
    agent = Agent(place, "qwen")
    agent.prompt()
    agent.write(told(place, agent, "First thing."))
    place.ok("submit", "-s", "s", "Do that.")
    assert agent.stop().startswith("Do that.")
    assert agent.tool() == "" and deliveries(place)[-1] == ("committed", "host")
    assert agent.stop() == "" and agent.prompt() == ""


def reasoned(place):
    """Returns an agent whose turn is about to end, with a message that follows it."""
    agent = Agent(place, "qwen")
    agent.prompt()
    agent.write(told(place, agent, "First thing."))
    assert agent.tool() == ""
    place.ok("submit", "-s", "s", "Do that.")
    agent.answers()
    return agent


def test_reason_not_handed_out(place):
    """a reason to go on that the agent never got, because the hook was killed before it could answer, comes again"""
    agent = reasoned(place)
    out, full = full_pipe()
    text, words = agent.asked("Stop")
    hook = place.start(*words, stdin=subprocess.PIPE, stdout=full)
    os.close(full)
    hook.stdin.write(text)
    hook.stdin.close()
    until(lambda: leased(place) and sleeps_without_limit(hook.pid), "it has taken the message, and waits for a reader")
    hook.kill()
    assert hook.wait(DEADLINE_S) == -signal.SIGKILL
    os.close(out)
    assert agent.stop().startswith("Do that.") and agent.tool() == ""
    assert [outcome for outcome, _ in deliveries(place)[1:]] == ["rolled_back", "committed"], deliveries(place)


def forget_reason(place):
    """Does what happens if the hook is killed after its answer, before it has noted that."""
    folder = os.path.join(place.store, "waiting")
    [note] = [name for name in os.listdir(folder) if name.endswith(".reason")]
    os.unlink(os.path.join(folder, note))


def test_reason_not_noted(place):
    """a hook that is killed after its answer has not noted that: the agent calls the prompt's hook with the reason if it has got it; else the reason comes again"""
    for got in (True, False):
        with type(place)() as own:
            agent = reasoned(own)
            text = agent.stop()
            forget_reason(own)
            assert not got or agent.call("UserPromptSubmit", prompt=text) == ""
            agent.answers()
            assert agent.stop() == "" if got else agent.stop().startswith("Do that.")
            assert deliveries(own)[1] == ("committed" if got else "rolled_back", "host"), deliveries(own)


def test_reason_dropped(place):
    """a reason that the agent drops, because a person stops the turn meanwhile, comes again: it has called no prompt's hook with it, or not even the first words of the model follow"""
    agent = Agent(place, "qwen")
    agent.append("{}\n")
    agent.prompt()
    for number, message in enumerate(("Do that.", "Then rest.")):
        assert place.ok("submit", "-s", "s", message) and agent.call("Stop").startswith(message) and agent.prompt() == ""
        text = agent.call("Stop")
        assert text.startswith(message) and agent.call("UserPromptSubmit", prompt=text) == "" and agent.call("Stop") == ""
        assert [outcome for outcome, _ in deliveries(place)[2 * number:]] == ["rolled_back", "committed"], deliveries(place)


def test_reason_in_trouble(place):
    """a reason counts as delivered if the agent has appended what a person typed meanwhile, and if the store could not be opened when the agent called the prompt's hook with it"""
    agent, database = reasoned(place), os.path.join(place.store, "data.mdb")
    assert agent.call("UserPromptSubmit", prompt=agent.stop()) == ""
    place.ok("submit", "-s", "s", "Then rest.")
    assert agent.call("UserPromptSubmit", prompt=agent.stop() + "\n\nHurry.") == ""
    place.ok("submit", "-s", "s", "Then sleep.")
    text = agent.stop()
    os.rename(database, database + ".away")
    os.mkdir(database)
    assert agent.call("UserPromptSubmit", prompt=text) == "" and len(log(place)) == 1, log(place)
    os.rmdir(database)
    os.rename(database + ".away", database)
    assert agent.stop() == "" and [outcome for outcome, _ in deliveries(place)[1:]] == ["committed"] * 3, deliveries(place)


def test_reason_without_notes(place):
    """where no note can be written, a message stays queued instead of becoming a reason to go on that would come again and again"""
    agent, folder = reasoned(place), os.path.join(place.store, "waiting")
    with open(folder, "w", encoding="utf-8"):
        pass
    assert agent.stop() == "" and leased(place) == [] and "cannot write" in log(place)[0], log(place)
    os.unlink(folder)
    agent.prompt()
    assert agent.stop().startswith("Do that.") and agent.tool() == ""


if __name__ == "__main__":
    sys.exit(main(globals()))
