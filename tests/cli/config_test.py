#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings config`: files in JSON and TOML, the project's over the user's, the origin of each value, and that an invalid file of a project does no
harm."""
import json
import os
import re
import sys

from kit import main

REFUSED = ["delivery.fence", "delivery.max_bytes", "critical.force", "limits.event_bytes", "turns.max_auto_turns", "turns.restart", "conversation.notifications.enable"]
WRONG_TOML = [
    ("[delivery\n", ["not TOML: line 1: expected ']'"]), ("a = 1\na = 2\n", ["line 2"]), ("a = 1979-05-27\n", ["a: JSON has no dates", "line 1, column 5"]),
    ("[delivery]\nmax_items = inf\n", ["delivery.max_items: inf", "line 2"]), ("x = [1, nan]\n", ["x[1]: nan"]), ("a = 9223372036854775808\n", ["line 1: an integer that does not fit into 64 bits"]),
    ('a = "\\u0000"\n', ["NUL character"]), ("a = 1\0", ["NUL byte"]), ("a = '\udcff'\n", ["line 1: not UTF-8"]), ("a.b = " + "[" * 99 + "]" * 99, ["line 1: nested too deep"]),
    (".".join("a" * 30000) + " = 1\n", ["more than 10 parts"]), ("a = " + "{a.a.a.a = " * 20 + "1" + "}" * 20, ["nested more than 16 deep"]),
    ("[delivery]\npreset = 'x'\n", ["delivery.preset: \"x\" is not one of"]), ("delivery.max_items = 1.0\n", ["delivery.max_items"]),
    ("[delivery]\nmax_items = -1\n", ["delivery.max_items: -1 is not an integer from 0"]), ("surprise = 1\n", ["surprise"]),
]
BOTH = ["one of them", "there are both"]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    return path


def shown(place, **more):
    return place.ok("config", "show", "--json", **more).json


def repository(place):
    """Makes a repository with a folder in it, and a session there."""
    os.mkdir(os.path.join(place.work, ".git"))
    inside = os.path.join(place.work, "src", "deep")
    os.makedirs(inside)
    place.opened(cwd=inside)
    return inside


def preview(place, **more):
    return place.ok("pending", "-s", "s", "--preview", "tool-result", **more).text


def test_toml(place):
    """a TOML file has the same effect as JSON, as the user's file and as a named one; a TOML and a JSON file beside each other are refused"""
    user = write(os.path.join(place.dir, ".config", "tidings", "config.toml"), """# a comment ..................................................................
delivery.preset = "balanced"
[conversation.notifications.kinds]
"tool.stopped" = false
mcp = {enable = true, reconnected = false}
[turns]
settle_delay_ms = 1_000
""")
    config = shown(place)["config"]
    same = {"delivery": {"preset": "balanced"}, "turns": {"settle_delay_ms": 1000},
            "conversation": {"notifications": {"kinds": {"tool.stopped": False, "mcp": {"enable": True, "reconnected": False}}}}}
    assert config == shown(place, env={"TIDINGS_CONFIG": write(os.path.join(place.dir, "c.json"), same)})["config"]
    assert config["delivery"]["fence"] == "nonce" and config["turns"]["settle_delay_ms"] == 1000, config
    assert place.ok("config", "check").text == user + ": ok\n"
    place.ok("push", "-s", "s", "x")
    json_file = write(os.path.join(place.dir, ".config", "tidings", "config.json"), "{}")
    for words in (["config", "check"], ["config", "show"], ["push", "-s", "s", "y"]):
        place.refused(*words, says=[*BOTH, user, json_file])
    found = {finding["topic"]: finding for finding in json.loads(place.run("doctor", "--json").out)}
    assert found["configuration"]["severity"] == "problem" and user in found["configuration"]["text"], found


def test_wrong_toml(place):
    """wrong TOML, or TOML that JSON cannot hold, is refused with the file, the place or key, and the reason"""
    path = os.path.join(place.dir, "c.toml")
    for text, says in WRONG_TOML:
        said = place.refused("config", "check", write(path, text), says=[path, *says]).said
        assert said.count("\n") == 1, said
    assert place.ok("config", "check", write(path, "")).text == path + ": ok\n", "an empty TOML file is an empty table"
    place.refused("config", "check", write(os.path.join(place.dir, "x.json"), "a = 1"), says=["not JSON", "line 1, column 1"])


