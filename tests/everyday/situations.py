# SPDX-License-Identifier: MIT
"""The twelve situations of docs/what-the-model-reads.md: for each its name, its title, a description, the events that tidings gets, and the next step
of a reader who has only the block. `before` has the events of version 0.2.0 where they differ."""
import datetime
import os

OUTPUTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "unit", "excerpt")
LOGS = "~/.local/state/tidings/logs"


def event(name, minutes_ago=0, **data):
    made = {"type": name, "data": data}
    if minutes_ago:
        when = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=minutes_ago, seconds=20)
        made["time"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    return made


def note(kind, message, minutes_ago=0, **more):
    return event("notification", minutes_ago, kind=kind, message=message, **more)


def file(path, minutes_ago=0, change="modified", **more):
    return event("file.changed", minutes_ago, path=path, change=change, **more)


def read(*path):
    with open(os.path.join(OUTPUTS, *path), encoding="utf-8") as text:
        return text.read()


def failed_tests(before):
    run = {"command": "npm test", "handle": "npm-33ff94", "exit_code": 1, "duration_ms": 12300, "log": f"{LOGS}/npm-33ff94.log"}
    if before:
        return [event("run.failed", tail="\n".join(read("outputs", "mocha.txt").splitlines()[-20:]), **run)]
    errors, tail = read("shown", "mocha.txt").split("The last lines:\n")
    return [event("run.failed", errors=errors.split("\n", 1)[1], tail=tail, **run)]


def rebase(_):
    def paths(folder, first, count):
        return [f"src/{folder}/part_{number:03}.c" for number in range(first, first + count)]
    return [event("file.changed", paths=paths("old", 0, 12), change="deleted"), event("file.changed", paths=paths("net", 0, 30), change="created"),
            event("file.changed", paths=paths("core", 0, 200) + paths("ui", 0, 158), change="modified")]


def flapping(_):
    return [event("mcp.state", server="github", state=state)
            for state in ("disconnected", "reconnected", "disconnected", "reconnected", "unresponsive", "disconnected")]


def webhook(_):
    return [note("ci.build", "build 4711 of main (3f2a91c) is running: https://ci.example.org/4711", key="main"),
            note("ci.build", "build 4711 of main (3f2a91c) failed: 2 of 214 tests. https://ci.example.org/4711", key="main", level="error"),
            note("slack", "@you: could you look at PR 2?")]


def full_disk(_):
    return [note("disk.full", "No space is left on /home (0 of 480 GB).", level="critical")]


def rate_limit(_):
    return [event("rate.limited", retry_after_ms=60000, provider="anthropic")]


def subagents(_):
    review = ("The change to the parser is right, but two cases are not tested: an empty file, and a file that ends within a comment. "
              "src/parse.c:214 reads one byte past the end if the last byte is a slash; tests/parse.c has no case for it. ")
    return [event("subagent.finished", slug="scout", summary="The setting is read in src/config.c:88 and written in src/save.c:41."),
            event("subagent.finished", slug="review", summary=review + "Callers that check the result: " + ", ".join(f"src/commands/of_the_editor_{number}/insert_and_replace.c" for number in range(6)))]


def edit_race(_):
    return [file("src/app.c", caused_by="call_7", stamp="17:2048:1"), file("src/app.c", stamp="17:2101:9")]


def long_build(before):
    steps = [f"[{100 * step // 240:3}%] Building C object src/CMakeFiles/app.dir/part_{step:03}.c.o" for step in range(1, 240)]
    lines = steps + ["[100%] Linking C executable app", "[100%] Built target app"]
    run = {"command": "make -j4", "handle": "make-9c1d02", "exit_code": 0, "duration_ms": 754000, "log": f"{LOGS}/make-9c1d02.log"}
    return [event("run.finished", tail="\n".join(lines[-20:] if before else lines[-1:]), **run)]  # the steps of a progress bar are one line


def node_modules(_):
    return [event("file.changed", paths=[f"node_modules/package-{number:04}/index.js" for number in range(1000)], change="created")]


def after_lunch(_):
    made = [file(f"src/api/handler_{number:02}.py", 118 - 3 * number) for number in range(26)]
    made += [event("mcp.state", 100 - number, server="db", state="disconnected" if number % 2 == 0 else "reconnected") for number in range(4)]
    made += [note("ci.build", f"build {80 + number} of main is {'red' if number % 3 == 1 else 'green'}", 90 - 12 * number, key="main") for number in range(6)]
    made += [event("rate.limited", 70, retry_after_ms=1000)]
    made += [note("slack", "@you: the demo is at 15:00", 65), note("slack", "@you: could you look at PR 2?", 30),
             note("calendar.soon", "Demo in 10 minutes", 9)]
    return made


def configuration(_):
    return [event("config.changed", summary="model is now large-2; the tool deploy needs an approval")]


SITUATIONS = [
    ("failed-tests", "Failed tests", "`tidings run -- npm test` has failed.", failed_tests,
     "Open `test/array.js` at line 6: `indexOf()` returned 2 where -1 was expected."),
    ("rebase", "A rebase over 400 files", "The user has rebased the branch in another terminal, and the host lists the files.", rebase,
     "Read files again before editing them, stop using what was in `src/old`, and look at the new `src/net`."),
    ("flapping-server", "A flapping server", "An MCP server was lost and came back several times.", flapping,
     "Do not call tools of `github` for now; go on without them."),
    ("ci-webhook", "A CI webhook", "CI reports a build step by step, and somebody asks in Slack.", webhook,
     "Open the failed build 4711 and find the two tests; tell the user about PR 2."),
    ("full-disk", "A full disk", "A monitor has noticed that nothing can be written any more.", full_disk,
     "Stop building, say so, and free space on `/home` or ask for it."),
    ("rate-limit", "A rate limit", "The provider refuses requests for a minute.", rate_limit,
     "Start no further calls to anthropic for a minute; do local work first."),
    ("two-subagents", "Two subagents", "Two subagents have finished; one of them had much to say.", subagents,
     "Change `src/config.c` and `src/save.c`; fix the read in `src/parse.c:214` and add the two tests."),
    ("edit-race", "An edit race", "The model has edited a file, and the user's editor saved it after that.", edit_race,
     "Read `src/app.c` again before the next edit."),
    ("long-build", "A long build", "`tidings run -- make -j4` was successful.", long_build,
     "Go on with what needed the build."),
    ("node-modules", "node_modules", "The user has installed 1,000 packages, and the host lists the files.", node_modules,
     "Read nothing again; a build that lacked packages may pass now."),
    ("after-lunch", "After lunch", "The session was idle for two hours: 40 notifications wait.", after_lunch,
     "Read files in `src/api` again before editing them; main is green; mention PR 2 and the demo to the user."),
    ("configuration", "The configuration", "The user has changed the agent's configuration.", configuration,
     "Expect that a call of `deploy` has to be approved."),
]
