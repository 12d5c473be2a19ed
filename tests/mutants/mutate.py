# SPDX-License-Identifier: MIT
"""Makes mutants of the plugin: its source with one function changed. mutants.txt lists them.

A function is found by its name; formatting, file, and names of parameters and variables do not matter."""
import json
import os
import re
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Stale(Exception):
    """Raised if the source is no longer as the mutant expects; the text says what to do."""


class Mutant:
    """function: its name; folder: a part of its path, or ""; called: the name of a function that it calls, or ""; body: the new statements, or, with
    `called`, an expression instead of the call; laws: kind of test -> text that this test must print."""

    def __init__(self, line, number):
        found = re.fullmatch(r"mutant (\w+)(?: in (\S+))?(?: calls (\w+))?", line)
        if not found:
            raise ValueError(f"mutants.txt, line {number}: {line!r} is not `mutant FUNCTION [in FOLDER] [calls FUNCTION]`")
        self.function, self.folder, self.called = (word or "" for word in found.groups())
        self.body, self.laws = "", {}


def read_mutants(kind):
    """Returns the mutants that the test `kind` must notice, in the order of mutants.txt."""
    mutants = []
    with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            header = re.fullmatch(r"(\w+): (.*)", line)
            if line.startswith("  "):
                mutants[-1].body += line + "\n"
            elif header and mutants:
                mutants[-1].laws[header[1]] = header[2]
            elif line and not line.startswith("#"):
                mutants.append(Mutant(line, number))
    return [mutant for mutant in mutants if kind in mutant.laws]


# -- parsing C --------------------------------------------------------------------

def blank(text):
    """Returns the text with spaces instead of comments, literals and preprocessor lines."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*"
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL | re.MULTILINE)


def matching(code, at):
    """Returns the place after the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] in "({[") - (code[place] in ")}]")
        if depth == 0:
            return place + 1
    raise Stale("brackets do not match")


class Definition:
    """A function's definition: the offsets of its declaration, its name, its parameters and its body."""

    def __init__(self, code, name):
        outside, self.start = 0, None
        for found in re.finditer(rf"[{{}};]|\b{name}\s*\(", code):
            if found[0] in "{}":
                outside += 1 if found[0] == "{" else -1
            if outside or found[0] == "{":
                continue
            if found[0] in "};":
                after = found.end()
                continue
            parameters = found.end() - 1
            end = matching(code, parameters)
            opening = re.compile(r"\s*\{").match(code, end)
            if opening:
                self.start, self.name = (locals().get("after") or 0), found.start()
                self.parameters, self.body, self.end = (parameters, end), opening.end() - 1, matching(code, opening.end() - 1)
                return

    def parameters_renamed(self, code):
        """Returns the text of the parameters with the names ARG1, ARG2 ..., and these names."""
        first, last = self.parameters
        parts, depth, start = [], 0, first + 1
        for place in range(first, last):
            depth += (code[place] in "([") - (code[place] in ")]")
            if (code[place] == "," and depth == 1) or place == last - 1:
                parts.append(code[start:place].strip())
                start = place + 1
        if parts in (["void"], [""]):
            return "void", []
        names = [f"ARG{number}" for number in range(1, len(parts) + 1)]
        name_of = re.compile(r"(?<=\*)(\s*)\w+(?=\s*\)\s*\()|(\s*)\b\w+(?=(?:\s*\[[^\]]*\])*$)")
        return ", ".join(name_of.sub(f" {name}", part, count=1) for part, name in zip(parts, names)), names