def test_check_files(place):
    """check takes several files and names each that is wrong; a project's file may set only what projects may set"""
    good, bad = write(os.path.join(place.dir, "a.json"), {"limits": {"event_bytes": 4096}}), write(os.path.join(place.dir, "b.toml"), "x = 1")
    project = write(os.path.join(place.dir, "p", ".tidings.json"), {"limits": {"event_bytes": 4096}})
    result = place.refused("config", "check", good, bad, project, says=[f"{bad}: x: unknown", f"{project}: limits.event_bytes: a project may not set it"])
    assert result.text == good + ": ok\n", result
    assert place.ok("config", "check", good, write(project, {}), "--json").json == {"ok": True, "file": good, "files": [good, project]}


def test_project(place):
    """the nearest project's file up to the repository's root overrides the user's; show says where each value comes from"""
    inside = repository(place)
    user = write(os.path.join(place.dir, ".config", "tidings", "config.json"), {"delivery": {"preset": "balanced", "max_items": 3, "order": "time"}, "limits": {"event_bytes": 4096}})
    above = write(os.path.join(place.dir, ".tidings.json"), {"delivery": {"max_items": 99}})
    assert shown(place, cwd=inside)["config"]["delivery"]["max_items"] == 3, "outside of the repository"
    root = write(os.path.join(place.work, ".tidings.toml"), "delivery = {preset = 'xml', order = 'newest'}")
    answer = shown(place, cwd=inside)
    config, origins = answer["config"], answer["origins"]
    assert answer["files"] == [user, root]
    assert config["delivery"] | {"format": "xml", "place": "append", "order": "newest", "max_items": 3, "max_tokens": 0, "fence": "nonce"} == config["delivery"], config
    assert origins["/delivery/format"] == {"from": "preset", "preset": "xml", "file": root}
    assert origins["/delivery/order"] == {"from": "file", "file": root}
    assert origins["/delivery/max_items"] == {"from": "file", "file": user}
    assert origins["/delivery/fence"] == {"from": "preset", "preset": "balanced", "file": user}, "a preset of the project does not take the nonce away"
    assert origins["/delivery/max_tokens"] == {"from": "default"} and origins["/limits/event_bytes"] == {"from": "file", "file": user}
    text = place.ok("config", "show", cwd=inside).text
    rows = {row.split(" = ")[0]: row.split("# ")[1] for row in text.splitlines()}
    assert rows["delivery.format"] == f"preset xml, {root}" and rows["delivery.max_items"] == user and rows["turns.restart"] == "default", rows
    copy = write(os.path.join(place.dir, "copy.toml"), text)
    assert shown(place, env={"TIDINGS_CONFIG": copy, "TIDINGS_NO_PROJECT": "1"}, cwd=inside)["config"] == config, "what show prints is a configuration"
    nearer = write(os.path.join(inside, ".tidings.json"), {"delivery": {"order": "level"}})
    assert shown(place, cwd=inside)["files"] == [user, nearer] and shown(place, cwd=os.path.dirname(inside))["files"] == [user, root]
    assert place.ok("config", "check", cwd=inside).text == f"{user}: ok\n{nearer}: ok\n"
    assert shown(place, cwd=inside, env={"TIDINGS_NO_PROJECT": "1"})["files"] == [user]
    assert shown(place, cwd=place.dir)["files"] == [user, above], "without a repository the folder itself counts"
    os.mkdir(os.path.join(place.dir, "below"))
    assert shown(place, cwd=os.path.join(place.dir, "below"))["files"] == [user], "and none above it"


def test_session_folder(place):
    """the folder of the session decides, not that of the command; a change takes effect at the next call"""
    inside = repository(place)
    root = os.path.join(place.work, ".tidings.json")
    place.ok("push", "-s", "s", "seen")
    assert "<notification" not in preview(place, cwd=place.dir)
    write(root, {"delivery": {"preset": "xml"}})
    write(os.path.join(place.dir, ".tidings.json"), {"delivery": {"preset": "xml-batch"}})
    for folder in (inside, place.dir):
        assert "<notification " in preview(place, cwd=folder)
    os.remove(root)
    assert "<notification" not in preview(place, cwd=place.dir)
    write(root, {"turns": {"default_delivery": "steer"}, "conversation": {"notifications": {"kinds": {"push": "critical"}}}})
    assert "seen" in place.ok("pending", "-s", "s").text, "it is there"
    place.ok("submit", "-s", "s", "--id", "m1", "now", cwd=place.dir)
    place.ok("push", "-s", "nowhere", "x")
    write(os.path.join(place.dir, ".tidings.json"), {"delivery": {"preset": "xml"}})
    assert "<notification " in place.ok("pending", "-s", "nowhere", "--preview", "tool-result", cwd=place.dir).text, "nobody has said where that one is"


