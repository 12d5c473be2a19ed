#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""arguments.py SOURCE_DIR: follows a tool result's arguments. Prints TAP.

It follows the calls from on_tool_result through the plugin and finds every place where one folder
hands the session, the call's id or the tool's name to another. Each must be handed over in one place; ALTERNATIVES names those with several
alternative places. docs/architecture.md has the list.
`arguments.py --self-test` gives the rules something to find.
"""
import os
import re
import sys

START = "on_tool_result"
# This function works for earlier calls, with their arguments.
NOT_FOLLOWED = {"flow_settle_remembered"}
# An argument in any of its structs; op->name is the session.
FIELD = re.compile(r"\b(?:(?:result|carrier)(?:\.|->)(session|call_id|tool|content)|delivery(?:\.|->)(call_id|tool)|op(?:\.|->)(name))\b")
# Structs that one folder hands to another, with the arguments that they have.
STRUCTS = {("entry", "carrier"): ("session", "call_id", "tool"), ("flow", "delivery"): ("call_id", "tool")}
EVERYBODYS = ("common",)  # quoting, comparing
# (from, to, argument) -> the alternative places, each with its reason.
ALTERNATIVES = {
    **{("flow", "store", argument): {"delivery_add": "the delivery's row", "delivery_id": "the id of that row, for the reply, or to take it back when the outcome is unknown"}
       for argument in ("call_id", "tool")},
    ("session", "store", "session"): {"session_find": "a session that this process does not know",
                                      "session_add": "one that the store does not know either"},
    ("session", "instance", "session"): {"session_table_find": "for callers who have not looked",
                                         "session_table_add": "a session that is known from now on",
                                         "configuration_nonce": "on the way out: part of the fence"},
}
DEFINITION = re.compile(r"^[a-z][^;{}()=#]*?\b(\w+)\(([^;{}]*)\)\s*\{$(.*?)^\}", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"\b([a-z]\w*)\(")


def box(path):
    return path.split("/")[1] if path.startswith("plugin/") else path.split("/")[0]


def definitions(texts):
    """Returns name -> [(path, body)]."""
    found = {}
    for path, text in texts.items():
        code = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)
        for match in DEFINITION.finditer(code):
            found.setdefault(match[1], []).append((path, match[3]))
    return found


def arguments_of(body, at):
    depth = 1
    for place in range(at, len(body)):
        depth += (body[place] in "([{") - (body[place] in ")]}")
        if not depth:
            return body[at:place]
    return ""


def calls(body):
    """Yields (callee, its arguments) of each call, without the arguments of calls inside of these."""
    for match in CALL.finditer(body):
        text = arguments_of(body, match.end())
        for inner in CALL.finditer(text):
            taken = arguments_of(text, inner.end())
            text = text.replace(taken, " " * len(taken), 1)
        yield match[1], text


def target(name, path, known):
    """Finds the callee: in the same file, or in the only file that has it."""
    places = known.get(name, [])
    same = [place for place in places if place[0] == path]
    return (same or (places if len(places) == 1 else [None]))[0]


def reached(known):
    """Returns (name, path) -> body of all functions that on_tool_result may call."""
    found, waiting = {}, [(START, place) for place in known.get(START, [])]
    while waiting:
        name, (path, body) = waiting.pop()
        if (name, path) in found:
            continue
        found[name, path] = body
        for callee, _ in calls(body):
            place = target(callee, path, known)
            if place and callee not in NOT_FOLLOWED:
                waiting.append((callee, place))
    return found


def handed(texts):
    """Returns (from, to, argument) -> names of the functions that get it."""
    known = definitions(texts)
    path_of = reached(known)
    reads = {(box(path), struct, field) for (_, path), body in path_of.items() for struct, field in re.findall(r"\b(\w+)(?:->|\.)(\w+)\b", body)}
    found = {}
    for (_, path), body in path_of.items():
        for callee, text in calls(body):
            place = target(callee, path, known)
            if not place or callee in NOT_FOLLOWED or box(place[0]) in (box(path), *EVERYBODYS):
                continue
            fields = {"".join(match).replace("name", "session") for match in FIELD.findall(text)}
            for (here, struct), members in STRUCTS.items():
                if here == box(path) and re.search(rf"(?<![\w.>])&?{struct}\b(?!\s*(?:->|\.))", text):
                    fields |= {member for member in members if (box(place[0]), struct, member) in reads}
            for field in fields:
                found.setdefault((box(path), box(place[0]), field), []).append(callee)
    return found


def twice(found):
    problems = []
    for (here, there, argument), callees in sorted(found.items()):
        allowed = ALTERNATIVES.get((here, there, argument), {})
        extra = [callee for callee in callees if callee not in allowed]
        if len(extra) + bool(allowed) > 1 or len(callees) != len(set(callees)):
            problems.append(f"{here}/ hands {argument} to {there}/ more than once: {', '.join(callees)}")
        problems += [f"{here}/ does not call {callee} with {argument}: take it out of ALTERNATIVES" for callee in allowed if callee not in callees]
    return problems


def listing(found):
    lines = []
    for here, there in sorted({key[:2] for key in found}):
        by_argument = {argument: callees for (one, other, argument), callees in found.items() if (one, other) == (here, there)}
        callees = sorted({callee for names in by_argument.values() for callee in names})
        lines.append(f"| `{here}/` | `{there}/` | {', '.join(f'`{name}`' for name in sorted(by_argument))} | {', '.join(f'`{name}`' for name in callees)} |")
    return lines


def read(root):
    texts = {}
    for folder, _, names in os.walk(os.path.join(root, "plugin")):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    texts[os.path.relpath(os.path.join(folder, name), root)] = file.read()
    return texts


def report(rules):
    for number, (title, findings) in enumerate(rules, 1):
        for finding in findings:
            print(f"# {finding}")
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
    print(f"1..{len(rules)}")
    return any(findings for _, findings in rules)


def judge(root):
    found = handed(read(root))
    with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as file:
        page = file.read()
    missing = [f"docs/architecture.md has no line {line}" for line in listing(found) if line not in page]
    return report([("each argument is handed to each folder in one place", twice(found) or ([] if found else ["nothing was found"])),
                   ("docs/architecture.md lists them", missing)])


def self_test():
    start = "static int on_tool_result(void) {\n  const struct carrier carrier = {.tool = result.tool};\n  return flow_go(&carrier);\n}\n"
    flow = "int flow_go(const struct carrier *carrier) {\n  op_begin(carrier->session);\n  return CALLS;\n}\n"
    session = "int op_begin(int session) {\n  return session;\n}\n\nint op_more(int session) {\n  return session;\n}\n"

    def problems(calls_made):
        return twice({key: value for key, value in handed({"plugin/entry/e.c": start, "plugin/flow/f.c": flow.replace("CALLS", calls_made),
                                                           "plugin/session/s.c": session}).items()})
    missing = len([name for names in ALTERNATIVES.values() for name in names])
    samples = [("one place is none too many", not problems("0")),
               ("a second function that gets it is found", problems("op_more(carrier->session)")),
               ("a second call is found", problems("op_begin(carrier->session)")),
               ("what is in an inner call is the inner call's", not problems("flow_go(quote(carrier->session))"))]
    return report([(title, [] if good else [f"it does not, of {missing}"]) for title, good in samples])


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        sys.exit(self_test())
    if sys.argv[1] == "--list":
        print("\n".join(listing(handed(read(sys.argv[2])))))
        sys.exit(0)
    sys.exit(judge(sys.argv[1]))
