#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes fold_table.c: which ASCII text each other character of Unicode looks like.

usage: fold_table.py UnicodeData.txt confusables.txt > fold_table.c

Both files are Unicode's and of one version, which confusables.txt names. Debian has UnicodeData.txt
in the package unicode-data, and both in the sources of the package icu (source/data/unidata/).

A character's look is: its compatibility decomposition (NFKD) without combining marks, each part
replaced as UTS 39 says (confusables.txt), and the same once more, in lower case. A letter that
looks like nothing in ASCII has the look of its other case; a character that is called a Latin
letter, that of the letter. Angle brackets that UTS 39 keeps apart from "<" are taken by their
names. Characters that look like a long dash are written as LONG_DASH: many of them are a line, one
is a dash of prose.

The file that is written names the SHA-256 of both inputs, of this script and of its own tables:
tests/style/generated.py compares them.
"""
import hashlib
import re
import sys

LONG_DASH = "\x1f"
SCRIPT_LONG_DASH = 0x30FC  # what UTS 39 says that an em dash looks like
ANGLE = re.compile(r"(MATHEMATICAL )?LEFT(-POINTING)? (CURVED )?ANGLE BRACKET( ORNAMENT)?|"
                   r"(MEDIUM|HEAVY) LEFT-POINTING ANGLE .* ORNAMENT|"
                   r"PRESENTATION FORM FOR VERTICAL LEFT ANGLE BRACKET")
LATIN = re.compile(r".*(?:LATIN|INDICATOR SYMBOL) .*\b(?:LETTER|CAPITAL) ([A-Z])( WITH .*)?")
NEEDED = set("abcdefghiklmnoprstuvwy0123456789<>\"_-*#()[]|!/:`'") | {LONG_DASH}


def read_characters(path):
    parts, marks, names, zeros, cases = {}, set(), {}, [], {}
    for line in open(path, encoding="utf-8"):
        fields = line.split(";")
        code = int(fields[0], 16)
        names[code] = fields[1]
        if fields[2] in ("Mn", "Me"):
            marks.add(code)
        if fields[2] == "Nd" and fields[6] == "0":
            zeros.append(code)
        if fields[5]:
            parts[code] = [int(word, 16) for word in fields[5].split() if word[0] != "<"]
        if fields[12] or fields[13]:
            cases[code] = int(fields[12] or fields[13], 16)
    return parts, marks, names, zeros, cases


def read_confusables(path):
    looks, version = {}, ""
    for line in open(path, encoding="utf-8-sig"):
        if line.startswith("# Version:"):
            version = line.split()[2]
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if len(fields) == 3:
            looks[int(fields[0], 16)] = [int(word, 16) for word in fields[1].split()]
    return looks, version


def main():
    parts, marks, names, zeros, cases = read_characters(sys.argv[1])
    confusable, version = read_confusables(sys.argv[2])

    def decompose(code):
        if code not in parts:
            return [code]
        return [last for part in parts[code] for last in decompose(part)]

    def strip(codes):
        return [last for code in codes for last in decompose(code) if last not in marks]

    # UTS 39 writes m as rn, " as '' and so on: ASCII itself stays what it is.
    def look(code):
        return [code] if code < 0x80 else confusable.get(code, [code])

    def ascii_of(code):
        found = [code]
        for _ in range(3):
            found = strip([last for part in strip(found) for last in look(part)])
        if found == [SCRIPT_LONG_DASH]:
            return LONG_DASH
        if not found or any(part >= 0x80 for part in found):
            return ""
        text = "".join(map(chr, found)).lower()
        return {"''": '"', "rn": "m"}.get(text, text)

    table, strings = [], []
    for code in sorted(set(names) | set(confusable)):
        if code < 0x80 or code in marks or 0xE0000 <= code < 0xE1000:  # nobody sees tags
            continue
        text = ascii_of(code) or ascii_of(cases.get(code, code))
        letter = LATIN.fullmatch(names.get(code, ""))
        if letter and not text.isalpha():
            text = letter[1].lower()
        if not text and ANGLE.fullmatch(names.get(code, "")) and "DOUBLE" not in names[code]:
            text = "<"
        if not text or not set(text) <= NEEDED:
            continue
        if len(text) > 1 and (len(text) > 2 or not text.isalpha()):
            continue
        if len(text) == 1:
            value = ord(text)
        else:
            if text not in strings:
                strings.append(text)
            value = 0x80 + strings.index(text)
        table.append((code, value))
    assert len(strings) <= 0x80, len(strings)
    write(version, table, strings, zeros)


def wrap(words, indent="    "):
    line, lines = indent, []
    for word in words:
        if len(line) + len(word) > 100:
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return "\n".join(lines + [line.rstrip()])


LICENCE = """
   Copyright © 1991-2022 Unicode, Inc. All rights reserved.
   Distributed under the Terms of Use in https://www.unicode.org/copyright.html.

   Permission is hereby granted, free of charge, to any person obtaining a copy of the Unicode data
   files and any associated documentation (the "Data Files") or Unicode software and any associated
   documentation (the "Software") to deal in the Data Files or Software without restriction,
   including without limitation the rights to use, copy, modify, merge, publish, distribute, and/or
   sell copies of the Data Files or Software, and to permit persons to whom the Data Files or
   Software are furnished to do so, provided that either (a) this copyright and permission notice
   appear with all copies of the Data Files or Software, or (b) this copyright and permission notice
   appear in associated Documentation.

   THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
   IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
   PURPOSE AND NONINFRINGEMENT OF THIRD PARTY RIGHTS. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
   HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL
   DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
   ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE
   USE OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.

   Except as contained in this notice, the name of a copyright holder shall not be used in
   advertising or otherwise to promote the sale, use or other dealings in these Data Files or
   Software without prior written authorization of the copyright holder."""


def write(version, table, strings, zeros):
    codes = wrap(f"0x{code << 8 | value:X}," for code, value in table)
    openers = wrap(f"0x{code:X}," for code, value in table if chr(value) in '<"_')
    leads = sorted({chr(code).encode()[0] for code, value in table if chr(value) in '<"_'})
    leads = wrap(f"[0x{lead:X}] = true," for lead in leads)
    texts = wrap(f'"{text}",' for text in strings)
    digits = wrap(f"0x{code:X}," for code in zeros if code >= 0x80)
    comment = "\n".join((" *" + line[2:]) if line else " *" for line in LICENCE.split("\n"))
    tables = f"""#include "render/fold.h"

