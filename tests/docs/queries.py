#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""queries.py: checks that the plugin's table, query.h, the schema and docs/queries.md have the same queries, that the page's requests and answers are
valid by the schema, and that they are real: hostsim plays the page's session and compares the plugin's answers. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))
sys.path.insert(0, str(SOURCE / "tests" / "abi"))
from schemas import load, part_of  # noqa: E402


def blocks(text):
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def examples(page, names):
    """Reads the page: the session's steps, and for each query its request and its answer."""
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    return blocks(sections["The session of the examples"])[0], {
        name: blocks(section) for name, section in sections.items() if name in names}


def invalid(schemas, shown):
    for name, (request, answer) in shown.items():
        for judge, value in ((f"/$defs/requests/{name}", request), (f"/$defs/answers/{name}", answer)):
            for error in part_of(schemas, "query", judge).iter_errors(value):
                yield f"{judge}: {error.json_path}: {error.message}"


def without_pids(value):
    """Removes pids, which differ in each run."""
    if isinstance(value, list):
        return [without_pids(item) for item in value]
    if isinstance(value, dict):
        return {key: without_pids(item) for key, item in value.items() if key != "pid"}
    return value


def played(steps, shown):
    """Finds differences between the page and the plugin's answers."""
    queries = [{"query": request, "expect": without_pids(answer)} for request, answer in shown.values()]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "page.json")
        path.write_text(json.dumps({"name": "the page", "host_name": "Aster", "steps": steps + queries}), encoding="utf-8")
        ran = subprocess.run([BUILD / "hostsim", "run", "--plugin", os.environ["TIDINGS_PLUGIN"], path],
                             capture_output=True, text=True, check=False)
    return [] if ran.returncode == 0 else ran.stdout.splitlines() + ran.stderr.splitlines()


def lists(schema, page):
    """Returns the queries that each file lists: all of them, and those that take a session."""
    code = (SOURCE / "plugin" / "query" / "request.c").read_text(encoding="utf-8")
    words = dict(re.findall(r'\[(QUERY_\w+)\] = "(\w+)"', code))
    yield "plugin/query/request.c", set(words.values()), {
        words[name] for name, members in re.findall(r"\[(QUERY_\w+)\] = (1 <<[^,;]*),", code) if re.search(r"\bSESSION\b", members)}
    header = " ".join(re.sub(r"^ \* ?", "", (SOURCE / "abi/tidings/query.h").read_text(encoding="utf-8"), flags=re.MULTILINE).split())
    of_session, of_store = (set(re.search(text + r": ([a-z, ]*)\.", header)[1].split(", "))
                            for text in ("These names are about a session", "take no session"))
    yield "abi/tidings/query.h", of_session | of_store, of_session
    yield "abi/schema/query.schema.json, requests", set(schema["$defs"]["requests"]), {
        name for name, one in schema["$defs"]["requests"].items() if "session" in one["properties"]}
    root = {one["$ref"].rpartition("/")[2] for one in schema["oneOf"]}
    yield "abi/schema/query.schema.json, its root", root, None
    yield "abi/schema/query.schema.json, answers", set(schema["$defs"]["answers"]), None
    listed = set(re.findall(r"^- \[`(\w+)`\]\(#\w+\): ", page, re.MULTILINE))
    yield "the list of docs/queries.md", listed, None


def disagreements(schema, page):
    (_, names, with_session), *others = lists(schema, page)
    for where, found, found_session in others:
        yield from (f"{where} does not have {name}, which the plugin has" for name in sorted(names - found))
        yield from (f"{where} has {name}, which the plugin does not have" for name in sorted(found - names))
        if found_session is not None:
            yield from (f"{where} and the plugin do not agree whether {name} takes a session" for name in sorted(found_session ^ with_session))


def main():
    schemas = {name: load(SOURCE, "abi", "schema", f"{name}.schema.json") for name in ("event", "config", "reply", "query")}
    names = set(schemas["query"]["$defs"]["answers"])
    page = (SOURCE / "docs" / "queries.md").read_text(encoding="utf-8")
    steps, shown = examples(page, names)
    checks = [
        ("the plugin, the header, the schema and the page have the same queries", list(disagreements(schemas["query"], page))),
        ("the page shows each query of the schema, with a request and an answer",
         [f"{name} is missing" for name in names - set(shown)] +
         [f"{name} has {len(found)} blocks" for name, found in shown.items() if len(found) != 2]),
    ]
    if not checks[1][1]:
        checks += [("its requests and answers are valid by the schema", list(invalid(schemas, shown))),
                   ("the plugin answers what the page shows", played(steps, shown))]
    for number, (title, findings) in enumerate(checks, 1):
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
        for finding in findings:
            print(f"# {finding}")
    print(f"1..{len(checks)}")
    return int(any(findings for _, findings in checks))


if __name__ == "__main__":
    sys.exit(main())
