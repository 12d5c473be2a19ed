#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings setup mcp HOST`: the entry, the wrapped servers, and --remove, which restores every byte."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from kit import TIDINGS, main, until  # pylint: disable=wrong-import-position
from reach_walks_test import typed  # pylint: disable=wrong-import-position

from host import SERVER, Host  # pylint: disable=wrong-import-position

FILES = {"amp": (".config/amp/settings.json", "amp.mcpServers"), "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
         "cursor": (".cursor/mcp.json", "mcpServers"), "lmstudio": (".lmstudio/mcp.json", "mcpServers"),
         "vscode": (".config/Code/User/mcp.json", "servers"), "zed": (".config/zed/settings.json", "context_servers")}
BEFORE = """// mine
{
  "theme": "dark", // of the editor
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": ["mcp-server-git", "--repository", "/src \\u00e9"],
      "env": {"A": "1"}
    },
    "remote": {"url": "https://example.org/mcp"},
    "bare": {"command": "/opt/bare server"}, // no arguments
  },
}
"""


def place_file(place, host, text=None):
    path = os.path.join(place.dir, FILES[host][0])
    if text is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_entry(place):
    """each host gets its entry in its own file, a second run changes nothing, and --remove takes the entry out"""
    for host, (_, member) in FILES.items():
        path = place_file(place, host)
        shown = place.ok("setup", "mcp", host, "--dry-run").text
        assert "+" in shown and not os.path.exists(path), shown
        assert ("the agent was not run" in place.ok("setup", "mcp", host).text) == (host not in ("amp", "cline"))
        entry = json.loads(read(path))[member]["tidings"]
        assert entry["command"].endswith("tidings") and entry["args"] == ["mcp"] and entry.get("type") == ("stdio" if host == "vscode" else None), entry
        assert place.ok("setup", "mcp", host).text == "Nothing changed.\n"
        place.ok("setup", "mcp", host, "--remove")
        assert not os.path.exists(path), read(path)
        assert place.ok("setup", "mcp", host, "--remove").text == "Nothing changed.\n"


def test_wrap(place):
    """--wrap puts tidings before the commands in the file, and --remove restores the file to the byte"""
    path = place_file(place, "cursor", BEFORE)
    place.ok("setup", "mcp", "cursor", "--wrap")
    after = read(path)
    for piece in ('"args": ["mcp", "--", "uvx", "mcp-server-git", "--repository", "/src \\u00e9"]', '"args": ["mcp", "--", "/opt/bare server"]', "// of the editor",
                  '"env": {"A": "1"}', '"remote": {"url": "https://example.org/mcp"}'):
        assert piece in after, (piece, after)
    assert place.ok("setup", "mcp", "cursor", "--wrap").text == "Nothing changed.\n"
    place.ok("setup", "mcp", "cursor")
    assert '"tidings": {"command"' in read(path)
    place.ok("setup", "mcp", "cursor", "--remove")
    assert read(path) == BEFORE, read(path)


def test_every_byte(place):
    """--remove restores lists and objects that a person has left empty or written in another form"""
    for host, texts in (("lmstudio", ('{\n  "mcpServers": {}\n}\n', '{"a": 1, "mcpServers": { }}', '{"mcpServers": {"x": {"command": "npx", "args": [\n    "-y",\n    "x"\n  ]}, "y": {"command": "y", "args": []}}}')),
                        ("goose", ("extensions:\n", "a: 1\nextensions: {}\nb: 2\n"))):
        for text in texts:
            path = place_file(place, host, text) if host != "goose" else goose_file(place, text)
            for words in ((), ("--wrap",)):
                place.ok("setup", "mcp", host, *words)
                assert ("tidings" in read(path)) or words, read(path)
            place.ok("setup", "mcp", host, "--remove")
            assert os.path.exists(path) and read(path) == text and not os.path.exists(path + ".before-tidings"), (text, os.listdir(os.path.dirname(path)))


def test_remove_after_edits(place):
    """--remove keeps later changes by a person"""
    path = place_file(place, "cursor", BEFORE)
    place.ok("setup", "mcp", "cursor", "--wrap")
    place_file(place, "cursor", read(path).replace("dark", "light"))
    place.ok("setup", "mcp", "cursor", "--remove")
    text = read(path)
    assert '"light"' in text and '"command": "uvx"' in text and '"args": ["mcp-server-git", "--repository", "/src \\u00e9"]' in text and "tidings" not in text, text


