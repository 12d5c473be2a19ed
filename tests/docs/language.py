#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""language.py: checks that users read plain English. It finds words and phrases that make a reader stop, and documents whose lines are not sentences.
Prints TAP.

It ignores code in documents, fenced or between backticks, and the text for the model, whose bytes must not change."""
import os
import pathlib
import re
import subprocess
import sys

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))
# The rows cover any of "documents", "headers" (abi/tidings, hostkit/include), "help" (of tidings and hostsim),
# "strings" (literals of the programs and the plugin: errors, what is printed), "comments" (of the product's sources).
COVERED = ("documents", "headers", "help", "strings", "comments")
PRODUCT = ("abi", "agents", "bench", "cli", "command", "common", "hostkit", "hostsim", "plugin")

# The words to avoid, each with its replacement.
AVOID = (
    (r"\btold\b(?! apart)", "receives, is notified, is reported"),
    (r"\b(?:hears?|heard|hearing)\b", "receives, supports, notices"),
    (r"\bnews\b", "notification"),
    (r"\b(?:mend|mends|mended|mending)\b", "fix, repair"),
    (r"\bin the midst of\b", "during"),
    (r"\b(?:nobody|somebody|anybody else|nobody else)'s\b", "without an owner, another process's"),
    (r"\bsave (?:that|when|for|with|where|in|if|by|on|those|what|news|the case)\b", "except"),
    (r", save\b", "except"),
    (r"\b(?:bites?|biting)\b", "hazard"),
    (r"\bbehind\b", "after"),
    (r"\b(?:graves?|graveyard|bury|buries|buried)\b", "purge"),
    (r"\bfates?\b", "outcome, disposition"),
    (r"\bon our side\b", "if tidings fails"),
    (r"\b(?:Never|Nor|No sooner|So|Neither) (?:is|are|was|were|does|do|did|has|have|may|can|must) ", "subject, verb, object"),
)
# After these full stops a line may continue, because they do not end a sentence.
ABBREVIATIONS = r"\b(?:e\.g|i\.e|vs|etc)\."


def documents():
    """Yields (name, line number, text without code) of each line of prose and of tables."""
    names = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "abi/STABILITY.md"]
    names += sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "docs").rglob("*.md"))
    for name in names:
        fenced = False
        for number, line in enumerate((SOURCE / name).read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield name, number, re.sub(r"(`+).*?\1", "x", line)


def headers():
    """Yields the comments of the public headers."""
    for folder in ("abi/tidings", "hostkit/include"):
        for path in sorted((SOURCE / folder).rglob("*.h")):
            text = path.read_text(encoding="utf-8")
            for comment in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
                first = text.count("\n", 0, comment.start()) + 1
                for number, line in enumerate(comment[0].splitlines(), first):
                    yield str(path.relative_to(SOURCE)), number, re.sub(r"`[^`]*`", "x", line)


def help_texts():
    """Yields the help of tidings, hostsim and their verbs."""
    def printed(*command):
        ran = subprocess.run([BUILD / command[0], *command[1:]], capture_output=True, text=True, check=True)
        for number, line in enumerate(ran.stdout.splitlines(), 1):
            yield " ".join(command), number, line

    overview = list(printed("tidings", "--help"))
    yield from overview
    for _, _, line in overview:
        if verb := re.match(r"  (\w+)  +\w", line):
            yield from printed("tidings", "help", verb[1])
    yield from printed("hostsim", "--help")
    for verb in ("run", "conformance", "sim", "demo", "dev"):
        yield from printed("hostsim", verb, "--help")


def strings():
    """Yields the string literals of the sources, except plugin/render/, which has the words for the model."""
    for folder in ("agents", "cli", "command", "common", "hostkit", "hostsim", "plugin"):
        for path in sorted((SOURCE / folder).rglob("*.c")):
            if "plugin/render/" not in str(path):
                text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), path.read_text(encoding="utf-8"), flags=re.DOTALL)
                for literals in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
                    line = text.count("\n", 0, literals.start()) + 1
                    yield str(path.relative_to(SOURCE)), line, re.sub(r'"\s*"', "", literals[0]).replace("\\n", " ")


def comments():
    """Yields the comments of the product's sources without names between backticks."""
    comment = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
    for folder in PRODUCT:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".ts"):
                text = path.read_text(encoding="utf-8")
                text = re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda literal: " " * len(literal[0]), text) if path.suffix == ".ts" else text
                for found in comment.finditer(text):
                    first = text.count("\n", 0, found.start()) + 1
                    for number, line in enumerate(found[0].splitlines(), first):
                        yield str(path.relative_to(SOURCE)), number, re.sub(r"`[^`]*`", "x", line)


def avoided(lines):
    for name, number, line in lines:
        for pattern, instead in AVOID:
            if found := re.search(pattern, line):
                yield f"{name}:{number}: {found[0]!r}: write {instead}: {line.strip()[:90]}"


def not_a_sentence(lines):
    """Finds lines of prose that hold two sentences, or end within one."""
    for name, number, line in lines:
        text = re.sub(r"^(?:>|[-*]|\d+\.) +", "", line.strip())
        if not text or text.startswith(("|", "#", "<!--", "![")):
            continue
        text = re.sub(ABBREVIATIONS, "", re.sub(r"\]\([^)]*\)", "]", text)).replace("*", "")
        if re.search(r"[.!?][)\"]? +[\"(\[]?[A-Z]", text):
            yield f"{name}:{number}: more than one sentence: {line.strip()[:90]}"
        is_item = re.match(r" *(?:[-*]|\d+\.) ", line)
        if not is_item and not re.search(r"[.:;?!][)\"]?$", text):
            yield f"{name}:{number}: the line ends within a sentence: {line.strip()[-90:]}"


def catches():
    """Checks that each rule finds its own samples."""
    for text in ("the agent is told of it", "agents that hear", "it is no news", "mends its code", "typed in the midst of a turn",
                 "a folder that is nobody's", "an item's fate", "all, save news", "all save that", "what bites | the rule", "what bites", "the line behind it", "graves",
                 "whatever is wrong on our side", "Nor is what a watcher says"):
        if not list(avoided([("sample", 1, text)])):
            yield f"not found: {text!r}"
    for text in ("One thing. Another thing.", "It ends within a"):
        if not list(not_a_sentence([("sample", 1, text)])):
            yield f"not found: {text!r}"
    for text in ("It stops at 2.5 GiB of [pages](a.md).", "- an item", "Ids are told apart by it.", "It saves what is written."):
        yield from avoided([("good sample", 1, text)])
        yield from not_a_sentence([("good sample", 1, text)])


def main():
    kinds = {"documents": documents, "headers": headers, "help": help_texts, "strings": strings, "comments": comments}
    checks = [("each rule finds what it is for", list(catches()))]
    checks += [(f"{kind}: plain words", list(avoided(kinds[kind]()))) for kind in COVERED]
    checks.append(("documents: a line is a sentence", list(not_a_sentence(documents()))))
    for number, (title, findings) in enumerate(checks, 1):
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
        for finding in findings:
            print(f"# {finding}")
    print(f"1..{len(checks)}")
    return int(any(findings for _, findings in checks))


if __name__ == "__main__":
    sys.exit(main())
