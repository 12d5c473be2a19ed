# SPDX-License-Identifier: MIT
"""checks.py: makes each push of one table through the plugin and with SQL: both must accept it and store the same row, or both must refuse it with
the same words.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position

# Members of the event's data, or of the event itself: session, id, source.
GOOD = {"session": "s", "kind": "ci.failed", "level": "error", "message": "the build is red"}
LONG, LONGER = "x" * 1024, "x" * 1025
TABLE = [
    {}, {"kind": "ci"}, {"kind": "ci.failed.twice"}, {"message": " \t\n a \n"}, {"message": "quote \" and \\ and … and 🔴"}, {"message": "x" * 16384},
    {"message": "é" * 8000 + "x" * 400}, {"message": "x" + "é" * 16000}, {"data": {"a": [1, 2.5, None, True, "…"]}}, {"data": "text"}, {"data": 7},
    {"ttl_ms": 1}, {"ttl_ms": 2 ** 62}, {"ttl_ms": 2 ** 63 - 1}, {"activation": "interrupt"}, {"activation": "silent", "key": "k"}, {"tool": "shell", "handle": "h", "caused_by": "c", "key": "k"},
    {"key": LONG}, {"id": LONG}, {"source": LONG}, {"session": "s" * 255}, {"level": "critical"}, {"key": "a\nb"}, {"data": "x" * 150000},
    {"session": ""}, {"session": "s" * 256}, {"session": "a\nb"}, {"session": "é" * 128}, {"kind": ""}, {"kind": ".failed"}, {"kind": "ci."}, {"kind": "."},
    {"kind": "a\tb.c"}, {"kind": "x" * 1025}, {"kind": "\u0085.x"}, {"message": ""}, {"message": " \t\r\n"}, {"message": "\u00a0"}, {"level": "loud"},
    {"level": ""}, {"level": "\"\\" + "y" * 100}, {"level": "z\u200b"}, {"activation": "later"}, {"activation": "silent"}, {"ttl_ms": -1}, {"ttl_ms": -2 ** 63}, {"key": LONGER}, {"tool": LONGER},
    {"handle": LONGER}, {"caused_by": LONGER}, {"id": LONGER}, {"source": LONGER}, {"id": "a\x07"}, {"source": "a\x1f"}, {"message": "x" * 300000},
    {"data": {"a": [-2 ** 63, 2 ** 63 - 1, 0.5, -1.5e-7]}}, {"data": {"a \" 99999999999999999999": "\\\" 99999999999999999999"}}, {"data": {"a": [{"b": 2 ** 63}]}},
    {"data": -2 ** 63 - 1}, {"data": {"a": 10 ** 400}}, {"data": "x" * 300000}, {"data": "deep"}, {"data": "deepest"}, {"level": "loud", "kind": ".x"}, {"message": "", "level": "loud"}, {"session": "", "kind": ""},
]


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def by_event(host, fields):
    event = {"type": "notification", **{name: fields[name] for name in ("session", "id", "source") if name in fields},
             "data": {name: value for name, value in fields.items() if name not in ("session", "id", "source")}}
    try:
        host.call("event", event=json.dumps(event))
        return None
    except kit.Failed as failed:
        return failed.text


def by_sql(server, fields):
    literal = [f"{name} => {value}" if name == "ttl_ms" else f"{name} => $q${json.dumps(value, ensure_ascii=False)}$q$::jsonb" if name == "data" else
               f"{name} => $q${value}$q$" for name, value in fields.items()]
    done = subprocess.run([os.path.join(server.bin, "psql"), "-XAtq", "-v", "VERBOSITY=terse", "-h", server.folder, "-U", "ci", "-d", "fleet"],
                          input=f"SELECT tidings.push({', '.join(literal)})", capture_output=True, text=True, check=False)
    return re.sub(r"^ERROR:  ", "", done.stderr.strip()) or None


def alike(words):
    """Removes the place and the size in the event's JSON from an error."""
    return words and re.sub(r"( levels| bits),? at line \d+, column \d+$", r"\1", re.sub(r"event: \d+ bytes are", "event: N bytes are", words))


def main():
    with kit.Server(**kit.Server.FAST) as server:
        url = kit.make_store(server)
        server.sql("CREATE ROLE ci LOGIN; GRANT tidings_producer TO ci")
        host, taken = kit.Kit(url, role="producer"), 0
        for row in TABLE:
            fields = {**GOOD, **row}
            if fields.get("data") in ("deep", "deepest"):
                fields["data"] = nested(14 if fields["data"] == "deep" else 15)
            server.sql("DELETE FROM tidings.inbox; DELETE FROM tidings.seen")
            words = [alike(by_event(host, fields))]
            server.sql("DELETE FROM tidings.seen")
            words.append(alike(by_sql(server, fields)))
            bodies = server.sql("SELECT count(*), count(DISTINCT (message, level, activation, kind, nullif(data, '')::jsonb, key, tool, handle, caused_by, least(ttl_ms, 2::bigint ^ 60))) "
                                "FROM tidings.inbox, tidings.record_read(body)")
            apart = server.sql("SELECT coalesce(max(abs(pushed_ms - extract(epoch FROM pushed) * 1000)), 0) < 1000 FROM (SELECT pushed, (tidings.record_read(body)).pushed_ms FROM tidings.inbox) AS one")
            what = json.dumps(row)[:60]
            expect(apart == "t", f"{what}: it has the time at which it was pushed")
            expect(words[0] == words[1], f"{what}: {words[0]}" if len(set(words)) == 1 else f"{what}: {words}")
            expect(bodies == ("0|0" if words[0] else "2|1"), f"{what}: {'nothing' if words[0] else 'the same'} is stored: {bodies}")
            taken += not words[0]
        host.close()
        print(f"# sum: checks: {len(TABLE)} pushes in two ways, {taken} taken: {len(failures)} differ")
        expect(10 < taken < len(TABLE) - 10, "some are taken, some are refused")
    return bool(failures)


sys.exit(main())
