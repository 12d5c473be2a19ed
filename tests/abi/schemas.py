#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schemas.py SOURCE_DIR: tests that the JSON Schemas of abi/schema accept the valid documents and refuse the others. Prints TAP.

Events are in samples/ (one file a type, which a test of the plugin reads too), other documents in documents/.
"""
import json
import os
import sys

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
count = 0
failures = 0


def check(good, what, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good:
        for line in why.splitlines():
            print(f"# {line}")


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def standalone(schemas, schema):
    """Returns the schema without its own name, and with the schemas that it names put in place of their names, because versions of jsonschema resolve
    a urn in different ways."""
    if isinstance(schema, list):
        return [standalone(schemas, value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    for other in schemas.values():
        if schema.get("$ref") == other["$id"]:
            return standalone(schemas, other)
    return {key: standalone(schemas, value) for key, value in schema.items() if key != "$id"}


def validator(schemas, name):
    return jsonschema.Draft202012Validator(standalone(schemas, schemas[name]))


def part_of(schemas, name, pointer):
    """Returns a validator for the part of a schema at `pointer`."""
    part = {"$id": schemas[name]["$id"], "$ref": "#" + pointer, "$defs": schemas[name]["$defs"]}
    return validator({**schemas, name: part}, name)


def compare(judge, rows, member, title):
    """Prints a line for a file. Every row states whether it is valid."""
    wrong = []
    for row in rows:
        errors = [f"{error.json_path}: {error.message}" for error in judge.iter_errors(row[member])]
        if (not errors) != row["valid"]:
            wrong.append(f"{row['why']}: " + ("; ".join(errors) if errors else "accepted, and must not be"))
    check(not wrong, f"{title}: {len(rows)} judged as they say", "\n".join(wrong))


def object_schemas(schema, path="data"):
    """Yields every subschema of event data that names properties, with its place."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield path, schema
        for key, value in schema.items():
            yield from object_schemas(value, f"{path}.{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from object_schemas(value, f"{path}[{index}]")


def main(source):
    names = ["event", "config", "reply", "query", "store"]
    schemas = {name: load(source, "abi", "schema", f"{name}.schema.json") for name in names}
    for name, schema in schemas.items():
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
            check(True, f"{name}.schema.json is a schema of draft 2020-12")
        except jsonschema.SchemaError as error:
            check(False, f"{name}.schema.json is a schema of draft 2020-12", str(error))

    types = schemas["event"]["properties"]["type"]["enum"]
    files = sorted(name[: -len(".json")] for name in os.listdir(os.path.join(HERE, "samples")))
    check(files == sorted(types), "there are samples for every event type and no other", f"{sorted(set(files) ^ set(types))}")
    judge = validator(schemas, "event")
    for name in files:
        rows = load(HERE, "samples", f"{name}.json")
        good = sum(row["valid"] for row in rows)
        check(good and good < len(rows), f"{name}: there are good and bad samples")
        check(all(row["type"] == name == row["event"]["type"] for row in rows), f"{name}: every sample is of that type")
        compare(judge, rows, "event", name)
    check(not judge.is_valid({"type": "notifications", "session": "s"}), "an unknown event type is refused")
    check(not judge.is_valid({"session": "s"}), "an event without a type is refused")

    for name in names[1:]:
        compare(validator(schemas, name), load(HERE, "documents", f"{name}.json"), "document", name)
    parts = load(HERE, "documents", "parts.json")
    for name, pointer in sorted({(row["schema"], row["part"]) for row in parts}):
        rows = [row for row in parts if (row["schema"], row["part"]) == (name, pointer)]
        compare(part_of(schemas, name, pointer), rows, "document", name + pointer)
    asked, answered = (set(schemas["query"]["$defs"][part]) for part in ("requests", "answers"))
    check(asked == answered, "every query has a request and an answer", f"{asked ^ answered}")
    data = {key: value for key, value in schemas["event"]["$defs"].items() if key != "is"}
    for path, schema in object_schemas(data):
        check(schema.get("additionalProperties") is False, f"event {path}: an unknown field is refused")
    print(f"1..{count}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
