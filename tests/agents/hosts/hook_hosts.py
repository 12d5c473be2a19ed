# SPDX-License-Identifier: MIT
"""hook_hosts.py: the agents that call hooks: how each is installed, configured without a network, started without a terminal, and resumed. Their tests
with tidings are in hook_scenarios.py.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess

from node_hosts import PATIENCE, installed_host, until
from terminal import Terminal


LONG = " ".join(f"word-{number}" for number in range(3000)) + " "  # the words differ, because some agents take repetition for a loop


class Agent:
    """An agent, set up by `tidings setup` in a home of its own."""

    name = title = None
    asks = "Allow execution"  # on the screen while a person is asked
    works = "esc to"  # while a tool runs
    stops = "Escape"  # the key by which a person stops a turn
    streams = "On and on"  # on the screen while the model says so
    stops_alike = False  # whether its hook is called also when a person has stopped a turn
    left_of_ten = 0  # messages that wait for the next prompt, of ten that are queued in one turn
    wakes_after_escape = False
    compact = "/compact"
    rewinds = None  # three texts of the menu that takes a prompt back: its first line, the line of the prompt "Skua one", and the answer to choose if the agent asks
    rewinds_by = "/rewind"  # the command that opens the menu; or, if pressing Escape twice opens it, the text on the screen after the first time
    rewinds_late = False  # whether its transcript shows that a prompt was taken back only after the next prompt's hook call
    tries_again = ()  # options that make it send a failed request again
    keeps_reasons = True  # whether its transcript keeps the reasons to go on
    awaits_subagents = False  # whether nothing else runs until a subagent ends, whose words are its tool's result
    names_session = None  # the option that names the session for `tidings push` in a command of the model's, in any folder; "": none is needed
    script = None  # its file, if it is a script for Node whose start costs seconds of CPU time

    def __init__(self, place, model):
        self.place, self.model = place, model
        self.program = installed_host(self.name) / "node_modules" / ".bin" / self.name
        self.process = self.session = None
        self.env = place.env | {"PATH": f"{place.command.parent}:{os.environ['PATH']}", "TERM": "dumb"} | self.environment()
        self.env = {key: value for key, value in self.env.items() if not key.startswith("CLAUDE_CODE_") or key in self.environment()}
        self.configure()
        place.env = self.env
        self.setup_said = self.connect()
        if self.script:
            self.program = self.launcher()

    def connect(self):
        """Makes the agent call tidings."""
        return self.place.tidings("setup", self.name, "--program", self.program)

    def launcher(self):
        """Returns a launcher that starts the script as its package does, but with half the CPU time: in a Node that starts faster, and that does not optimize a shell's grammar in WebAssembly."""
        node, file = installed_host("node22") / "node_modules" / ".bin" / "node", self.place.root / self.name
        file.write_text(f"#!/bin/sh\nexec '{node}' --expose-gc --liftoff-only '{self.program.resolve().with_name(self.script)}' \"$@\"\n")
        file.chmod(0o755)
        return file

    # These differ from host to host

    def environment(self):
        raise NotImplementedError

    def configure(self):
        pass

    def command(self, prompt, session):
        raise NotImplementedError

    def shell(self, command):
        raise NotImplementedError

    def write(self, path, content):
        raise NotImplementedError

    def delegate(self, prompt):
        """Returns the call of the tool that runs a subagent."""
        raise NotImplementedError

    def last_words(self, words):
        """Returns the answer with which a subagent ends."""
        return {"text": words}

    def settings(self):
        """Returns the file of the person's settings, and a text to append to it that sets nothing, or None."""
        raise NotImplementedError

    def compacting_answer(self):
        """Returns a conversation that is large enough for the agent to compact it when it is told to."""
        return [{"text": "Hello."}]

    def careful(self):
        """Returns the command of interactive(), but with options by which a person is asked before a tool runs."""
        raise NotImplementedError

    def asking(self, command):
        """Returns a shell call for which the agent asks the person in that mode."""
        return self.shell(command)

    # The same for all

    def start(self, prompt, session=None):
        self.launch(self.command(prompt, session))

    def launch(self, command):
        """Starts the agent in a process group of its own, so that the test can kill it together with the processes that it started."""
        self.process = subprocess.Popen(command, cwd=self.place.project, env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def resuming(self):
        return [*(word for word in self.interactive() if word != "-i"), "--resume", self.session]

    def attached(self):
        """Returns the session of the running agent, and waits until it is known."""
        def look():
            ran = subprocess.run([self.place.command, "status", "--json"], cwd=self.place.project, env=self.env, capture_output=True, text=True, check=False)
            return json.loads(ran.stdout)["session"] if ran.returncode == 0 else None
        self.session = until(look, f"{self.name} is attached to a session: {self.place.complaints()}")
        return self.session

    def end(self, failing=False, seconds=PATIENCE):
        """Waits for the agent's end. `failing`: its exit status may be a failure."""
        try:
            said, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} does not end") from None
        if self.process.returncode and not failing:
            raise AssertionError(f"{self.name}: exit {self.process.returncode}: {said[-2000:]}")
        return said

    def kill(self):
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    @contextlib.contextmanager
    def fork(self, prompt):
        """Runs a fork of the session."""
        self.launch([*self.command(prompt, self.session), "--fork-session"])
        yield
        self.end()

    @contextlib.contextmanager
    def terminal(self, prompt, command=None):
        """Runs the agent in a terminal, like a person; if an assertion fails, its message gets the text on the screen."""
        terminal = Terminal(self.place.root.name, [*(command or self.interactive()), prompt], self.place.project, self.env)
        try:
            yield terminal
        except AssertionError as error:
            raise AssertionError(f"{error}\n{terminal.screen()}") from None
        finally:
            terminal.close()
            self.end_all()  # a daemon would keep the session

    def end_all(self):
        """Kills all processes that were started in this home: agents leave daemons behind."""
        home = f"HOME={self.place.home}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if home in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)
            except OSError:
                continue

    def run(self, prompt, session=None):
        self.start(prompt, session)
        return self.end()

    def complaints(self):
        log = self.place.home / "state" / "tidings" / "logs" / "hook.log"
        return log.read_text() if log.exists() else ""


