#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comments.py: rules about the sentences in comments of C; style.py checks them.

A sentence says its subject first. One that begins with What, Who, Of, Where or One makes its reader
go on to the verb before it can be understood ("What is over is not meant"), unless it is a question.
"""
import re

COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
HEADLESS = re.compile(r"(?:What|Whatever|Who|Whoever|Whose|Of|Where|One)\b")
EMPTY = re.compile(r"^(?:[\w/.-]+\.c: )?[Ss]ee (?:the header|[\w/.-]+\.h)\.$")
FROZEN = ("tests/abi/old/",)
# A promise that is stated in the same words in several documents (tests/docs/pages.py).
STATED_ELSEWHERE = ("What was settled as committed is not delivered again, unless the transcript is rewound to before it.",)


def sentences(text):
    """(line, sentence) of each sentence in a comment."""
    for comment in COMMENT.finditer(text):
        words = " ".join(re.sub(r"\n\s*\*? ?", " ", comment[1]).split())
        for sentence in re.split(r"(?<=[.:;!?])\s+", words):
            yield text.count("\n", 0, comment.start()) + 1, sentence


def headless(text):
    return [(line, sentence) for line, sentence in sentences(text)
            if HEADLESS.match(sentence) and not sentence.endswith("?") and sentence not in STATED_ELSEWHERE]


def is_read(path):
    return path.endswith((".c", ".h")) and not path.startswith(FROZEN)


def headless_sentences(path, text):
    if not is_read(path):
        return []
    return [f"comment in line {line}: {sentence[:70]!r} begins without its subject" for line, sentence in headless(text)]


def empty(text):
    """The comments that say only that there is a header."""
    found = []
    for comment in COMMENT.finditer(text):
        words = " ".join(re.sub(r"\n\s*\*? ?", " ", comment[1]).split()).removeprefix("SPDX-License-Identifier: MIT ")
        found += [words] if EMPTY.match(words) else []
    return found


def empty_comments(path, text):
    if not is_read(path):
        return []
    return [f"{words!r} says nothing: say what is not in the header, or nothing" for words in empty(text)]


OF_FILES = {
    "no sentence of a comment begins with What, Who, Of, Where or One": headless_sentences,
    "no comment says only \"see the header\"": empty_comments,
}
# rule, path, a text in which it finds something, one in which it does not
SAMPLES = (
    (headless_sentences, "common/a.h", "/* Reads it. What is over\n * stays. */\n", "/* What stays? All\n * of it, and what is over. */\n"),
    (headless_sentences, "common/a.h", "/* Of two, the first. */\n", "/* Often the first of two. */\n"),
    (headless_sentences, "common/a.c", "/* One that waits: it stays. */\n", "/* The one that waits. */\n"),
    (empty_comments, "common/a.c", "/* SPDX-License-Identifier: MIT\n *\n * common/a.c: see the header.\n */\n", "/* SPDX-License-Identifier: MIT\n */\n"),
    (empty_comments, "common/a.c", "/* See a.h. */\n", "/* common/a.c: see a.h. It takes no lock. */\n"),
)