def test_places(place):
    """setup finds the file that the agent would read: by a variable, in an older folder, or as a file with comments"""
    for host, env, path in (("amp", {"AMP_SETTINGS_FILE": "{}/amp.json"}, "amp.json"), ("amp", {"XDG_CONFIG_HOME": "{}/x"}, "x/amp/settings.json"),
                            ("cline", {"CLINE_MCP_SETTINGS_PATH": "{}/c.json", "CLINE_DIR": "/none"}, "c.json"), ("cline", {"CLINE_DIR": "{}/d"}, "d/data/settings/cline_mcp_settings.json"),
                            ("cline", {"CLINE_DATA_DIR": "{}/e", "CLINE_DIR": "/none"}, "e/settings/cline_mcp_settings.json"), ("goose", {"GOOSE_PATH_ROOT": "{}/g"}, "g/config/config.yaml")):
        place.ok("setup", "mcp", host, env={name: value.format(place.dir) for name, value in env.items()})
        assert "tidings" in read(os.path.join(place.dir, path)), (host, env)
    with_comments = place_file(place, "amp", "{ // mine\n}\n") + "c"
    os.rename(with_comments[:-1], with_comments)
    place.ok("setup", "mcp", "amp")
    assert "// mine" in read(with_comments) and "tidings" in read(with_comments) and not os.path.exists(with_comments[:-1])
    os.makedirs(os.path.join(place.dir, ".cache", "lm-studio"))
    place.ok("setup", "mcp", "lmstudio")
    assert "tidings" in read(os.path.join(place.dir, ".cache", "lm-studio", "mcp.json"))
    with open(os.path.join(place.dir, ".lmstudio-home-pointer"), "w", encoding="utf-8") as file:
        file.write(os.path.join(place.dir, "studio") + "\n")
    place.ok("setup", "mcp", "lmstudio")
    assert "tidings" in read(os.path.join(place.dir, "studio", "mcp.json"))


def test_transport(place):
    """Cline keeps the command of a server in an object of its own"""
    before = '{"mcpServers": {"a": {"transport": {"type": "stdio", "command": "npx", "args": ["-y", "x"]}}, "b": {"transport": {"type": "sse", "url": "https://example.org"}}}}\n'
    path = place_file(place, "cline", before)
    place.ok("setup", "mcp", "cline", "--wrap")
    servers = json.loads(read(path))["mcpServers"]
    assert servers["a"]["transport"]["args"] == ["mcp", "--", "npx", "-y", "x"] and servers["a"].keys() == {"transport"} and "command" not in servers["b"]["transport"], servers
    assert place.ok("setup", "mcp", "cline", "--wrap").text == "Nothing changed.\n"
    place.ok("setup", "mcp", "cline", "--remove")
    assert read(path) == before


GOOSE = """# mine
GOOSE_PROVIDER: anthropic
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  fetch:
    args:
    - -y
    - '@example/server-fetch'
    # between them
    cmd: npx
    enabled: true
    type: stdio

  bare: # no arguments
    type: stdio
    cmd: "/opt/bare server" # a path
    args: []
    timeout: 300
  flow:
    cmd: uvx
    args: [mcp-server-git, "--repository", '/src']
    type: stdio
  remote:
    type: streamable_http
    uri: https://example.org/mcp
GOOSE_MODE: auto
"""


def goose_file(place, text=None):
    FILES["goose"] = (".config/goose/config.yaml", "extensions")
    return place_file(place, "goose", text)


def test_goose(place):
    """goose's YAML gets the entry and the wrapped servers line by line, and --remove restores the file to the byte"""
    path = goose_file(place, GOOSE)
    assert "+    cmd: " in place.ok("setup", "mcp", "goose", "--wrap", "--dry-run").text and read(path) == GOOSE
    place.ok("setup", "mcp", "goose", "--wrap")
    after = read(path)
    program = re.findall(r'^    cmd: (".*/tidings")$', after, re.M)[0]
    for piece in ("    args:\n    - mcp\n    - \"--\"\n    - npx\n    - -y\n    - '@example/server-fetch'\n    # between them\n    cmd: " + program + "\n",
                  f'    cmd: {program} # a path\n    args: ["mcp", "--", "/opt/bare server"]\n', '    args: ["mcp", "--", uvx, mcp-server-git, "--repository", \'/src\']\n', "    type: builtin\n    name: developer\n"):
        assert piece in after, (piece, after)
    assert place.ok("setup", "mcp", "goose", "--wrap").text == "Nothing changed.\n"
    place.ok("setup", "mcp", "goose")
    assert '  tidings:\n    type: stdio\n' in read(path) and "mcp\n  tidings:" in read(path) and read(path).endswith("GOOSE_MODE: auto\n"), read(path)
    assert place.ok("setup", "mcp", "goose").text == "Nothing changed.\n"
    place.ok("setup", "mcp", "goose", "--remove")
    assert read(path) == GOOSE
    os.unlink(path)
    place.ok("setup", "mcp", "goose")
    assert read(path).startswith("extensions:\n  tidings:\n")
    place.ok("setup", "mcp", "goose", "--remove")
    assert not os.path.exists(path)