CODEX_CONFIG = """model = "{model}"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[analytics]
enabled = false

[feedback]
enabled = false

[features]
plugins = false
apps = false

[projects."{project}"]
trust_level = "trusted"

[shell_environment_policy.set]
TIDINGS = "{command}"

[notice.model_migrations]
"{model}" = "gpt-6-sol"
"""


class Codex(Agent):
    name = "codex"
    nearly_full = 200000  # tokens
    names_session = ' -s "$CODEX_THREAD_ID"'
    asks = "Would you like to run"
    rewinds = "↵ rewind", "↵ rewind", None
    rewinds_by = "again to edit"
    tries_again = "-c", "model_providers.fake.request_max_retries=4", "-c", "model_providers.fake.stream_max_retries=5"
    title = "Codex CLI"
    wakes = True
    model_name = "gpt-5.5"  # one that it knows has apply_patch

    def environment(self):
        return {"CODEX_HOME": str(self.place.home / "codex"), "FAKE_KEY": "none"}

    def configure(self):
        folder = self.place.home / "codex"
        folder.mkdir()
        config = CODEX_CONFIG.format(model=self.model_name, url=self.model.url, project=self.place.project, command=self.place.command)
        (folder / "config.toml").write_text(config)

    def command(self, prompt, session):
        options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        return [self.program, "exec", *options, *(["resume", session] if session else []), prompt]

    def fork(self, prompt):
        return self.terminal(prompt, [self.program, "fork", *self.interactive()[1:], self.session])

    def interactive(self):
        return [self.program, "--dangerously-bypass-approvals-and-sandbox", "--no-alt-screen"]

    def resuming(self):
        return [self.program, "resume", *self.interactive()[1:], self.session]

    def shell(self, command):
        return {"call": "exec_command", "arguments": {"cmd": command, "yield_time_ms": 30000}}

    def delegate(self, prompt):
        return {"call": "spawn_agent", "namespace": "multi_agent_v1", "arguments": {"message": prompt}}

    def asking(self, command):
        return self.shell(command) | {"arguments": {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "as the test says"}}

    def settings(self):
        return self.place.home / "codex" / "config.toml", "\n# touched\n"

    def careful(self):
        return [self.program, "--no-alt-screen", "--sandbox", "workspace-write", "--ask-for-approval", "on-request"]

    def write(self, path, content):
        lines = "".join(f"+{line}\n" for line in content.splitlines())
        return {"call": "apply_patch", "input": f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"}


class Claude(Agent):
    name = "claude"
    asks = "Do you want to proceed?"
    title = "Claude Code"
    streams = "esc to interrupt"  # it shows whole lines only
    left_of_ten = 3
    names_session = ""  # $TIDINGS_SESSION does
    rewinds = "❯ (current)", "❯ Skua one", "Restore conversation"
    rewinds_late = True
    wakes = wakes_after_escape = True

    def environment(self):
        return {"CLAUDE_CONFIG_DIR": str(self.place.home / "claude"), "ANTHROPIC_API_KEY": "sk-ant-fake-key-of-a-test", "ANTHROPIC_BASE_URL": self.model.url,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}

    def configure(self):
        folder = self.place.home / "claude"
        folder.mkdir()
        # The answers that a person gave when it was first started.
        known = {"hasCompletedOnboarding": True, "theme": "dark", "bypassPermissionsModeAccepted": True,
                 "customApiKeyResponses": {"approved": [self.environment()["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
                 "projects": {str(self.place.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}}
        (folder / ".claude.json").write_text(json.dumps(known))

    def command(self, prompt, session):
        return [self.program, "-p", prompt, "--dangerously-skip-permissions", *(["--resume", session] if session else [])]

    def interactive(self):
        return [self.program, "--dangerously-skip-permissions"]

    def shell(self, command):
        return {"call": "Bash", "arguments": {"command": command, "description": "as the test says", "timeout": 600000}}

    def delegate(self, prompt):
        return {"call": "Agent", "arguments": {"description": "as the test says", "prompt": prompt, "subagent_type": "general-purpose"}}

    def settings(self):
        return self.place.home / "claude" / "settings.json", None

    def careful(self):
        return [self.program, "--permission-mode", "default"]

    def write(self, path, content):
        return {"call": "Write", "arguments": {"file_path": str(path), "content": content}}


class Gemini(Agent):
    name = "gemini"
    script = "gemini.js"
    title = "Gemini CLI"
    wakes = False
    stops_alike = True
    awaits_subagents = True
    compact = "/compress"
    rewinds = "● Stay at current position", "● Skua one", "● 1. Rewind conversation"

    def environment(self):
        return {"GEMINI_CLI_HOME": str(self.place.home), "GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": self.model.url,
                "GEMINI_CLI_NO_RELAUNCH": "true"}

    def configure(self):
        folder = self.place.home / ".gemini"
        folder.mkdir()
        (folder / "settings.json").write_text('{\n  // as after its first start\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n')
        (folder / ".env").write_text(f"TIDINGS={self.place.command}\n")

    def command(self, prompt, session):
        return [self.program, "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", *(["--resume", "latest"] if session else []), "-p", prompt]

    def interactive(self):
        return [self.program, "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-i"]

    def shell(self, command):
        return {"call": "run_shell_command", "arguments": {"command": command, "description": "as the test says"}}

    def delegate(self, prompt):
        return {"call": "invoke_agent", "arguments": {"agent_name": "generalist", "prompt": prompt}}

    def last_words(self, words):
        return {"call": "complete_task", "arguments": {"result": {"response": words}}}

    def settings(self):
        return self.place.home / ".gemini" / "settings.json", "\n"

    def compacting_answer(self):
        return [{"tokens": 60000}, {"text": LONG + "Hello."}]

    def careful(self):
        return [self.program, "-m", "gemini-2.5-pro", "--skip-trust", "-i"]

    def write(self, path, content):
        return {"call": "write_file", "arguments": {"file_path": str(path), "content": content}}


class Qwen(Agent):
    name = "qwen"
    script = "cli.js"
    nearly_full = 155000
    names_session = ' -s "$QWEN_CODE_SESSION_ID"'
    title = "Qwen Code"
    wakes = True
    left_of_ten = 3
    compact = "/compress"
    rewinds = "› #2 Skua one", "› #2 Skua one", "› Restore conversation only"
    rewinds_by = "Press Esc again to rewind"  # its /rewind brings up nothing
    keeps_reasons = False

    def environment(self):
        return {"OPENAI_API_KEY": "fake", "OPENAI_BASE_URL": self.model.url + "/v1", "OPENAI_MODEL": "fake-1"}

    def configure(self):
        """Without requests of its own after each turn."""
        folder = self.place.home / ".qwen"
        folder.mkdir()
        settings = {"memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False}, "env": {"TIDINGS": str(self.place.command)}}
        (folder / "settings.json").write_text(json.dumps(settings, indent=2) + "\n")

    def command(self, prompt, session):
        return [self.program, "--yolo", *(["--resume", session] if session else []), "-p", prompt]

    def interactive(self):
        return [self.program, "--yolo", "-i"]

    def shell(self, command):
        return {"call": "run_shell_command", "arguments": {"command": command, "description": "as the test says", "is_background": False, "timeout": 600000}}

    def delegate(self, prompt):
        return {"call": "agent", "arguments": {"description": "as the test says", "prompt": prompt, "subagent_type": "general-purpose"}}

    def settings(self):
        return self.place.home / ".qwen" / "settings.json", "\n"

    def compacting_answer(self):
        return [{"tokens": 60000}, {"text": LONG + "Hello."}]

    def careful(self):
        return [self.program, "--approval-mode", "default", "-i"]

    def write(self, path, content):
        return {"call": "write_file", "arguments": {"file_path": str(path), "content": content}}


class Copilot(Agent):
    name = "copilot"
    title = "GitHub Copilot CLI"
    asks = "Do you want to run this command?"
    stops = "C-c"  # or Escape twice
    wakes = False
    left_of_ten = 3
    awaits_subagents = True

    def environment(self):
        # Each home would get a copy of the program otherwise: 235 MB.
        return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": self.model.url + "/v1", "COPILOT_MODEL": "fake-1", "COPILOT_AUTO_UPDATE": "false",
                "COPILOT_CACHE_HOME": str(installed_host(self.name) / "unpacked")}

    def configure(self):
        folder = self.place.home / ".copilot"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({"trusted_folders": [str(self.place.project)]}))

    def command(self, prompt, session):
        return [self.program, "--allow-all", *([f"--resume={session}"] if session else []), "-p", prompt]

    def interactive(self):
        return [self.program, "--allow-all", "-i"]

    def shell(self, command):
        return {"call": "bash", "arguments": {"command": command, "description": "as the test says", "initial_wait": 600}}

    def delegate(self, prompt):
        return {"call": "task", "arguments": {"name": "finch", "description": "as the test says", "prompt": prompt, "agent_type": "general-purpose", "mode": "sync"}}

    def careful(self):
        return [self.program, "-i"]

    def failing(self):
        return {"call": "view", "arguments": {"path": "/no/such/file"}}

    def write(self, path, content):
        return {"call": "create", "arguments": {"path": str(path), "file_text": content}}


AGENTS = {agent.name: agent for agent in (Codex, Claude, Gemini, Qwen, Copilot)}
