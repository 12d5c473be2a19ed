# SPDX-License-Identifier: MIT
"""terminal.py: a terminal (tmux) in which a test uses an agent or a shell like a person: it types, and reads the screen. It knows no agent."""
import itertools
import subprocess
import time

from node_hosts import PATIENCE, until

AGAIN = 5  # seconds after which a key without effect is pressed again
SLOW = 30  # seconds after which a missing line is typed again; it is longer, because a busy program may take later keys for a part of the line

NUMBERS = itertools.count(1)


class Terminal:
    """Runs the command in a folder and an environment. `name`: must be unique."""

    def __init__(self, name, command, cwd, env):
        for tries_left in (2, 1, 0):
            try:
                self.begin(f"{name}-{next(NUMBERS)}", "-x", "160", "-y", "50", *map(str, command), cwd=cwd, env=env | {"TERM": "xterm-256color"})
                break
            except AssertionError as error:  # happens once in some hundred starts, on a busy machine
                if "server exited unexpectedly" not in str(error) or not tries_left:
                    raise

    def begin(self, name, *words, **more):
        """Starts tmux under a new name, because a killed server does not end at once."""
        self.name, self.tmux = name, ["tmux", "-L", name, "-f", "/dev/null"]
        self.ask("new-session", "-d", *words, **more)

    def ask(self, *words, **more):
        ran = subprocess.run([*self.tmux, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False, **more)
        if ran.returncode:
            raise AssertionError(f"terminal {self.name}: tmux {words[0]}: {ran.stderr.strip()}")
        return ran.stdout

    def screen(self):
        """Returns the screen, without the empty lines."""
        return "\n".join(line.rstrip() for line in self.ask("capture-pane", "-p").splitlines() if line.strip())

    def shows(self, text):
        """Waits until the text is on the screen."""
        until(lambda: text in self.screen(), lambda: f"\"{text}\" is on the screen, which shows:\n{self.screen()}")

    def press(self, *keys, wanted, what, only_at="", again=None, first=AGAIN):
        """Presses keys and waits until `wanted` is true. A program that draws something else may miss some of the keys; then the same keys are pressed again, or
        the next ones of `again`. `only_at`: only while the screen shows this, so that a screen which a late key has opened does not get the next key."""
        self.ask("send-keys", *keys)
        due = time.monotonic() + first

        def look():
            nonlocal due
            value = wanted()
            if not value and time.monotonic() > due and only_at in self.screen():
                self.ask("send-keys", *(next(again) if again else keys))
                due = time.monotonic() + AGAIN
            return value
        return until(look, lambda: f"{what}; the screen shows:\n{self.screen()}")

    def press_twice(self, key, at, wanted, what):
        """Presses a key a second time while the screen shows `at`, for keys that must be pressed twice."""
        again = 0

        def look():
            nonlocal again
            if at in self.screen() and time.monotonic() > again + AGAIN:
                self.ask("send-keys", key)
                again = time.monotonic()
            return wanted()
        self.press(key, wanted=look, what=what)

    def put(self, text, shown):
        """Types a line without ending it."""
        self.press("-l", text, wanted=shown, what=f"\"{text}\" is typed", again=itertools.cycle([["C-u"], ["-l", text]]), first=SLOW)

    def type(self, text, taken=lambda: True):
        """Types a line, and presses Enter when the screen shows it, until the program takes it; some programs take a fast line break for pasted
        text."""
        self.put(text, lambda: text[-20:] in self.screen() and 2 * text not in self.screen())
        self.press("Enter", wanted=taken, what=f"\"{text}\" is taken")

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, timeout=PATIENCE, check=False)
