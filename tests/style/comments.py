#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comments.py: rules about the sentences in comments; style.py checks them.

A sentence says its subject first. If it begins with What, Who, Of, Where or One, its reader has to
go on to the verb before understanding it ("What is over is not meant"), unless it is a question.
"""
import re

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
LINES = {"//": re.compile(r"(?:^[ \t]*//.*\n)+|\s// .*\n", re.MULTILINE), "#": re.compile(r"(?:^[ \t]*#.*\n)+|\s# .*\n", re.MULTILINE),
         "--": re.compile(r"(?:^[ \t]*--.*\n)+|\s-- .*\n", re.MULTILINE)}
# The comments of each kind of file: patterns of whole comments, and the mark that begins a line's comment.
KINDS = {(".c", ".h"): ((COMMENT,), None), (".ts", ".js", ".mjs", ".rs"): ((COMMENT,), "//"), (".sql",): ((COMMENT,), "--"),
         (".py",): ((DOCSTRING,), "#"), (".sh", ".cmake", "CMakeLists.txt", "versions.txt", "dev", ".ci/run"): ((), "#")}
HEADLESS = re.compile(r"(?:What|Whatever|Who|Whoever|Whose|Of|Where|One)\b")
EMPTY = re.compile(r"^(?:[\w/.-]+\.c: )?[Ss]ee (?:the header|[\w/.-]+\.h)\.$")
FROZEN = ("tests/abi/old/", "tests/fleet/schema_2.sql")  # older versions, which do not change
# A promise that is stated in the same words in several documents (tests/docs/pages.py).
STATED_ELSEWHERE = ("What was settled as committed is not delivered again, unless the transcript is rewound to before it.",)


def texts_of(path, text):
    """Yields (offset, text) of each comment."""
    for endings, (whole, mark) in KINDS.items():
        if path.endswith(endings):
            for pattern in whole:
                yield from ((found.start(), re.sub(r"\n\s*\*? ?", " ", found[1])) for found in pattern.finditer(text))
            if mark:
                own = re.compile(rf"^\s*{mark}[/!]*", re.MULTILINE)
                yield from ((found.start(), own.sub("", found[0])) for found in LINES[mark].finditer(text))
            return


def headless(path, text):
    for offset, comment in texts_of(path, text):
        words = " ".join(comment.split()).removeprefix("SPDX-License-Identifier: MIT ")
        for sentence in re.split(r"(?<=[.:;!?])\s+", words):
            if HEADLESS.match(sentence) and not sentence.endswith("?") and sentence not in STATED_ELSEWHERE:
                yield text.count("\n", 0, offset) + 1, sentence


def headless_sentences(path, text):
    if path.startswith(FROZEN):
        return []
    return [f"comment in line {line}: {sentence[:70]!r} begins without its subject" for line, sentence in headless(path, text)]


def empty(text):
    """Finds comments that only refer to the header."""
    found = []
    for comment in COMMENT.finditer(text):
        words = " ".join(re.sub(r"\n\s*\*? ?", " ", comment[1]).split()).removeprefix("SPDX-License-Identifier: MIT ")
        found += [words] if EMPTY.match(words) else []
    return found


def empty_comments(path, text):
    if not path.endswith((".c", ".h")) or path.startswith(FROZEN):
        return []
    return [f"{words!r} says nothing: say what is not in the header, or nothing" for words in empty(text)]


OF_FILES = {
    "no sentence of a comment begins with What, Who, Of, Where or One": headless_sentences,
    "no comment says only \"see the header\"": empty_comments,
}
QUOTES = '"' * 3  # split, so that this file does not match itself
# rule, path, a text in which it finds something, one in which it does not
SAMPLES = (
    (headless_sentences, "common/a.h", "/* Reads it. What is over\n * stays. */\n", "/* What stays? All\n * of it, and what is over. */\n"),
    (headless_sentences, "common/a.h", "/* Of two, the first. */\n", "/* Often the first of two. */\n"),
    (headless_sentences, "common/a.c", "/* SPDX-License-Identifier: MIT\n *\n * Who waits.\n */\n", "/* SPDX-License-Identifier: MIT\n *\n * A host waits.\n */\n"),
    (headless_sentences, "common/a.c", "/* One that waits: it stays. */\n", "/* The one that waits. */\n"),
    (headless_sentences, "tests/a.py", f"def a():\n    {QUOTES}What it prints.{QUOTES}\n", f"def a():\n    {QUOTES}Returns what it prints.{QUOTES}\n"),
    (headless_sentences, "tests/a.sh", "a=1\n# It runs. Of two\n# the first.\n", "a=1\n# Which of two\n# is first. Often the first.\n"),
    (headless_sentences, "agents/a.ts", "f(); // What is left.\n", "f(); // That is left.\n"),
    (headless_sentences, "plugin/a.sql", "-- Who waits.\nSELECT 1;\n", "-- A client that waits.\nSELECT 1;\n"),
    (empty_comments, "common/a.c", "/* SPDX-License-Identifier: MIT\n *\n * common/a.c: see the header.\n */\n", "/* SPDX-License-Identifier: MIT\n */\n"),
    (empty_comments, "common/a.c", "/* See a.h. */\n", "/* common/a.c: see a.h. It takes no lock. */\n"),
)