def test_wrong_project(place):
    """a wrong file of a project stops nothing: there is a warning, and the user's configuration applies; check and doctor report the file"""
    inside = repository(place)
    config = write(os.path.join(place.dir, "user.json"), {"delivery": {"preset": "xml"}})
    path = os.path.join(place.work, ".tidings.json")
    wrong = [("{", "not JSON: it ends"), ("{,}", "line 1, column 2"), ("[]", "not an object"), ("", "is empty"), ('{"delivery": 5}', "delivery: 5 is not an object"),
             ('{"delivery": {"preset": "flat", "max_items": "x"}}', "delivery.max_items"), ("{}" + " " * 65536, "more than 65536 bytes"), ("{}\0", "NUL byte"),
             ('{"delivery": {"order": "time", "order": "time"}}', "order"), ("[" * 40 + "]" * 40, ".tidings.json")]
    wrong += [('{"conversation": {"notifications": {"kinds": {"ci.done": false}}}}',
               'conversation.notifications.kinds.ci.done: a project may not turn off critical notifications; expected true or "critical"')]
    wrong += [(json.dumps(nested(key)), f"{key}: a project may not set it") for key in REFUSED]
    for number, (text, says) in enumerate(wrong):
        write(path, text)
        result = place.ok("push", "-s", "s", f"message {number}", env={"TIDINGS_CONFIG": config})
        assert says in result.said and path in result.said and "the user's is" in result.said and result.said.count("\n") == 1, (says, result)
        place.refused("config", "check", cwd=inside, says=[path, says])
        answer = place.ok("config", "show", "--json", cwd=inside, env={"TIDINGS_CONFIG": config})
        assert answer.json["config"]["delivery"]["format"] == "xml" and answer.json["files"] == [config] and says in answer.said, answer
        found = {finding["topic"]: finding for finding in json.loads(place.run("doctor", "--json", cwd=inside).out)}
        assert found["project"]["severity"] == "problem" and says in found["project"]["text"] and found["configuration"]["severity"] == "ok", found
    assert len(place.messages()) == len(wrong)
    assert "<notification " in preview(place, env={"TIDINGS_CONFIG": config})


def nested(key):
    value = {"delivery.fence": "none", "critical.force": False, "conversation.notifications.enable": False, "turns.restart": "hold"}.get(key, 2000)
    for name in reversed(key.split(".")):
        value = {name: value}
    return value


def test_odd_files(place):
    """config reads or refuses odd files: a FIFO, a folder, both files, a link to nothing, a link to a file, a worktree's .git"""
    inside = repository(place)
    path = os.path.join(place.work, ".tidings.json")
    os.mkfifo(path)
    place.refused("config", "check", cwd=inside, says=[path, "not a regular file"])
    assert "not a regular file" in place.ok("push", "-s", "s", "x").said
    os.remove(path)
    os.mkdir(path)
    place.refused("config", "check", cwd=inside, says=[path, "Is a directory"])
    os.rmdir(path)
    os.symlink(path, path)
    place.refused("config", "check", cwd=inside, says=[path, "symbolic links"])
    os.remove(path)
    os.symlink(os.path.join(place.dir, "nowhere"), path)
    assert "the defaults are in force" in place.ok("config", "check", cwd=inside).text
    write(os.path.join(place.dir, "nowhere"), {"delivery": {"max_items": 7}})
    assert shown(place, cwd=inside)["config"]["delivery"]["max_items"] == 7
    toml = write(os.path.join(place.work, ".tidings.toml"), "")
    place.refused("config", "check", cwd=inside, says=[*BOTH, path, toml])
    assert "there are both" in place.ok("push", "-s", "s", "y").said and len(place.messages()) == 2
    os.remove(path)
    os.rmdir(os.path.join(place.work, ".git"))
    write(os.path.join(place.work, ".git"), "gitdir: elsewhere\n")
    assert shown(place, cwd=inside)["files"] == [toml]
    os.remove(os.path.join(place.work, ".git"))
    assert shown(place, cwd=inside)["files"] == []


