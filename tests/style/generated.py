#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generated.py SOURCE_DIR [UnicodeData.txt confusables.txt]: checks that plugin/render/fold_table.c is the output of fold_table.py. Prints TAP.

Unicode's files are too large for this repository, so the table has their SHA-256, and those of the script and of its own tables. So this test fails
if the script changes without the table, or if the table is edited by hand. With Unicode's files it makes the table again and compares every byte. It
also tests on a few characters that the script's output depends only on its inputs.
"""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

DATA = """0020;SPACE;Zs;0;WS;;;;;N;;;;;
0030;DIGIT ZERO;Nd;0;EN;;0;0;0;N;;;;;
0073;LATIN SMALL LETTER S;Ll;0;L;;;;;N;;;0053;;0053
00B2;SUPERSCRIPT TWO;No;0;EN;<super> 0032;;2;2;N;SUPERSCRIPT DIGIT TWO;;;;
0332;COMBINING LOW LINE;Mn;220;NSM;;;;;N;NON-SPACING UNDERSCORE;;;;
0405;CYRILLIC CAPITAL LETTER DZE;Lu;0;L;;;;;N;;;;0455;
0455;CYRILLIC SMALL LETTER DZE;Ll;0;L;;;;;N;;;0405;;0405
0660;ARABIC-INDIC DIGIT ZERO;Nd;0;AN;;0;0;0;N;;;;;
2010;HYPHEN;Pd;0;ON;;;;;N;;;;;
2014;EM DASH;Pd;0;ON;;;;;N;;;;;
27E8;MATHEMATICAL LEFT ANGLE BRACKET;Ps;0;ON;;;;;Y;BRA;;;;
4E2D;A CHARACTER THAT LOOKS LIKE NOTHING;Lo;0;L;;;;;N;;;;;
FB01;LATIN SMALL LIGATURE FI;Ll;0;L;<compat> 0066 0069;;;;N;;;;;
FF1C;FULLWIDTH LESS-THAN SIGN;Sm;0;ON;<wide> 003C;;;;Y;;;;;
"""
CONFUSABLES = """# Version: 99.0.0
0455 ;\t0073 ;\tMA\t# CYRILLIC SMALL LETTER DZE
2010 ;\t002D ;\tMA\t# HYPHEN
2014 ;\t30FC ;\tMA\t# EM DASH
"""
# A look-alike of more than one character is 0x80 plus its place in fold_strings.
LOOKS = {0xB2: ord("2"), 0x405: ord("s"), 0x455: ord("s"), 0x2010: ord("-"), 0x2014: 0x1F, 0x27E8: ord("<"), 0xFB01: 0x80, 0xFF1C: ord("<")}


def sum_of(text):
    return hashlib.sha256(text).hexdigest()


def run(script, data, confusables, seed="0"):
    return subprocess.run([sys.executable, script, data, confusables], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout


def sums_in(table):
    """Returns the checksums in the file, and the place where its tables begin."""
    head, _, tables = table.partition(b"*/\n")
    return dict(re.findall(r"^ \* (\S+): +([0-9a-f]{64})$", head.decode(), re.M)), tables


def differences(script, table, inputs=None):
    """Returns the errors of the table, in words."""
    sums, tables = sums_in(table)
    found = []
    if sums.get("fold_table.py") != sum_of(script):
        found.append("fold_table.py is another than the one that wrote fold_table.c: run it again")
    if sums.get("tables") != sum_of(tables):
        found.append("the tables of fold_table.c are not what was written: change fold_table.py instead, and run it")
    for name, path in inputs or ():
        with open(path, "rb") as file:
            if sums.get(name) != sum_of(file.read()):
                found.append(f"{path} is another {name} than the one that fold_table.c was made of")
    return found


def test_as_written(source):
    """the table is what the script wrote, and the script has not changed since"""
    folder = os.path.join(source, "plugin/render")
    with open(os.path.join(folder, "fold_table.py"), "rb") as file:
        script = file.read()
    with open(os.path.join(folder, "fold_table.c"), "rb") as file:
        table = file.read()
    assert differences(script, table) == [], differences(script, table)
    assert len(differences(script + b"#", table)) == len(differences(script, table.replace(b"0x", b"0X", 1))) == 1, "a change is not found"
    if len(sys.argv) == 4:
        inputs = tuple(zip(("UnicodeData.txt", "confusables.txt"), sys.argv[2:]))
        assert differences(script, table, inputs) == [], differences(script, table, inputs)
        assert run(os.path.join(folder, "fold_table.py"), *sys.argv[2:]) == table, "made anew it is another"


def test_by_its_inputs(source):
    """the script's output depends only on its inputs, and a few characters have the look-alikes that they should have"""
    script = os.path.join(source, "plugin/render/fold_table.py")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("data", "confusables")]
        for path, text in zip(paths, (DATA, CONFUSABLES)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        first, second = (run(script, *paths, seed) for seed in ("1", "2"))
    assert first == second, "twice it writes something else"
    sums, _ = sums_in(first)
    assert sums["UnicodeData.txt"] == sum_of(DATA.encode()) and sums["confusables.txt"] == sum_of(CONFUSABLES.encode()), sums
    text = first.decode()
    table = re.search(r"fold_table\[\] = \{(.*?)\}", text, re.S)[1]
    looks = {int(word, 16) >> 8: int(word, 16) & 0xFF for word in re.findall(r"0x[0-9A-F]+", table)}
    assert looks == LOOKS, {hex(code): looks.get(code) for code in set(looks) ^ set(LOOKS)} or looks
    assert 'fold_strings[] = {\n    "fi",\n}' in text and "fold_zeros[] = {\n    0x660,\n}" in text and "Unicode 99.0.0" in text, text


def main():
    failed = False
    for test in (test_as_written, test_by_its_inputs):
        try:
            test(sys.argv[1])
            print(f"ok - {test.__doc__}")
        except AssertionError as reason:
            failed = True
            print(f"not ok - {test.__doc__}\n# {reason}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
