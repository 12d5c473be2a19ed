#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latest.py [AGENT…]: tests the newest version of each agent. It asks npm for the version, installs it beside the tested one, and runs that agent's tests with it;
it prints the failing tests, and the versions that could not be fetched, with npm's message. TIDINGS_SOURCE_DIR and TIDINGS_BUILD_DIR as for the tests. Exit status
1: something differs; 77: no version could be asked for."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = HERE.parents[2] / "agents" / "hosts" / "versions.txt"
TESTS = {"opencode": ["opencode_test.py"], "kilo": ["kilo_test.py"], "pi": ["pi_test.py"]}  # the others: hooks_test.py with their name
ASKING_SECONDS, TESTING_SECONDS = 60, 1800


def tested():
    """Returns each agent's package with its version, without the runtimes."""
    lines = [line for line in VERSIONS.read_text(encoding="utf-8").splitlines() if re.match(r"[a-z]", line) and not line.startswith(("node", "acp"))]
    return {line.split()[0]: (line, *line.split()[1].rsplit("@", 1)) for line in lines}


def words(text):
    said = [line.removeprefix("npm error ") for line in text.splitlines() if line.strip() and "complete log" not in line and "npm warn" not in line]
    return " ".join(said[:4])


def ask_npm(package):
    """Returns the newest version, or None and npm's message."""
    try:
        ran = subprocess.run(["npm", "view", package, "version", "--fetch-retries=0"], capture_output=True, text=True, timeout=ASKING_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    return (ran.stdout.strip(), "") if ran.returncode == 0 and ran.stdout.strip() else (None, words(ran.stderr))


def differences(agent, env):
    """Returns the number of test points, and those that fail, each with its first words."""
    command = [sys.executable, *(str(HERE / word) for word in TESTS.get(agent, ["hooks_test.py"])), *([] if agent in TESTS else [agent])]
    try:
        said = subprocess.run(command, env=env, capture_output=True, text=True, timeout=TESTING_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode() + f"\nnot ok - the tests took longer than {TESTING_SECONDS} s"
    failed = re.findall(r"^not ok \d* ?- (.*)\n(?:# (.*))?", said + "\n", re.MULTILINE)
    return len(re.findall(r"^(?:not )?ok ", said, re.MULTILINE)), failed


def look_at(agent, line, package, version):
    """Prints one agent's part. True: nothing differs from the tested version; None: the test was not possible."""
    newest, why = ask_npm(package)
    if not newest:
        print(f"{agent}: npm cannot be asked for the newest {package}: {why}", flush=True)
        return None
    if newest == version:
        print(f"{agent} {newest}: the tested version is the newest", flush=True)
        return True
    with tempfile.TemporaryDirectory() as folder:
        pins = pathlib.Path(folder) / "versions.txt"
        others = VERSIONS.read_text(encoding="utf-8").replace(line, line.replace(f"@{version}", f"@{newest}", 1))
        pins.write_text(others, encoding="utf-8")
        env = {**os.environ, "TIDINGS_HOST_VERSIONS": str(pins), "TIDINGS_HOSTS_FULL": "1"}
        installed = subprocess.run([HERE / "install.sh", agent], env=env, capture_output=True, text=True, check=False)
        if installed.returncode:
            print(f"{agent} {newest} (tested: {version}): cannot be installed: {words(installed.stderr)}", flush=True)
            return None
        count, failed = differences(agent, env)
    print(f"{agent} {newest} (tested: {version}): {count - len(failed)} of {count} tests hold", flush=True)
    for name, what in failed:
        print(f"  differs: {name}\n    {what[:300]}", flush=True)
    return count > 0 and not failed


def main():
    agents = tested()
    wanted = sys.argv[1:] or list(agents)
    unknown = [agent for agent in wanted if agent not in agents]
    if unknown:
        print(f"latest.py: {', '.join(unknown)}: expected some of {', '.join(agents)}", file=sys.stderr)
        return 2
    results = [look_at(agent, *agents[agent]) for agent in wanted]
    return 77 if all(result is None for result in results) else 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
