#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""complete.py SOURCE_DIR: checks the headers of abi/tidings/. The golden layout has every struct, field, number and text of them; every function has a
thread tag; no header uses a name of a header that it does not include; each family of numbers says what a reader does with an unknown one; and each
entry of an error table begins a line. Prints TAP. `complete.py --self-test` tests the rules about comments with texts that break them."""
import glob
import os
import re
import sys

NO_VALUE = {"TIDINGS_EXPORT"}  # a compiler's attribute
TAGS = ("[any thread]", "[one thread at a time", "[never from a callback]")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def untagged(path, function):
    """Finds functions whose comment has no tag."""
    text = read(path)
    for match in re.finditer(function, text, flags=re.MULTILINE):
        comment = text[:match.start()].rpartition("/*")[2]
        if not any(tag in comment for tag in TAGS):
            yield f"{os.path.basename(path)}: {match[1]}"


def foreign_words(directory):
    """Finds names that a header mentions, in its comments too, and that neither it nor those that it includes define."""
    texts = {os.path.basename(path): read(path) for path in glob.glob(os.path.join(directory, "*.h"))}

    def defined(name):
        words = set(re.findall(r"^#define[ \t]+(TIDINGS_\w+)", texts[name], flags=re.MULTILINE))
        return words.union(*(defined(other) for other in re.findall(r"^#include <tidings/(\w+\.h)>", texts[name], flags=re.MULTILINE)))

    for name, text in sorted(texts.items()):
        known = defined(name)
        for word in sorted(set(re.findall(r"\bTIDINGS_\w*\w", text)) - known):
            if not (word.endswith("_") and any(one.startswith(word) for one in known)):
                yield f"{name}: {word}"


def silent_families(text):
    """Finds families of numbers whose comment does not say what a reader does with an unknown number. A deprecated name has another one of the same
    value."""
    for block in re.findall(r"(?:^/\*(?:(?!\*/).)*\*/\n|^#define[^\n]*\n)+", text, flags=re.MULTILINE | re.DOTALL):
        numbers = re.findall(r"^#define (TIDINGS_[A-Z]+_)\w+ \(?-?[0-9]", block, flags=re.MULTILINE)
        families = {one for one in numbers if one not in ("TIDINGS_ABI_", "TIDINGS_SIZE_")}
        comment = " ".join(block[:block.index("#define")].split()) if numbers else ""
        if families and not re.search(r"\b(?:do|does) (?:\* )?not (?:\* )?know\b", comment):
            yield from sorted(families)


def mangled_entries(text):
    """Finds entries of error tables that do not begin a line of the comment, because clang-format has joined the lines."""
    codes = r"\b(?:INVAL|SCHEMA|TOO_BIG|UNSUPPORTED|NOT_FOUND|FIRED|STATE|BUSY|FULL|STORE|NOMEM|CLOSED|OWNED)"
    for line in text.splitlines():
        if re.match(r"\s*(?:/\*|\*)", line) and re.search(r"[\w:;,.)`] +" + codes + r"(?:  +[a-z]| `)", re.sub(r"^[\s*]*(?:[A-Z_]+, )*", "", line)):
            yield line.strip()


def self_test():
    family = "/* How it is. Treat a number that you do\n * not know as A. */\n#define TIDINGS_X_A 0u\n#define TIDINGS_X_B 1u\n"
    table = " *   INVAL   a null pointer\n *   BUSY, STORE, NOMEM  as in abi.h\n *   - STATE: `to` is there; try again\n"
    checks = [
        ("a family that says what an unknown number is passes", not list(silent_families(family))),
        ("one that does not is found", list(silent_families("/* How it is. */\n#define TIDINGS_X_A 0u\n")) == ["TIDINGS_X_"]),
        ("a table with an entry a line passes", not list(mangled_entries(table))),
        ("one whose entries were joined is found", len(list(mangled_entries(" * NUL NOT_FOUND     there is none BUSY          another\n"))) == 1),
        ("and so is one that was joined by one blank", len(list(mangled_entries(" * store; try again answer: STATE `to` is\n"))) == 1),
    ]
    for number, (title, good) in enumerate(checks, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(checks)}")
    return not all(good for _, good in checks)


def of_headers(directory):
    """Returns the declarations of the headers, in the words of the golden file."""
    found = set()
    for path in glob.glob(os.path.join(directory, "*.h")):
        code = re.sub(r"/\*.*?\*/", " ", read(path), flags=re.DOTALL)
        found |= set(re.findall(r"^#define[ \t]+(TIDINGS_\w+)[ \t]+\S", code, flags=re.MULTILINE)) - NO_VALUE
        for struct, body in re.findall(r"\bstruct\s+(\w+)\s*\{(.*?)\n\}\s*;", code, flags=re.DOTALL):
            found.add(f"struct {struct}")
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", declaration)
                if pointer:
                    found.add(f"{struct}.{pointer[1]}")
                    continue
                for one in re.sub(r"\[[^]]*\]", "", declaration).split(","):
                    name = re.search(r"(\w+)\s*$", one)[1]
                    found.add(f"{struct}.{name}")
    return found


def of_golden(path):
    return set(re.findall(r"^(TIDINGS_\w+) =|^(struct \w+):|^  (\w+\.\w+):", read(path), flags=re.MULTILINE))


def main(source):
    headers = of_headers(os.path.join(source, "abi", "tidings"))
    goldens = sorted(glob.glob(os.path.join(source, "abi", "golden", "layout-*.txt")),
                     key=lambda path: [int(number) for number in re.findall(r"\d+", os.path.basename(path))])
    golden = {"".join(groups) for groups in of_golden(goldens[-1])}
    for name in sorted(headers - golden):
        print(f"# in the headers, not in {goldens[-1]}: {name}")
    for name in sorted(golden - headers):
        print(f"# in {goldens[-1]}, not in the headers: {name}")
    enough = len(headers) > 150
    print(f"{'ok' if enough else 'not ok'} 1 - {len(headers)} names were found in the headers")
    print(f"{'ok' if headers == golden else 'not ok'} 2 - each of them, and nothing else, is in the golden layout")

    hostkit = os.path.join(source, "hostkit", "include", "tidings", "hostkit.h")
    bare = [one for path in glob.glob(os.path.join(source, "abi", "tidings", "*.h")) for one in untagged(path, r"^  [\w ]+[ *]\(\*(\w+)\)\(")]
    bare += untagged(hostkit, r"^HOSTKIT_API [\w *]*?\b(hostkit_(?!flat_)\w+)\(")
    foreign = list(foreign_words(os.path.join(source, "abi", "tidings")))
    for finding in bare + foreign:
        print(f"# {finding}")
    print(f"{'not ok' if bare else 'ok'} 3 - every function has a thread tag")
    print(f"{'not ok' if foreign else 'ok'} 4 - no header uses a word of one that it does not include")
    texts = {os.path.basename(path): read(path) for path in sorted(glob.glob(os.path.join(source, "abi", "tidings", "*.h"))) + [hostkit]}
    silent = [f"{name}: {family}*" for name, text in texts.items() for family in silent_families(text)]
    mangled = [f"{name}: {line}" for name, text in texts.items() for line in mangled_entries(text)]
    for finding in silent + mangled:
        print(f"# {finding}")
    print(f"{'not ok' if silent else 'ok'} 5 - each family of numbers says what a reader does with one that it does not know")
    print(f"{'not ok' if mangled else 'ok'} 6 - each entry of an error table has a line of its own")
    print("1..6")
    return 0 if enough and headers == golden and not any((bare, foreign, silent, mangled)) else 1


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else main(sys.argv[1]))
