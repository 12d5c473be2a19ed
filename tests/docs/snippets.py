#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""snippets.py: the pieces of Python and JavaScript in docs/embedding.md are run as they stand there, against this build, with news pending: what they put together
must be what they say. The whole hosts are run by run_languages.sh. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))
# Where the page's installation has what this build has elsewhere.
ELSEWHERE = {"/usr/local/lib/tidings/tidings.so": BUILD / "tidings.so",
             "/usr/local/lib/tidings/node/tidings.node": BUILD / "tidings.node"}


def snippet(language):
    text = (SOURCE / "docs" / "embedding.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{len(found)} blocks of {language}"
    for there, here in ELSEWHERE.items():
        found[0] = re.sub(rf'"{re.escape(there)}"', f'"{here}"', found[0])
    return found[0]


def run(folder, program, name, text):
    """What the program prints in a home in which news waits for the session."""
    env = {**os.environ, "HOME": folder, "XDG_STATE_HOME": folder, "TIDINGS_HOSTKIT": str(BUILD / "libtidings-hostkit.so.1"),
           "TIDINGS_HOSTKIT_PROBE": str(BUILD / "tidings-hostkit-probe"), "PYTHONPATH": str(SOURCE / "bindings" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([BUILD / "tidings", "push", "-s", "s", "--create", "-l", "error", "The build failed."], env=env, check=True)
    path = pathlib.Path(folder, name)
    path.write_text(text, encoding="utf-8")
    ran = subprocess.run([*program, path], env=env, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0 and not ran.stderr, ran
    return ran.stdout


def python(folder):
    """the piece of Python puts the news before the result"""
    text = snippet("python") + "\nprint(delivery.id is not None)\n"
    said = run(folder, [sys.executable], "piece.py", text)
    assert re.search(r"- The build failed\.\n---\n\na\.c\nTrue\n$", said), said


def javascript(folder):
    """the piece of JavaScript finds the news in the reply, and settles it"""
    ran = subprocess.run([SOURCE / "tests" / "agents" / "hosts" / "install.sh", "node20"], capture_output=True, text=True, check=False)
    if ran.returncode:
        return f"no Node can be had: {ran.stderr.strip()}"
    text = snippet("js") + '\nconsole.log(JSON.parse(json).messages[0].text, tidings.query(\'{"name": "pending", "session": "s"}\'));\ntidings.close();\n'
    said = run(folder, [pathlib.Path(ran.stdout.strip(), "node_modules", ".bin", "node")], "piece.mjs", text)
    assert "- The build failed." in said and re.search(r'"count": ?0', said) and re.search(r'"leased": ?0', said), said
    return None


def main():
    failures = 0
    for number, scenario in enumerate((python, javascript), 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                skipped = scenario(folder)
            except AssertionError as error:
                failures += 1
                print(f"not ok {number} - {scenario.__doc__}")
                for line in str(error).splitlines():
                    print(f"# {line}")
            else:
                print(f"ok {number} - {scenario.__doc__}" + (f" # SKIP {skipped}" if skipped else ""))
    print("1..2")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
