# SPDX-License-Identifier: MIT
"""kill_scenario.py: kills an agent at random moments, again and again, and resumes it each time, while eight processes push and ten messages wait. The last
request decides, because it shows everything that the model has. Agents are used only through a Victim; kills.py runs many rounds of this."""
import contextlib
import itertools
import os
import random
import re
import signal
import subprocess
import threading
import time

import record
from node_hosts import PATIENCE, until
from terminal import Terminal

KILLS = int(os.environ.get("TIDINGS_KILLS", "3"))  # in the usual tests
PUSHERS, QUEUE = 8, 10
TURNS, CALLS = 30, 3  # more turns than an agent lives for, and tool calls in each
AFTER = 1.5  # seconds after a run's first request within which most kills fall
MANY_TURNS = 300  # seconds
MOST_ENDINGS = 12  # runs at the end, until nothing waits any more
MOST_RUNS = 3  # for each kill, because some runs end before it
PUSHES = 3  # of each process, for each run
SUGGESTS = "NEVER SUGGEST"  # in a request by which Qwen Code asks for what a person might type next


class HookVictim:
    """An agent that calls hooks: each run is a process."""

    hooks = True

    def __init__(self, agent):
        self.agent, self.name, self.place, self.model = agent, agent.name, agent.place, agent.model
        self.keeps_reasons = agent.keeps_reasons

    @property
    def session(self):
        return self.agent.session

    def begin(self, prompt):
        """Begins the session, and finds it although others may be open in the same folder."""
        before = set(self.names())
        self.agent.start(prompt)
        self.agent.session = until(lambda: next(iter(set(self.names()) - before), None), "the session is known")
        self.agent.end()

    def names(self):
        store = self.place.home / "state" / "tidings"
        return self.place.tidings("status", "--names").split() if store.exists() else []

    def dig(self, prompt):
        self.agent.start(prompt, self.agent.session)

    def kill(self):
        """Kills the agent. Returns whether it was still running."""
        lived = self.agent.process.poll() is None
        self.agent.kill()
        return lived

    def finish(self, prompt):
        self.dig(prompt)
        self.agent.end(seconds=MANY_TURNS)

    def shell(self, command):
        return self.agent.shell(command)

    def complaints(self):
        return self.agent.complaints()


