# SPDX-License-Identifier: MIT
"""terminal.py: a terminal of its own (tmux) in which an agent or a shell runs as a person uses it: typing, and what the screen shows. Knows no host."""
import itertools
import subprocess

from node_hosts import PATIENCE, until

START = 3  # what draws in a terminal takes its time before it first does


NUMBERS = itertools.count(1)


class Terminal:
    """Runs the command in a folder and an environment; `name` must be one of the test's own."""

    def __init__(self, name, command, cwd, env):
        name = f"{name}-{next(NUMBERS)}"  # a server that was killed is not gone at once: the next terminal has another
        self.tmux = ["tmux", "-L", name, "-f", "/dev/null"]
        self.name = name
        self.ask("new-session", "-d", "-x", "160", "-y", "50", *map(str, command), cwd=cwd, env=env | {"TERM": "xterm-256color"})

    def ask(self, *words, **more):
        ran = subprocess.run([*self.tmux, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False, **more)
        if ran.returncode:
            raise AssertionError(f"terminal {self.name}: tmux {words[0]}: {ran.stderr.strip()}")
        return ran.stdout

    def screen(self):
        """What is seen, without the empty lines."""
        return "\n".join(line.rstrip() for line in self.ask("capture-pane", "-p").splitlines() if line.strip())

    def shows(self, text):
        """Waits until the text is on the screen."""
        until(lambda: text in self.screen(), lambda: f"\"{text}\" is on the screen, which shows:\n{self.screen()}", START * PATIENCE)

    def type(self, text):
        """Types a line, and ends it when the screen has it: some programs take a fast line break for one that was pasted."""
        self.ask("send-keys", "-l", text)
        self.shows(text[-20:])
        self.ask("send-keys", "Enter")

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, timeout=PATIENCE, check=False)