def find(source, mutant):
    """Returns the path, the text and the definition of the mutant's function."""
    found = []
    root = mutant.folder.split("/")[0] if mutant.folder and os.path.isdir(os.path.join(source, mutant.folder.split("/")[0])) else "plugin"
    for folder, _, names in os.walk(os.path.join(source, root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".c") or mutant.folder not in os.path.relpath(path, source):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            definition = Definition(blank(text), mutant.function) if mutant.function in text else None
            if definition and definition.start is not None:
                found.append((path, text, definition))
    where = f"{root}/ ({mutant.folder})" if mutant.folder else "plugin/"
    if not found:
        raise Stale(f"the function {mutant.function} is gone from {where}: name the one that does its work now in tests/mutants/mutants.txt")
    if len(found) > 1:
        paths = ", ".join(os.path.relpath(path, source) for path, _, _ in found)
        raise Stale(f"{mutant.function} is defined in {paths}: say which in tests/mutants/mutants.txt, with `in FOLDER`")
    return found[0]


def change_calls(text, definition, mutant):
    code = blank(text)
    body, count = re.subn(rf"\b{mutant.called}(?=\s*\()", "MUTATED", code[definition.body:definition.end])
    if not count:
        raise Stale(f"{mutant.function} does not call {mutant.called} any more: find another way to write this mutant in tests/mutants/mutants.txt")
    places = [found.start() for found in re.finditer(rf"\b{mutant.called}(?=\s*\()", code) if definition.body <= found.start() < definition.end]
    for place in reversed(places):
        text = text[:place] + "MUTATED" + text[place + len(mutant.called):]
    return text[:definition.start] + f"\n#define MUTATED(...) ({mutant.body.strip()})\n" + text[definition.start:]


def change_function(text, definition, mutant):
    code, original = blank(text), f"original_{mutant.function}"
    parameters, names = definition.parameters_renamed(code)
    head = f"{code[definition.start:definition.name].strip()} {mutant.function}({parameters}) {{"
    made = "\n".join(["", f"#define CALL {original}", f"#define ORIGINAL {original}({', '.join(names)})", head, mutant.body.rstrip(), "}",
                      "#undef CALL", "#undef ORIGINAL", ""])
    name_end = definition.name + len(mutant.function)
    return text[:definition.name] + original + text[name_end:definition.end] + made + text[definition.end:]


def write(source, mutant):
    """Returns the path of the file that the mutant changes, and its new text."""
    path, text, definition = find(source, mutant)
    change = change_calls if mutant.called else change_function
    return path, change(text, definition, mutant)


# -- building -------------------------------------------------------------------------------------

def commands(build, target):
    """Returns the compiler's command and the object for each file of a CMake target."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [(entry, shlex.split(entry["command"])) for entry in json.load(file)]
    made = [(entry, words, words[words.index("-o") + 1]) for entry, words in entries]
    return {entry["file"]: (words, os.path.join(entry["directory"], of)) for entry, words, of in made if f"/{target}.dir/" in of}


def run_compiler(words, build):
    done = subprocess.run(words, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Stale("the mutant cannot be built; does tests/mutants/mutants.txt use names that are gone?\n" + done.stdout)


def compile_mutant(source, build, target, mutant, work):
    """Compiles the file that the mutant changes, like the target. Returns the file, its changed object and the compiler's output."""
    known = commands(build, target)
    path, text = write(source, mutant)
    if path not in known:
        raise Stale(f"{mutant.function} is in {os.path.relpath(path, source)}, which is no part of {target}")
    changed, compiled = os.path.join(work, "mutant" + os.path.splitext(path)[1]), os.path.join(work, "mutant.o")
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text)
    words = [word for word in known[path][0] if word != "-Werror"]
    words[words.index("-o") + 1] = compiled
    words[words.index("-c") + 1] = changed
    run_compiler([*words, "-w"], build)
    return path, compiled, words


def lmdb(build):
    """Returns the LMDB with which a plugin of this build is linked: its own archive, or the shared library."""
    archives = [os.path.join(build, name) for name in ("liblmdb-linked-in.a", "libtidings_lmdb_calls.a")]
    return archives if os.path.exists(archives[0]) else ["-llmdb"]


def link(source, build, target, mutant, work, program, *options):
    """Builds the target with the mutant in it."""
    known = commands(build, target)
    path, compiled, words = compile_mutant(source, build, target, mutant, work)
    others = [of for other, (_, of) in known.items() if other != path]
    compiler = [word for word in words[:words.index("-o")] if not word.startswith("-")]
    run_compiler([*compiler[:2 if "ccache" in compiler[0] else 1], "-o", program, compiled, *others, *options, os.path.join(build, "libtidings_common.a"), "-pthread"], build)


# -- the test -------------------------------------------------------------------------------------

def try_all(kind, attempt, only=""):
    """Tries each mutant of that kind whose law contains `only`, prints TAP, and returns the exit status. attempt(mutant) returns None if the mutant
    was noticed, otherwise the reason."""
    wanted, failed = [mutant for mutant in read_mutants(kind) if only in mutant.laws[kind]], 0
    print(f"1..{len(wanted)}")
    for number, mutant in enumerate(wanted, 1):
        try:
            why = attempt(mutant)
        except Stale as error:
            why = str(error)
        print(f"{'not ok' if why else 'ok'} {number} - {mutant.function}: {mutant.laws[kind]}", flush=True)
        if why:
            failed = 1
            print("\n".join("# " + line for line in why.splitlines()))
    return failed