def test_page(place):
    """the examples in TOML of docs/configuration.md do what the page says"""
    inside = repository(place)
    with open(os.path.join(os.environ["TIDINGS_SOURCE_DIR"], "docs", "configuration.md"), encoding="utf-8") as file:
        user, project = re.findall(r"^```toml\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    write(os.path.join(place.dir, ".config", "tidings", "config.toml"), user)
    config = shown(place, cwd=inside)["config"]
    assert config["delivery"]["max_items"] == 5 and config["delivery"]["fence"] == "nonce" and config["turns"]["settle_delay_ms"] == 2000, config
    assert config["conversation"]["notifications"]["kinds"] == {"tool.stopped": False, "mcp": {"enable": True, "reconnected": False}}, config
    write(os.path.join(inside, ".tidings.toml"), project)
    config = shown(place, cwd=inside)["config"]
    assert config["delivery"] | {"format": "xml", "max_items": 20, "fence": "nonce", "annihilate": False} == config["delivery"], config
    assert config["conversation"]["notifications"]["kinds"]["file"] == "critical" and "mcp" in config["conversation"]["notifications"]["kinds"], config


def test_run(place):
    """`run` reports in a project as it does elsewhere"""
    inside = repository(place)
    write(os.path.join(place.work, ".tidings.toml"), "turns.discipline = 'coalescing'\n")
    place.ok("run", "-s", "s", "--", "true", cwd=inside)
    assert len(place.pending()) == 1 and not place.ok("run", "-s", "s", "--", "true", cwd=inside).said.count("configuration")



def test_editors(place):
    """a JSON file may name its schema and have comments; lines and columns of errors stay those of the file"""
    path = os.path.join(place.work, "config.json")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    write('{ // of mine\n  "$schema": "https://tidings.invalid/schema/config.schema.json",\n  /* how "it" is // written */ "delivery": {"preset": "xml", "max_items": 7, /* x */ },\n}\n// end')
    shown = place.ok("config", "show", "--json", "--config", path).json
    assert shown["config"]["delivery"]["preset"] == "xml" and shown["config"]["delivery"]["max_items"] == 7, shown
    assert "$schema" not in shown["config"], shown
    os.mkdir(os.path.join(place.work, ".git"))
    with open(os.path.join(place.work, ".tidings.json"), "w", encoding="utf-8") as file:
        file.write('{"$schema": "./x.json", "delivery": {"max_items": 3}} // ours')
    assert place.ok("config", "show", "--json", "--config", path).json["config"]["delivery"]["max_items"] == 3
    os.unlink(os.path.join(place.work, ".tidings.json"))
    for text, says in (('{"$schema": 7}', "$schema"), ('{\n  // a comment\n  "delivery": {"preset" "xml"}}', "line 3, column 25"),
                       ('{"delivery": /* does not end', "not JSON"), ('{"delivery": {"preset": "a // b"}}', '"a // b"'), ("{,}", "not JSON")):
        write(text)
        place.refused("config", "check", path, says=says)


def test_schema(place):
    """the schema describes each key, and its defaults are those of the plugin"""
    schema = place.ok("config", "schema").json
    in_force = place.ok("config", "show", "--json").json["config"]
    missing, wrong, seen = [], [], []

    def look(where, node, value):
        for name, key in node.get("properties", {}).items():
            at = f"{where}.{name}"
            if "description" not in key:
                missing.append(at)
            if at == ".$schema":
                continue
            seen.append(at)
            if "default" not in key:
                missing.append(f"{at}: default")
            elif key["type"] != "object" if "type" in key else True:
                if value[name] != key["default"]:
                    wrong.append((at, value[name], key["default"]))
            look(at, key, value[name])

    look("", schema, in_force)
    assert len(seen) > 35 and not missing and not wrong, (missing, wrong)
    assert schema["$id"].startswith("https://") and schema["$id"].endswith("/config.schema.json"), schema["$id"]


def test_of_session(place):
    """config show -s shows the configuration of the session's agent and folder; without -s it shows that of the current folder"""
    there = os.path.join(place.dir, "there")
    os.makedirs(os.path.join(there, ".git"))
    with open(os.path.join(there, ".tidings.json"), "w", encoding="utf-8") as file:
        json.dump({"delivery": {"max_items": 4}}, file)
    place.event("session.opened", {"cwd": there, "host": "Claude Code"}, "claude", os.getpid())
    place.opened("other")
    shown = place.ok("config", "show", "-s", "claude", "--json").json
    assert shown["config"]["delivery"]["preset"] == shown["config"]["delivery"]["format"] == "plain" and shown["config"]["delivery"]["max_items"] == 4, shown
    assert shown["origins"]["/delivery/preset"] == {"from": "hooks", "agent": "Claude Code"} and shown["agent"] == "Claude Code" and shown["room"] > 1000, shown
    assert shown["origins"]["/delivery/format"] == {"from": "preset", "preset": "plain", "agent": "Claude Code"}, shown["origins"]
    assert shown["origins"]["/delivery/max_items"]["file"].endswith("/there/.tidings.json") and len(shown["files"]) == 1, shown
    text = place.ok("config", "show", "-s", "claude").text
    assert text.startswith(f"# session claude in {there}\n# the hooks of Claude Code give it at most ") and "# hooks of Claude Code" in text, text
    assert place.ok("config", "show", "-s", "other", "--json").json["config"] == place.ok("config", "show", "--json").json["config"]
    assert place.ok("config", "show", "--json").json["config"]["delivery"]["preset"] == "grouped"
    place.refused("config", "show", "-s", "nobody", says="nobody")


if __name__ == "__main__":
    sys.exit(main(globals()))
