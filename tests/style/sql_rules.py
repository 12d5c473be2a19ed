#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sql_rules.py: rules about SQL; style.py checks them.

A name that PostgreSQL 15 accepts for a parameter may be a keyword of a newer version, which then
refuses the whole schema.
"""
import re

# PostgreSQL 16 and 17 do not accept these as names of parameters.
KEYWORDS = ("json", "json_array", "json_arrayagg", "json_exists", "json_object", "json_objectagg", "json_query", "json_scalar", "json_serialize", "json_table",
            "json_value", "merge_action")
FUNCTION = re.compile(r"\bFUNCTION\s+[\w.\"@]+\s*\((.*?)\)\s*RETURNS\b", re.DOTALL | re.IGNORECASE)
NAMED = re.compile(rf"(?:^|,)\s*(?:(?:IN|OUT|INOUT)\s+)?({'|'.join(KEYWORDS)})\s+[a-z]", re.IGNORECASE)


def newer_keywords(path, text):
    if not path.endswith(".sql"):
        return []
    return [f"line {text.count(chr(10), 0, function.start()) + 1}: the parameter {found[1]!r} is a keyword of a newer PostgreSQL"
            for function in FUNCTION.finditer(text) for found in NAMED.finditer(function[1])]


OF_FILES = {"no parameter of a function in SQL is a keyword of PostgreSQL 16 or 17": newer_keywords}
# rule, path, a text in which it finds something, one in which it does not
SAMPLES = (
    (newer_keywords, "plugin/a.sql", "CREATE FUNCTION a(json text) RETURNS text", "CREATE FUNCTION a(value json) RETURNS text"),
    (newer_keywords, "plugin/a.sql", "CREATE FUNCTION a(b text,\n  json text) RETURNS text", "CREATE FUNCTION a(b text, jsons text) RETURNS text"),
)