/* clang-format off */

/* The code point, and in the lowest byte what it looks like: an ASCII character, or from 0x80 on
 * one of fold_strings. Sorted. */
const uint32_t fold_table[] = {{
{codes}
}};
const size_t fold_table_count = sizeof fold_table / sizeof *fold_table;

const char *const fold_strings[] = {{
{texts}
}};

/* The characters that look like < or " or _. Sorted. */
const uint32_t fold_openers[] = {{
{openers}
}};
const size_t fold_openers_count = sizeof fold_openers / sizeof *fold_openers;

/* Their first bytes in UTF-8. */
const bool fold_opener_leads[256] = {{
{leads}
}};

/* The zero of each script that has decimal digits; its nine follow. Sorted. */
const uint32_t fold_zeros[] = {{
{digits}
}};
const size_t fold_zeros_count = sizeof fold_zeros / sizeof *fold_zeros;

/* clang-format on */
"""
    made_of = "\n".join(f" * {name + ':':20}{sum_of(path)}" for name, path in
                        (("UnicodeData.txt", sys.argv[1]), ("confusables.txt", sys.argv[2]), ("fold_table.py", __file__)))
    print(f"""/* SPDX-License-Identifier: MIT
 *
 * render/fold_table.c: see fold.h. Written by fold_table.py from Unicode {version}; do not edit.
 *
 * The SHA-256 of what it was made of, and of all below this comment:
{made_of}
 * {'tables:':20}{hashlib.sha256(tables.encode()).hexdigest()}
 *
 * The tables are made from Unicode's data files, whose licence (Unicode-DFS-2016) is:
{comment} */
{tables}""", end="")


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


if __name__ == "__main__":
    main()