def test_goose_forms(place):
    """YAML in another form is left alone or refused; --remove keeps edits of a person"""
    for text, says in (("extensions: [a]\n", "is not written as a block"), ("extensions:\n  tidings:\n    cmd: other\n", "there is a server 'tidings' already")):
        path = goose_file(place, text)
        place.refused("setup", "mcp", "goose", says=says)
        assert read(path) == text
    text = "a: 1\nextensions: {}\nb: 2\n"
    path = goose_file(place, text)
    place.ok("setup", "mcp", "goose")
    assert read(path).startswith("a: 1\nextensions: \n  tidings:\n") and read(path).endswith("b: 2\n"), read(path)
    text = "extensions:\n  odd:\n    cmd: >\n      npx\n    args:\n      - x\n  several:\n    cmd: npx\n    args: [a,\n      b]\n  nested:\n    config:\n      cmd: npx\n      args: []\n"
    path = goose_file(place, text)
    assert place.ok("setup", "mcp", "goose", "--wrap").text == "Nothing changed.\n" and read(path) == text
    path = goose_file(place, GOOSE)
    place.ok("setup", "mcp", "goose", "--wrap")
    goose_file(place, read(path).replace("timeout: 300", "timeout: 60"))
    place.ok("setup", "mcp", "goose", "--remove")
    assert read(path) == GOOSE.replace("timeout: 300", "timeout: 60"), read(path)


def test_other_names(place):
    """a program whose path has a quote is recognized again in each form of file; a program with another name is refused, because it would wrap itself again and again"""
    folder, other = os.path.join(place.dir, 'a "b" \\c'), os.path.join(place.dir, "tid")
    os.mkdir(folder)
    os.symlink(TIDINGS, os.path.join(folder, "tidings"))
    shutil.copy2(TIDINGS, other)
    goose_file(place, GOOSE)
    place_file(place, "cline", BEFORE)
    for host, before in (("goose", GOOSE), ("cline", BEFORE)):
        path = place_file(place, host)
        words = ("setup", "mcp", host, "--wrap")
        env = {"PATH": f"{folder}:{place.env['PATH']}"}
        place.ok(*words, env=env)
        assert '\\"b\\"' in read(path), read(path)
        assert place.ok(*words, env=env).text == "Nothing changed.\n"
        place.ok("setup", "mcp", host, "--remove", env=env)
        assert read(path) == before
        done = subprocess.run([other, *words], cwd=place.work, env=place.env, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "needs one called 'tidings'; nothing was changed" in done.stderr and read(path) == before, done


def test_same_name(place):
    """servers of the same name, of which agents know the last one, are wrapped once each and unwrapped again"""
    before = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "args": ["1"]}, "a": {"command": "z", "args": ["2"]}}}\n'
    path = place_file(place, "cline", before)
    place.ok("setup", "mcp", "cline", "--wrap")
    assert read(path).count('"mcp", "--"') == 3 and json.loads(read(path))["mcpServers"]["a"] == {"command": TIDINGS, "args": ["mcp", "--", "z", "2"]}, read(path)
    assert place.ok("setup", "mcp", "cline", "--wrap").text == "Nothing changed.\n"
    os.remove(path + ".before-tidings")
    place.ok("setup", "mcp", "cline", "--remove")
    assert json.loads(read(path)) == json.loads(before) and "tidings" not in read(path), read(path)


def test_walk(place):
    """the walk of docs/mcp.md works with an agent that reads Zed's file and starts the servers in it"""
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "mcp.md"), encoding="utf-8") as file:
        section = file.read().split("\n## A walk for an agent without hooks\n", 1)[1].split("\n## ", 1)[0]
    install, tell, shown, remove = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    before = json.dumps({"context_servers": {"echo": {"command": SERVER[0], "args": SERVER[1:]}}})
    path = place_file(place, "zed", before)
    typed(place, install)
    hosts = [Host(place, [server["command"], *server["args"]], bare=True) for server in json.loads(read(path))["context_servers"].values()]
    for host, tool in zip(hosts, ("echo", "news")):
        host.call(tool)
    until(lambda: place.run("sessions").code == 0 and "setup_mcp_test-" in typed(place, "tidings sessions"), "the session")
    typed(place, tell)
    results = []
    until(lambda: results.extend(text for host, tool in zip(hosts, ("echo", "news")) for text in host.texts(tool)) or any("lint" in text for text in results), "the block")
    assert [text.strip() for text in results if "lint" in text] == [shown.strip()], results
    assert all(host.end() == 0 for host in hosts)
    assert "lint failed" in typed(place, "tidings history") and "delivered" in typed(place, "tidings history"), typed(place, "tidings history")
    typed(place, remove)
    assert read(path) == before


def test_refused(place):
    """a file that cannot be read, or that has such a server already, is refused with the reason, and nothing is changed"""
    for text, says in (('{"mcpServers": ', "not JSON"), ('{"mcpServers": []}', "mcpServers: expected an object"), ("[]", "expected a JSON object"),
                       ("// only words\n", "holds comments only"), ('{"mcpServers": {"tidings": {"command": "other"}}}', "there is a server of that name already")):
        path = place_file(place, "cursor", text)
        place.refused("setup", "mcp", "cursor", says=says)
        assert read(path) == text
    place.refused("setup", "mcp", "emacs", code=2, says="'emacs' is not one of amp")
    place.refused("setup", "mcp", code=2, says="mcp and HOST are")
    place.refused("setup", "mcp", "zed", "--wrap", "--remove", code=2, says="exclude each other")
    place.refused("setup", "mcp", "zed", "--no-wake", code=2, says="not for 'setup mcp'")
    place.refused("setup", "claude", "--wrap", code=2, says="--wrap is for")


if __name__ == "__main__":
    sys.exit(main(globals()))
