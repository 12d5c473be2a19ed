# SPDX-License-Identifier: MIT
"""kill_scenario.py: an agent that is killed at random moments, again and again, while others push and submit, and resumed each time. What counts is the last
request: what the model then has of everything. TIDINGS_KILLS is how often (4)."""
import html
import os
import random
import re
import time

KILLS = int(os.environ.get("TIDINGS_KILLS", "4"))
STEPS = 40  # tool calls of a turn: more than it lives for


def blocks(request):
    """Each text that a hook has handed out, by the marker at its end; some agents show a text more than once."""
    texts = {}
    for item in request["items"]:
        before = 0
        text = html.unescape(item["text"])
        for marker in re.finditer(r"\[tidings ([0-9a-z]+)\]", text):
            texts[marker[1]] = texts.get(marker[1], "") + text[before:marker.start()]
            before = marker.end()
    return texts


def count(request, words):
    return sum(words in text for text in blocks(request).values())


def run(agent, first):
    """A turn with tool calls that ends by a kill."""
    agent.start(f"Mole {first}: dig on.", agent.session)


def rules(agent):
    endings = [[{"text": f"Ending {number} of {KILLS}: {'abcdefghij'[number % 10] * (number + 3)}."}] for number in range(2 * KILLS + 9)]
    return [{"prompt": "Mole last", "answers": [[agent.shell("echo one")], *endings]},
            {"prompt": "Mole", "answers": [answer for number in range(STEPS) for answer in ([agent.shell(f"echo {number}")], [{"text": f"Step {number}."}])]}]


def killed_at_random(agent):
    """an agent that is killed at random moments and resumed has everything exactly once"""
    chance, things, began = random.Random(7), 0, len(agent.model.requests)
    agent.model.replace(rules(agent))
    for number in range(KILLS):
        seen = len(agent.model.requests)
        run(agent, number)
        agent.model.wait(lambda: len(agent.model.requests) > seen, 60)
        for _ in range(3):
            things += 1
            words = f"Thing number {things}."
            if things % 3 or agent.name == "qwen":  # which writes down no reason to go on
                agent.place.tidings("push", "-s", agent.session, "-k", "thing.new", words)
            else:
                agent.place.tidings("submit", "-s", agent.session, words)
            time.sleep(chance.random() * 0.15)
        time.sleep(chance.random() * 0.3)
        agent.kill()
    agent.run("Mole last: end it.", agent.session)
    agent.run("Mole last: end it all.", agent.session)
    last = agent.model.requests[-1]
    there = {number: count(last, f"Thing number {number}.") for number in range(1, things + 1)}
    wrong = {number: times for number, times in there.items() if times != 1}
    assert not wrong, f"of {things} after {KILLS} kills, thing and how often it is there: {wrong}; {len(agent.model.requests) - began} requests; {agent.complaints()}"