class WindowVictim(HookVictim):
    """The same in a terminal, where a task of its window begins what follows a turn."""

    def __init__(self, agent):
        super().__init__(agent)
        self.keeps_reasons, self.terminal = True, None

    def begin(self, prompt):
        self.show(prompt)
        self.agent.attached()
        self.idles(prompt)
        self.kill()

    def show(self, prompt, *words):
        self.terminal = Terminal(self.place.root.name, [self.agent.program, "--yolo", *words, "-i", prompt], self.place.project, self.agent.env)
        self.pid = int(self.terminal.ask("display-message", "-p", "#{pane_pid}"))

    def dig(self, prompt):
        self.show(prompt, "--resume", self.session)

    def kill(self):
        """The processes that wait beside it live a moment longer."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self.terminal.close()
        return True

    def idles(self, prompt):
        def look():
            status = self.place.ask("status", "-s", self.session)
            return status["state"] == "idle" and not status["queued"]
        until(lambda: any(prompt in request["text"] for request in self.model.requests), f"\"{prompt}\" is read")
        until(look, lambda: f"it idles, and nothing is queued: {self.place.ask('status', '-s', self.session)}; {self.terminal.screen()}")

    def finish(self, prompt):
        self.dig(prompt)
        self.idles(prompt)
        self.kill()


class NodeVictim:
    """An agent that loads a module: a process that takes prompts until it is killed."""

    hooks = False
    keeps_reasons = True

    def __init__(self, host, name, process):
        """`process`: returns the running process, a Popen or None."""
        self.host, self.name, self.place, self.model = host, name, host.place, host.model
        self.process = process
        self.digging = None

    @property
    def session(self):
        return self.host.session

    def begin(self, prompt):
        self.host.begin()
        self.host.prompt(prompt)
        self.host.settled()
        self.host.kill()

    def dig(self, prompt):
        """Starts the agent in a thread, because the test may kill it while it starts."""
        before = self.process(self.host)

        def start():
            try:
                self.host.restart()
                self.host.prompt(prompt)
            except Exception:  # it was killed
                pass
        self.digging = threading.Thread(target=start)
        self.digging.start()
        until(lambda: self.process(self.host) is not before, "it is started")

    def kill(self):
        lived = self.process(self.host).poll() is None
        self.host.kill()
        self.digging.join()
        return lived

    def finish(self, prompt):
        """Resumes the session, prompts, and waits for the end. pi continues its queue as soon as a session is resumed, opencode at its first prompt."""
        if self.process(self.host).poll() is not None:
            self.host.restart()
        if self.place.ask("status", "-s", self.session)["attachment"]["alive"]:
            self.host.settled()
        self.host.prompt(prompt)
        self.host.settled()

    def shell(self, command):
        return self.host.shell(command)

    def complaints(self):
        return self.place.complaints()


class Things:
    """Sends notifications and messages, each with a number of its own."""

    def __init__(self, victim, chance):
        self.victim, self.chance = victim, chance
        self.numbers, self.lock, self.stopped = itertools.count(1), threading.Lock(), threading.Event()
        self.pushed, self.submitted, self.failed = [], [], []
        self.wanted = threading.Semaphore(0)
        self.threads = [threading.Thread(target=self.push_on, args=(random.Random(chance.random()),)) for _ in range(PUSHERS)]
        for thread in self.threads:
            thread.start()

    def tidings(self, *arguments):
        return subprocess.run([self.victim.place.command, *arguments], cwd=self.victim.place.project, env=self.victim.place.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def give(self, numbers, verb):
        """Sends a notification or a message, and counts it only if it was accepted."""
        with self.lock:
            number = next(self.numbers)
        options = ("-k", "thing.new") if verb == "push" else ("--id", f"thing-{number}")
        ran = self.tidings(verb, "-s", self.victim.session, *options, f"Thing number {number}.")
        with self.lock:
            (self.failed.append(ran.stderr) if ran.returncode else numbers.append(number))

    def push_on(self, chance):
        while not self.stopped.wait(chance.uniform(0.1, 1.0)):
            if self.wanted.acquire(timeout=1):
                self.give(self.pushed, "push")

    def more(self):
        """Lets the pushers push for the next run."""
        self.wanted.release(PUSHERS * PUSHES)
        status = self.victim.place.ask("status", "-s", self.victim.session)
        for _ in range(QUEUE - len(status["queued"])):
            self.give(self.submitted, "submit")

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def rules(victim, kills):
    """Returns the model's answers: each turn has tool calls, and then ends. All texts and calls differ, because some agents take repetition for a
    loop."""
    def answers(run, turns, calls):
        return [answer for turn in range(turns) for answer in (*([victim.shell(f"echo {run}-{turn}-{call}")] for call in range(calls)),
                                                               [{"text": f"{run}, turn {turn}: {'abcdefghij'[turn % 10] * (turn + 3)}."}])]
    title = {"name": "title", "tools": False, "answers": [[{"text": "A title"}]]}
    digs = [{"prompt": f"Mole digs {number}.", "answers": answers(f"run {number}", TURNS, CALLS)} for number in range(MOST_RUNS * kills)]
    ends = [{"prompt": f"Mole last {number}.", "answers": answers(f"end {number}", 2 * QUEUE, 1)} for number in range(MOST_ENDINGS + 1)]
    return [title, {"prompt": "Mole first.", "answers": answers("begin", 2, 1)}, *digs, *ends]


def killed(victim, chance, number, ready):
    """Makes a run and kills it; returns whether it was alive then, and its seconds."""
    seen, began = len(victim.model.requests), time.monotonic()
    victim.dig(f"Mole digs {number}.")
    if chance.random() < 0.3:
        time.sleep(chance.uniform(0, ready))
    else:
        victim.model.wait(lambda: len(victim.model.requests) > seen, PATIENCE)
        time.sleep(chance.uniform(0, AFTER))
    return victim.kill(), time.monotonic() - began


def waits(victim):
    status = victim.place.ask("status", "-s", victim.session)
    return victim.place.ask("pending", "-s", victim.session)["count"] or [message for message in status["queued"] if message["state"] == "queued"]


def count(victim, request, number):
    words = f"Thing number {number}."
    if victim.hooks:
        return sum(words in text for text in record.marked(request).values())
    return sum(item["text"].count(words) for item in request["items"] if item["role"] != "system")


def read_at_all(victim, number, began):
    return any(count(victim, request, number) for request in victim.model.requests[began:])


def judge(victim, things, began):
    """Returns the numbers of the notifications and messages that are lost, that came twice, and that have disappeared on resuming (messages that an
    agent does not write into its transcript)."""
    last = [request for request in victim.model.requests if f"Mole last {MOST_ENDINGS}." in request["text"] and SUGGESTS not in request["text"]][-1]
    there = {number: count(victim, last, number) for number in things.pushed + things.submitted}
    twice = sorted(number for number, times in there.items() if times > 1)
    absent = sorted(number for number, times in there.items() if not times)
    gone = [number for number in absent if not victim.keeps_reasons and number in things.submitted and read_at_all(victim, number, began)]
    return {"lost": [number for number in absent if number not in gone], "twice": twice, "gone": gone}


def play(victim, kills, seed):
    """Plays a round: begins a session and kills its agent `kills` times. Returns the outcome of everything, and whether the store agrees."""
    chance, done, number = random.Random(seed), 0, 0
    victim.model.replace(rules(victim, kills))
    began, at = len(victim.model.requests), time.monotonic()
    victim.begin("Mole first.")
    ready = time.monotonic() - at
    things = Things(victim, chance)
    try:
        while done < kills and number < MOST_RUNS * kills:
            things.more()
            lived, _ = killed(victim, chance, number, ready)
            done, number = done + lived, number + 1
    finally:
        things.stop()
    for ending in range(MOST_ENDINGS):
        victim.finish(f"Mole last {ending}.")
        if not waits(victim):
            break
    victim.finish(f"Mole last {MOST_ENDINGS}.")
    found = judge(victim, things, began)
    return {"agent": victim.name, "seed": seed, "kills": done, "pushed": len(things.pushed), "submitted": len(things.submitted), "refused": things.failed[:3],
            "requests": len(victim.model.requests) - began, "seconds": round(time.monotonic() - at), **found, "record": disagreement(victim, began)}


def disagreement(victim, began):
    try:
        fired = record.compare(victim.place, victim.session, victim.model.requests[began:], victim.hooks)
        unread = [message for message in sorted(fired) if not read_at_all(victim, message.removeprefix("thing-"), began)]
        assert not unread, f"called fired, and in no request: {unread}"
    except AssertionError as error:
        return re.sub(r"\s+", " ", str(error))[:2000]
    return None


def killed_at_random(victim):
    """an agent that is killed at random moments and resumed has everything exactly once, and the store's history agrees"""
    found = play(victim, KILLS, 7)
    assert not found["lost"] and not found["twice"] and not found["record"], f"{found}; {victim.complaints()[-3000:]}"
