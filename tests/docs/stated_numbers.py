#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stated_numbers.py: checks that the numbers in documents are equal to those in the code, and the defaults, presets and ranges of
docs/configuration.md to those of the plugin and its schema. Prints TAP.

Each row of STATED is a document and a sentence of it; {} stands for the number in the code. If you change a constant, change the sentence; if you
rewrite the sentence, change its row."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(os.environ[name]) for name in ("TIDINGS_SOURCE_DIR", "TIDINGS_BUILD_DIR"))
CODE = ("abi", "common", "plugin", "hostkit", "command", "agents", "adapters", "cli", "hostsim/sim")
KIB, MIB, GIB, SECOND, MINUTE, HOUR, DAY = 1 << 10, 1 << 20, 1 << 30, 1000, 60000, 3600000, 86400000


def grouped(number):
    return f"{number:,}"


def per(unit):
    """Returns a function that writes a number in a unit of this size."""
    def text(number):
        assert number % unit == 0, f"{number} is no multiple of {unit}"
        return grouped(number // unit)
    return text


def word(number):
    return "no one two three four five six seven eight nine ten".split()[number]


def seconds_in_words(number):
    return word(int(per(SECOND)(number)))


# document, sentence, constant of the code or limits.KEY of the defaults, function that writes the number
STATED = (
    ("abi/STABILITY.md", "The contract is at {}.2.", "TIDINGS_ABI_MAJOR", grouped),
    ("abi/STABILITY.md", "The contract is at 1.{}.", "TIDINGS_ABI_MINOR", grouped),
    ("CHANGELOG.md", "The ABI, version 1.{}:", "TIDINGS_ABI_MINOR", grouped),
    ("docs/store.md", "This is layout {}.", "DB_LAYOUT", grouped),
    ("docs/store.md", "{} GiB of address space are mapped", "MAP_BYTES", per(GIB)),
    ("docs/store.md", "never grows beyond {} GiB of data", "ROWS_BYTES", per(GIB)),
    ("docs/store.md", "a counter for each of {} groups of sessions", "STORE_CHANGE_COUNTERS", grouped),
    ("docs/store.md", "a counter for each of {} groups of sessions", "STORE_RINGS", grouped),
    ("docs/store.md", "and a number, {} bytes.", "DB_KEY_BYTES", grouped),
    ("docs/store.md", "keeps the newest {} of each in a session", "STORE_RETAIN_ITEMS", grouped),
    ("docs/store.md", "down to the newest {} of each in a session", "STORE_RETAIN_PRESSED", grouped),
    ("docs/store.md", "of each in a session, for {} days.", "STORE_RETAIN_DAYS", grouped),
    ("docs/store.md", "forgets at most {} rows of other sessions", "FORGET_ROWS", grouped),
    ("docs/store.md", "then rests for {} hour.", "REST_MS", lambda ms: {HOUR: "an"}.get(ms, per(HOUR)(ms))),
    ("docs/store.md", "forgotten in the same way {} later", "STORE_RETAIN_CLOSED_MS", lambda ms: {DAY: "a day"}.get(ms, str(ms))),
    ("docs/semantics.md", "| an event | {} KiB", "limits.event_bytes", per(KIB)),
    ("docs/semantics.md", "(`limits.event_bytes`), depth {} |", "JSON_MAX_DEPTH", grouped),
    ("docs/semantics.md", "| a notification's message | {} KiB", "limits.message_bytes", per(KIB)),
    ("docs/semantics.md", "`source`, `id` | {} KiB each", "SMALL_STRING_BYTES", per(KIB)),
    ("docs/semantics.md", "a message's id | {} bytes each", "MAX_BYTES", grouped),
    ("docs/semantics.md", "| pending notifications of a session | {} (", "limits.pending_per_session", grouped),
    ("docs/semantics.md", "the last {} % are kept for critical ones", "CRITICAL_SHARE", lambda share: str(100 // share)),
    ("docs/semantics.md", "| messages of a session that are not over | {} (", "limits.pending_per_session", grouped),
    ("docs/semantics.md", "| the store | {} GiB of data", "ROWS_BYTES", per(GIB)),
    ("docs/semantics.md", "`hook_budget_ms`, {} ms |", "DEFAULT_BUDGET_MS", grouped),
    ("docs/semantics.md", "| duplicates are remembered for | {} hours", "limits.dedup_window_ms", per(HOUR)),
    ("docs/semantics.md", "the session has seen within the last {} hours", "limits.dedup_window_ms", per(HOUR)),
    ("docs/semantics.md", "kept for history | {} of each", "STORE_RETAIN_ITEMS", grouped),
    ("docs/semantics.md", "of each, or {} days, a session", "STORE_RETAIN_DAYS", grouped),
    ("docs/semantics.md", "a watcher's report within {} seconds before or after", "WATCHER_MS", seconds_in_words),
    ("docs/semantics.md", "or for {} seconds if it has a stamp", "PROOF_MS", per(SECOND)),
    ("docs/semantics.md", "The session remembers its {} newest calls", "MEMORY_CALLS", grouped),
    ("docs/events.md", "At most {} tools of a session declare", "DECLARED_TOOLS", grouped),
    ("docs/events.md", "each at most {} kinds", "DECLARED_KINDS", grouped),
    ("docs/events.md", "a name has at most {} bytes", "DECLARED_NAME_BYTES", grouped),
    ("docs/semantics.md", "the first {} characters of the summary", "SUMMARY_CHARACTERS", grouped),
    ("docs/semantics.md", "the last {} lines that", "LAST_LINES", grouped),
    ("docs/semantics.md", "lines that have at most {} bytes together", "LAST_BYTES", grouped),
    ("docs/semantics.md", "shown up to {} characters", "COMMAND_CHARACTERS", grouped),
    ("docs/turns.md", "the last {} living former owners", "FORMERS", word),
    ("docs/events.md", "choice: 1 to {} bytes without control characters", "MAX_BYTES", grouped),
    ("docs/embedding.md", "`wake_at` is never more than {} seconds away, because", "HEARTBEAT_MS", seconds_in_words),
    ("docs/embedding.md", "At most {} processes wait on one store", "STORE_WAITERS", grouped),
    ("docs/glossary.md", "named by 1 to {} bytes of UTF-8", "MAX_BYTES", grouped),
    ("docs/glossary.md", "{} hexadecimal digits in the fence", "NONCE_DIGITS", grouped),
    ("docs/configuration.md", "each block carries {} hexadecimal digits", "NONCE_DIGITS", grouped),
    ("docs/queries.md", "({} without it, at most", "QUERY_DEFAULT_LIMIT", grouped),
    ("docs/queries.md", "without it, at most {})", "QUERY_LARGEST_LIMIT", grouped),
    ("docs/queries.md", "A request has at most {} MiB.", "LARGEST_QUERY", per(MIB)),
    ("docs/hazards.md", "reserves {} MiB of blocks", "HEADROOM_BYTES", per(MIB)),
    ("docs/hazards.md", "The map is {} GiB, sparse", "MAP_BYTES", per(GIB)),
    ("docs/hazards.md", "are few. {} readers, and at most", "STORE_MAX_READERS", grouped),
    ("docs/hazards.md", "at most {} parked readers a process", "DB_PARKED_READERS", word),
    ("docs/hazards.md", "at open and every {} writes", "READER_CHECK_EVERY", grouped),
    ("docs/hosts/hooks.md", "waits at most {} ms for other processes", "HOOK_BUDGET_MS", grouped),
    ("docs/hosts/hooks.md", "Each hook has a limit of {} s", "HOOK_SECONDS", grouped),
    ("docs/hosts/hooks.md", "`Interrupt` have a limit of {} s", "END_SECONDS", grouped),
    ("docs/hosts/hooks.md", "If the marker is still missing {} s later", "WRITTEN_MS", per(SECOND)),
    ("docs/hosts/opencode.md", "the end of its answer, up to {} characters", "SUMMARY_CHARACTERS", grouped),
    ("docs/fleet.md", "which are dropped after {} days", "KEPT_DAYS", grouped),
    ("docs/fleet.md", "opens more, up to {}; then", "MOST_CONNECTIONS", grouped),
    ("docs/fleet.md", "`tidings store` waits {} seconds for it", "CONNECT_BUDGET_MS", seconds_in_words),
    ("docs/cli.md", "Complete logs beyond the newest {},", "KEPT_LOGS", grouped),
    ("docs/cli.md", "those older than {} days", "KEPT_DAYS", grouped),
    ("docs/cli.md", "then the last {} lines", "LINES_OF_FAILED", grouped),
    ("docs/cli.md", "the last {} lines follow", "LINES_OF_FINISHED", grouped),
    ("docs/cli.md", "up to {} lines follow that state why", "FAILURE_LINES", grouped),
    ("docs/semantics.md", "the first {} lines that have", "ERROR_LINES", grouped),
    ("docs/cli.md", "nothing has happened for {} (`--debounce`)", "DEBOUNCE_MS", lambda ms: {250: "a quarter of a second"}.get(ms, str(ms))),
    ("docs/cli.md", "at the latest after {} second.", "LONGEST_DELAY_MS", seconds_in_words),
    ("docs/cli.md", "Up to {} files are reported one by one", "ONE_BY_ONE", word),
    ("docs/cli.md", "more than a {} as a number", "LISTED", lambda number: {100: "hundred"}.get(number, str(number))),
    ("docs/cli.md", "as a number with {} names", "NAMED", lambda number: {20: "twenty"}.get(number, str(number))),
    ("docs/cli.md", "the carrier has more than {} MiB", "LARGEST_CARRIER", per(MIB)),
    ("docs/simulation.md", "Each schedule has {} to ", "SCHEDULE_MIN_STEPS", grouped),
    ("docs/simulation.md", "to {} steps and a session", "SCHEDULE_MAX_STEPS", grouped),
    ("docs/simulation.md", "{} bytes for the situation", "SCHEDULE_HEAD", grouped),
    ("docs/simulation.md", "and {} for each step.", "SCHEDULE_STEP", grouped),
    ("docs/troubleshooting.md", "**FULL**: {} notifications or messages wait", "limits.pending_per_session", grouped),
    ("docs/troubleshooting.md", "or the store has {} GiB of data", "ROWS_BYTES", per(GIB)),
    ("docs/troubleshooting.md", "in the session within the last {} hours", "limits.dedup_window_ms", per(HOUR)),
)


class Code:
    """The constants of the code, by their names. Each must have the same value in all of its definitions."""

    def __init__(self):
        self.text = "\n".join(path.read_text(encoding="utf-8") for folder in CODE for kind in ("*.c", "*.h")
                              for path in sorted((SOURCE / folder).rglob(kind)))
        self.known = {}

    def value(self, name):
        if name not in self.known:
            found = set(re.findall(rf"\b{name}\s*=\s*([^,;}}\n=]+)|#define {name}\s+(.+)", self.text))
            values = {self.evaluate("".join(pair)) for pair in found}
            assert len(values) == 1, f"{name} has the values {sorted(values)} in the code; expected one"
            self.known[name] = values.pop()
        return self.known[name]

    def evaluate(self, text):
        text = re.sub(r"/\*.*", "", text).replace("/", "//")
        text = re.sub(r"\((?:size_t|u?int\d+_t)\)", "", text)
        text = re.sub(r"\b[A-Z][A-Z0-9_]+\b", lambda name: str(self.value(name[0])), text)
        text = re.sub(r"(?<=\d)[uUlL]+\b", "", text)
        assert re.fullmatch(r"[\d\s()*/+<-]+", text), f"cannot evaluate {text!r}"
        return eval(text)  # pylint: disable=eval-used


def read(name):
    return (SOURCE / name).read_text(encoding="utf-8")


@functools.cache
def in_force(preset=None):
    """Returns every key of the plugin's settings for a configuration that names a preset, or for an empty one."""
    configuration = {"delivery": {"preset": preset}} if preset else {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config.json")
        path.write_text(json.dumps(configuration), encoding="utf-8")
        shown = subprocess.run([BUILD / "tidings", "config", "show", "--json", f"--config={path}"], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["config"]


def wrong_numbers(code, defaults):
    texts = {}
    for name, sentence, constant, written in STATED:
        text = texts.setdefault(name, " ".join(read(name).split()))
        try:
            is_limit = constant.startswith("limits.")
            value = defaults["limits"][constant.removeprefix("limits.")] if is_limit else code.value(constant)
            expected = sentence.replace("{}", written(value))
        except AssertionError as error:
            yield f"{name}: {sentence!r}: {error}"
            continue
        if expected not in text:
            yield f"{name}: {constant} is {value}, so it should say {expected!r}"


def rows(page, header):
    """Returns the rows below a table's header, as lists of cells."""
    table = page.partition(header + "\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def wrong_presets(page, schema):
    """Checks that each row of the presets' table names all settings of the preset."""
    names = set()
    for cells in rows(page, "| preset | format | place | order | cap, overflow | coalesce_window_ms | more |"):
        name = re.match(r"`(.*?)`", cells[0])[1]
        names.add(name)
        got = in_force(name)["delivery"]
        caps = [f"{got[key]} {unit}" for key, unit in (("max_items", "items"), ("max_tokens", "tokens")) if got[key]]
        cap = ", ".join(caps + [got["overflow"]]) if caps else "none"
        said = [f"preamble {got['preamble']}"] * (got["preamble"] != "always")
        ages = [f"ages after {got['age_after_ms'] // SECOND} s"] * bool(got["age_after_ms"])
        more = ", ".join(["annihilate"] * got["annihilate"] + [got["fence"]] * (got["fence"] != "none") + said + ages)
        expected = [got["format"], got["place"], got["order"], cap, str(got["coalesce_window_ms"]), more]
        stated = (cells[1:] + [""])[:6]
        if [cell.strip(" |") for cell in stated] != expected:
            yield f"{name}: the table says {stated}, the plugin {expected}"
        if ("(default)" in cells[0]) != (in_force()["delivery"]["preset"] == name):
            yield f"{name}: is it the default?"
    if names != set(schema["properties"]["delivery"]["properties"]["preset"]["enum"]):
        yield f"the table has {sorted(names)}"


def wrong_caps(page):
    """Compares the page's words for each preset's caps and place with the plugin."""
    for name, says in re.findall(r'^`\{"delivery": \{"preset": "([\w-]+)"\}\}`: (.*)$', page, re.MULTILINE):
        got = in_force(name)["delivery"]
        expected = [f"at most {word(got['max_items'])}"] * bool(got["max_items"]) + [f"{got['max_tokens']} tokens"] * bool(got["max_tokens"])
        expected.append({"prepend": "before the text", "append": "after the text"}[got["place"]])
        if sorted(re.findall(r"at most \w+|\d+ tokens|before the text|after the text", says)) != sorted(expected):
            yield f"{name}: the page should say {expected}, and says {says!r}"


def wrong_ranges(page, schema):
    said = dict(re.findall(r"^- `(\w+)`: (.*)", page, re.MULTILINE))
    for part in ("delivery", "turns", "critical"):
        for name, key in schema["properties"][part]["properties"].items():
            numbers = [int(number.replace(",", "")) for number in sum(re.findall(r"^([\d,]+) to ([\d,]+)", said.get(name, "")), ())]
            if name not in said and name != "preset":
                yield f"{part}.{name}: the page lacks it"
            elif key.get("type") == "integer" and numbers != [key["minimum"], key["maximum"]]:
                yield f"{part}.{name}: the page says {numbers}, the schema {key['minimum']} to {key['maximum']}"
    limits = schema["properties"]["limits"]["properties"]
    for name, *cells in rows(page, "| key | least | most | default |"):
        key = limits.pop(name.strip("` "))
        stated = [int(re.match(r"[\d,]+", cell)[0].replace(",", "")) for cell in cells]
        if stated != [key["minimum"], key["maximum"], key["default"]]:
            yield f"{name}: the page says {stated}, the schema {key}"
    if limits:
        yield f"limits that the page lacks: {sorted(limits)}"


def main():
    page, schema = read("docs/configuration.md"), json.loads(read("abi/schema/config.schema.json"))
    defaults = in_force()
    shown = json.loads(re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
    checks = (
        (f"{len(STATED)} numbers that documents state are the code's", list(wrong_numbers(Code(), defaults))),
        ("the page shows the plugin's defaults", [] if shown == defaults else [f"the page: {shown}", f"the plugin: {defaults}"]),
        ("the page's presets are the plugin's", list(wrong_presets(page, schema))),
        ("the caps and places beside the examples are the presets'", list(wrong_caps(page))),
        ("the page's ranges are the schema's", list(wrong_ranges(page, schema))),
    )
    for number, (title, findings) in enumerate(checks, 1):
        print(f"{'not ok' if findings else 'ok'} {number} - {title}")
        for finding in findings:
            print(f"# {finding}")
    print(f"1..{len(checks)}")
    return int(any(findings for _, findings in checks))


if __name__ == "__main__":
    sys.exit(main())
