#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""future.py TARGET HEADER…: writes headers of an invented later minor version into the folder TARGET. Every struct with a size gets two fields at its end."""
import os
import re
import sys

FIELDS = "  uint64_t future_a;\n  const void *future_b;\n"
SMALL_FIELDS = "  uint32_t future_a;\n  uint32_t future_b;\n"  # a field must not raise the alignment of its struct


def with_fields(match):
    is_wide = re.search(r"\*|\b(u?int64_t|size_t|struct tidings_span)\b", re.sub(r"/\*.*?\*/", "", match[1], flags=re.DOTALL))
    return match[1] + (FIELDS if is_wide else SMALL_FIELDS) + match[2]


def grown(text):
    text, structs = re.subn(r"(^struct \w+ \{\n  uint32_t size;\n.*?)(^\};)", with_fields, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(#define TIDINGS_ABI_MINOR) (\d+)$", lambda match: f"{match[1]} {int(match[2]) + 1}", text, flags=re.MULTILINE)
    return text, structs


def main(target, *headers):
    os.makedirs(target, exist_ok=True)
    count = 0
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text, structs = grown(file.read())
        count += structs
        with open(os.path.join(target, os.path.basename(header)), "w", encoding="utf-8") as file:
            file.write(text)
    if count < 22:
        sys.exit(f"future.py: only {count} structs were found")


if __name__ == "__main__":
    main(*sys.argv[1:])
