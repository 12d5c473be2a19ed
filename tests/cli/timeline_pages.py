# SPDX-License-Identifier: MIT
"""Makes pages of `tidings timeline` with the test's data: takes the page that the command has written, and replaces the data in it."""
import json
import random

SPLIT = '<script type="application/json" id="data">'
OUTCOMES = ["delivered"] * 14 + ["superseded"] * 2 + ["annihilated", "withdrawn", "expired", "filtered", "dropped"]


def data_of(page):
    return json.loads(page.split(SPLIT)[1].split("</script>")[0])


def with_data(page, data):
    before, rest = page.split(SPLIT)
    return before + SPLIT + json.dumps(data, ensure_ascii=False).replace("<", "\\u003c") + "</script>" + rest.split("</script>", 1)[1]


def many(count, seed=7):
    """Returns a session with `count` notifications of twelve producers over about a day, which carriers deliver in groups."""
    rng = random.Random(seed)
    strings, places = [], {}

    def text(value):
        if value not in places:
            places[value] = len(strings)
            strings.append(value)
        return places[value]

    start, columns = 1790000000000, {name: [] for name in ("time", "taken_at", "occurred_at", "id", "source", "name", "level", "outcome", "delivery", "handle", "message", "text")}
    deliveries, transitions, now = [], [], start
    for i in range(count):
        now += rng.choice((0, 5, 40, 200, 900, 3000))
        if not deliveries or i % 9 == 0:
            deliveries.append({"id": str(4294967297 + len(deliveries)), "outcome": "committed", "carrier": rng.choice(("tool_result", "tool_result", "chat_request")),
                               "tool": "Bash", "call_id": f"call-{len(deliveries)}", "settled_by": "host", "time": now + rng.randrange(200, 60000),
                               "settled_at": now + 60400, "rewound_at": 0, "epoch": 1 + len(deliveries) * 4 // (count // 9 + 1),
                               "rendering": {"preset": "plain", "format": "plain", "host_name": "Claude Code", "room": 9600, "bytes": 87, "same": True},
                               "shown": [text(f"**Info:**\n- The build of target {i} has ended after {i % 97} seconds, with warnings.\n")]})
            transitions.append({"time": now, "event": "turn.started" if len(transitions) % 2 == 0 else "turn.finished",
                                "from": "idle" if len(transitions) % 2 == 0 else "busy", "to": "busy" if len(transitions) % 2 == 0 else "idle", "messages": []})
        open_ = i > count - 40
        delivery = deliveries[-1]
        outcome = "pending" if open_ else rng.choice(OUTCOMES)
        source = f"producer-{min(int(rng.expovariate(0.4)), 11)}"
        for name, value in (("time", now), ("taken_at", 0 if open_ else delivery["time"]), ("occurred_at", 0), ("id", text(str(4294967297 + i))), ("source", text(source)),
                            ("name", text(rng.choice(("ended", "failed", "changed")))), ("level", text(rng.choices(("info", "warning", "error", "critical"), (80, 12, 7, 1))[0])),
                            ("outcome", text(outcome)), ("delivery", text("" if open_ else delivery["id"])), ("handle", text("")),
                            ("message", text(f"The build of target {i} has ended after {i % 97} seconds, with {i % 7} warnings in src/module_{i % 300}.c"))):
            columns[name].append(value)
        columns["text"] += [text(f'The notification "{source}.ended", level info, was received at 2026-09-21T08:00:{i % 60:02}.{i % 1000:03}Z.'), text(f" At 2026-09-21T09:00:00.000Z, in delivery {delivery['id']} with a tool result, it was shown to the assistant.")]
    messages = [{"id": f"m{i}", "state": "fired", "delivery": "queue", "time": start + (now - start) * i // 12, "content": text(f"Look at number {i}, and say what broke it."), "trigger": i % 4 == 3}
                for i in range(12)]
    return {"session": "many", "time": now + 61000, "messages": messages, "forgotten": {"items": 90000, "deliveries": 9000, "before": start}, "items": columns, "deliveries": deliveries, "transitions": transitions, "strings": strings,
            "attachment": {"since": start, "host": "an agent", "cwd": "/srv/many", "pid": 4711, "epoch": 5, "alive": True}}
