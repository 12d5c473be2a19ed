# SPDX-License-Identifier: MIT
"""page.py: uses docs/fleet.md like a reader: it types the commands of the walk and compares their output with the page, and runs the monitoring
queries on the walk's store. Only the server's own commands run as another user, because root may not run them.
"""
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

OF_THE_SERVER = ("initdb", "pg_ctl")
END = "-- end of a block --"


def section(page, title):
    return re.search(rf"^## {title}\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)[1]


def blocks(text):
    """Returns (commands, output) of each block of sh; None: the page shows no output."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for number, (language, block) in enumerate(found):
        if language == "sh":
            after = found[number + 1] if number + 1 < len(found) else ("", "")
            yield block, after[1] if after[0] == "text" else None


class Reader:
    """The reader's shell."""

    def __init__(self, home):
        self.home = home
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("TIDINGS", "XDG", "PG"))}
        self.env |= {"HOME": home, "PATH": f"{kit.BUILD}:{os.environ['PATH']}"}
        self.shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.env, cwd=home)

    def type(self, commands):
        self.shell.stdin.write(f"{commands}\necho '{END}'\n")
        self.shell.stdin.flush()
        printed = []
        for line in self.shell.stdout:
            if line.strip() == END:
                break
            if not re.search(r"line \d+: +\d+ (Killed|Terminated)", line):
                printed.append(line)
        return "".join(printed)

    def type_as_server(self, commands):
        """Runs programs that refuse to run as root. The server's log is a file, so that the server does not keep these pipes open."""
        account = pwd.getpwnam("nobody")
        demoted = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        path = f"{kit.programs()}:{self.env['PATH']}"
        return subprocess.run(["bash", "-ec", commands], cwd="/", env=self.env | {"PATH": path}, stdout=subprocess.DEVNULL, check=False, **demoted).returncode

    def close(self):
        self.shell.stdin.close()
        self.shell.wait(60)


def alike(text, home):
    return re.sub(r"\bpid \d+", "pid N", text.replace(home, "$HOME"))


def walk(reader, page):
    for commands, prints in blocks(section(page, "A walk")):
        if commands.startswith(OF_THE_SERVER):
            expect(reader.type_as_server(commands) == 0, f"typed: {commands.splitlines()[0]}")
            continue
        if "store drop" in commands:
            monitor(reader, page)
        printed = alike(reader.type(commands), reader.home)
        expect(printed == alike(prints or "", reader.home), f"typed: {commands.splitlines()[-1]}")
        if printed != alike(prints or "", reader.home):
            print("".join(f"# {line}\n" for line in printed.splitlines()))


def monitor(reader, page):
    queries = re.findall(r"^```sql\n(.*?)^```$", section(page, "Running it"), re.MULTILINE | re.DOTALL)
    expect(len(queries) > 5, f"{len(queries)} monitoring queries")
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "grafana", "fleet.json"), encoding="utf-8") as file:
        queries += [panel["targets"][0]["rawSql"] for panel in json.load(file)["panels"]]
    for query in queries:
        done = subprocess.run([os.path.join(kit.programs(), "psql"), "-XAtq", "-h", os.path.join(reader.home, "fleet"), "-U", "fleet", "postgres", "-v", "ON_ERROR_STOP=1", "-c", query],
                              capture_output=True, text=True, check=False)
        expect(not done.returncode, f"{' '.join(query.split())[:70]}…: {(done.stdout or done.stderr).strip()[:60]!r}")
        if "ORDER BY waiting" in query:
            expect("deploy|0" in done.stdout, "it knows the walk's session")


def main():
    kit.programs()
    home = tempfile.mkdtemp(prefix="tidings-walk-", dir="/tmp")  # a socket's path is short
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody")
        os.chown(home, account.pw_uid, account.pw_gid)
    reader = Reader(home)
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "fleet.md"), encoding="utf-8") as file:
        page = file.read()
    try:
        walk(reader, page)
    finally:
        reader.close()
        if os.path.exists(os.path.join(home, "fleet", "data", "postmaster.pid")):
            reader.type_as_server("pg_ctl -D ~/fleet/data -m immediate stop")
        shutil.rmtree(home, ignore_errors=True)
    print(f"# sum: docs/fleet.md: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
