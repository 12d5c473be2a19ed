#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests the TAP of hostsim run for a scenario that is invalid, fails, crashes or hangs.
. "$(dirname "$0")/kit.sh"

play() { # EXPECTED-STATUS SCENARIO [OPTIONS…]
  scenario "$2"
  expected=$1
  shift 2
  run "$expected" "$hostsim" run "$@" "$work/scenario.json"
}

push='{"event": {"type": "notification", "session": "s", "data": {"kind": "ci.done", "message": "one"}}}'
there='{"query": {"name": "pending", "session": "s"}, "expect": {"count": 1}}'

play 0 '{"name": "passes", "steps": ['"$push"', {"tool_result": {"session": "s", "content": "ok"}, "expect": {"content_contains": ["- one"]}}]}'
[ "$(cat "$work/out")" = "TAP version 13
1..1
ok 1 - passes" ] || fail "the TAP of one scenario that passes"
ok "a scenario that passes"

play 1 '{"name": "differs", "steps": [
  '"$push"',
  {"tool_result": {"session": "s", "content": "ok"},
   "expect": {"notifications": [{"level": "error", "message": "two"}], "content_contains": ["absent"], "content_lacks": ["one"], "duplicate": true}},
  {"query": {"name": "no such query"}}]}'
says out "not ok 1 - differs"
says out '# step 2: notifications[0].level: expected "error" got "info"'
says out '# step 2: notifications[0].message: expected "two" got "one"'
says out '# step 2: content: expected to contain "absent" got "'
says out '# step 2: content: expected not to contain "one" got "'
says out '# step 2: duplicate: expected true got false'
lacks out '# step 3'
ok "what differs is shown as expected against got"

play 1 '{"name": "lists", "steps": ['"$push"', '"$there"', {"tool_result": {"session": "s"}, "expect": {"notifications": []}}]}'
says out 'notifications: expected [] got [{'
play 1 '{"name": "content", "steps": [{"tool_result": {"session": "s", "content": "a\nb"}, "expect": {"content": "a"}}]}'
says out '# step 1: content: expected "a" got "a\nb"'
play 1 '{"name": "ledger", "steps": ['"$push"', {"tool_result": {"session": "s"}, "expect": {"ledger_contains": ["x"], "ledger_lacks": ["y"]}}]}'
says out '# step 2: ledger: expected to contain "x" got nothing'
lacks out '"y"'
ok "lists have the same length, content is compared whole"

play 1 '{"name": "error", "steps": [{"event_raw": "{not json"}]}'
says out "# step 1: unexpected error: TIDINGS_E_INVAL: "
play 1 '{"name": "no error", "steps": [{"tool_result": {"session": "s"}, "expect": {"error": "TIDINGS_E_BUSY"}}]}'
says out '# step 1: error: expected "TIDINGS_E_BUSY" got nothing'
play 1 '{"name": "other error", "steps": [{"event_raw": "{not json", "expect": {"error": "TIDINGS_E_BUSY", "error_contains": "unicorn"}}]}'
says out '# step 1: error: expected "TIDINGS_E_BUSY" got "TIDINGS_E_INVAL"'
says out "# step 1: error's text: expected to contain \"unicorn\" got"
play 1 '{"name": "bad config", "config": {"surprise": 1}, "steps": []}'
says out "# open: TIDINGS_E_SCHEMA: "
ok "errors that were not expected, and expected ones that do not come"

wrong() { # WHAT-IT-SAYS SCENARIO
  play 1 "$2"
  says out "not ok 1 - "
  says out "# $1"
}
wrong "surprise: unknown key" '{"name": "x", "steps": [], "surprise": 1}'
wrong "name: is missing" '{"steps": []}'
wrong "steps: is missing" '{"name": "x"}'
wrong "steps: must be a list" '{"name": "x", "steps": {}}'
wrong "step 1: unknown step, or more than one in it" '{"name": "x", "steps": [{"frobnicate": {}}]}'
wrong "step 1: unknown step, or more than one in it" '{"name": "x", "steps": [{"restart": {}, "swap": {}}]}'
wrong "step 1: must be an object" '{"name": "x", "steps": ["restart"]}'
wrong "step 1: tool_result.sesion: unknown key" '{"name": "x", "steps": [{"tool_result": {"session": "s", "sesion": "s"}}]}'
wrong "step 1: tool_result.session: is missing" '{"name": "x", "steps": [{"tool_result": {}}]}'
wrong "step 1: expect.contents: unknown key" '{"name": "x", "steps": [{"tool_result": {"session": "s"}, "expect": {"contents": "x"}}]}'
wrong "step 1: expect.notifications: must be a list" '{"name": "x", "steps": [{"tool_result": {"session": "s"}, "expect": {"notifications": 1}}]}'
wrong "step 1: settle: must be one of committed, rolled_back, none" '{"name": "x", "steps": [{"tool_result": {"session": "s"}, "settle": "maybe"}]}'
wrong "step 1: settle.outcome: must be one of committed, rolled_back" '{"name": "x", "steps": [{"settle": {"delivery": "1", "outcome": "none"}}]}'
wrong "step 1: chat_request.source: must be one of user, system" '{"name": "x", "steps": [{"chat_request": {"session": "s", "source": "nobody"}}]}'
wrong "step 1: expect: unknown key" '{"name": "x", "steps": [{"advance_ms": 5, "expect": {}}]}'
wrong "step 1: restart: must be an empty object" '{"name": "x", "steps": [{"restart": {"now": true}}]}'
wrong "step 1: as: must be one of second, producer" '{"name": "x", "steps": [{"query": {"name": "pending", "session": "s"}, "as": "host"}]}'
wrong "step 1: as: unknown key" '{"name": "x", "steps": [{"swap": {}, "as": "second"}]}'
wrong "step 1: as: belongs to the next step" '{"name": "x", "steps": [{"crash": {"at": "commit", "n": 1}, "as": "second"}, '"$push"']}'
wrong "step 1: advance_ms: must be a whole number" '{"name": "x", "steps": [{"advance_ms": "5"}]}'
wrong "step 1: crash.at: must be one of commit" '{"name": "x", "steps": [{"crash": {"at": "push", "n": 1}}, '"$push"']}'
wrong 'step 1: crash: `at` and `n` go together' '{"name": "x", "steps": [{"crash": {"at": "commit"}}, '"$push"']}'
wrong "step 1: crash.n: must be 1 or more" '{"name": "x", "steps": [{"crash": {"at": "commit", "n": 0}}, '"$push"']}'
wrong "step 1: crash.at: the next step must be one that calls the plugin" '{"name": "x", "steps": [{"crash": {"at": "commit", "n": 1}}, {"restart": {}}]}'
wrong "step 1: crash.at: the next step must be one that calls the plugin" '{"name": "x", "steps": [{"crash": {"at": "commit", "n": 1}}]}'
wrong "step 1: query.name: must be a string" '{"name": "x", "steps": [{"query": {}}]}'
wrong "step 1: so far there was no delivery" '{"name": "x", "steps": [{"settle": {"delivery": "$last", "outcome": "committed"}}]}'
wrong "step 1: so far there was no offer" '{"name": "x", "steps": [{"chat_request": {"session": "s", "messages": "$offer"}}]}'
wrong "not JSON: line 1, column" '{"name": "x", "steps": [}'
wrong "not JSON: line 1, column" '{"name": "x", "name": "y", "steps": []}'
ok "unknown keys, unknown steps and wrong types fail"

only_absent() { # STEP AND EXPECTATION, STEPS
  play 1 '{"name": "absent", "steps": ['"$2"']}'
  says out "# $1 asserts that something is absent, and no step asserts that it was present; first assert that it is present"
}
only_absent 'step 2: expect.notifications: []' "$push"', {"tool_result": {"session": "x"}, "expect": {"notifications": []}}'
only_absent 'step 2: expect.content: "ok"' "$push"', {"tool_result": {"session": "x", "content": "ok"}, "expect": {"content": "ok"}}'
only_absent 'step 1: expect.content: ""' '{"tool_result": {"session": "x"}, "expect": {"content": ""}}'
only_absent 'step 1: expect.content_lacks: ["one"]' '{"tool_result": {"session": "x", "content": "ok"}, "expect": {"content_contains": [], "content_lacks": ["one"]}}'
only_absent 'step 1: expect.delivery: null' '{"tool_result": {"session": "x"}, "expect": {"delivery": null, "duplicate": false}}'
only_absent 'step 2: expect.count: 0' '{"event_raw": "{", "expect": {"error": "TIDINGS_E_INVAL"}}, {"query": {"name": "pending", "session": "x"}, "expect": {"count": 0}}'
only_absent 'step 1: expect.status.messages: []' '{"event": {"type": "session.opened", "session": "s"}, "expect": {"status": {"state": "idle", "messages": []}}}'
play 0 '{"name": "there, then not", "steps": ['"$push"', {"tool_result": {"session": "s"}, "expect": {"content_contains": ["one"]}},
  {"tool_result": {"session": "s"}, "expect": {"notifications": []}}]}'
play 0 '{"name": "a count", "steps": ['"$push"', {"query": {"name": "pending", "session": "s"}, "expect": {"count": 1, "leased": 0}}]}'
ok "a scenario that only asserts absence is refused"

run 1 "$hostsim" run "$work/absent.json" "$work"
says out "1..2"
says out "not ok 1 - $work/absent.json"
says out "No such file or directory"
says out "not ok 2 - $work"
ok "a file that cannot be read is a test point that fails"

play 1 '{"name": "too few", "steps": [{"tool_result": {"session": "s"}}, '"$push"', {"crash": {"at": "commit", "n": 3}}, {"tool_result": {"session": "s"}}, '"$push"']}'
says out "# step 4: it was to die inside commit 3 but made only 2 commits"
play 1 '{"name": "blind", "steps": ['"$push"', '"$there"', {"crash": {"at": "commit", "n": 1}}, {"event": {"type": "notification", "session": "s", "data": {"kind": "a.b", "message": "m"}}, "expect": {"delivery": null}}]}'
says out "# step 4: died before it answered"
ok "a death inside a commit that does not come"

play 0 '{"name": "three processes", "steps": [
  {"event": {"type": "session.opened", "session": "s"}},
  {"event": {"type": "notification", "session": "s", "data": {"kind": "ci.done", "message": "one"}}, "as": "producer"},
  {"tool_result": {"session": "s"}, "as": "producer", "expect": {"error": "TIDINGS_E_UNSUPPORTED"}},
  {"tool_result": {"session": "s"}, "as": "second", "expect": {"error": "TIDINGS_E_OWNED"}},
  {"crash": {}},
  {"tool_result": {"session": "s"}, "as": "second", "settle": "none", "expect": {"notifications": [{"message": "one"}]}},
  {"tool_result": {"session": "s"}, "expect": {"error": "TIDINGS_E_OWNED"}},
  {"crash": {}, "as": "second"},
  {"tool_result": {"session": "s"}, "expect": {"notifications": [{"message": "one"}]}},
  {"crash": {"at": "commit", "n": 1}},
  {"event": {"type": "notification", "session": "s", "data": {"kind": "ci.done", "message": "two"}}, "as": "producer"},
  {"event": {"type": "notification", "session": "s", "data": {"kind": "ci.done", "message": "three"}}, "as": "producer"},
  {"tool_result": {"session": "s"}, "expect": {"notifications": [{"message": "three"}]}}]}'
ok "a second host and a producer are processes of their own, and die alone"

FAULT=crash; export FAULT
play 1 '{"name": "crashes", "steps": [{"tool_result": {"session": "s"}}]}' --plugin "$FAULT_PLUGIN"
says out "# step 1: the host process was killed by signal 6 (Aborted)"
FAULT=exit
play 1 '{"name": "exits", "steps": [{"tool_result": {"session": "s"}}]}' --plugin "$FAULT_PLUGIN"
says out "# step 1: the host process exited with code 0"
FAULT=hang
for limit in $limits; do
  play 1 '{"name": "hangs", "steps": [{"tool_result": {"session": "s"}}]}' --plugin "$FAULT_PLUGIN" --timeout "$limit"
  if grep -q "^# step 1: hung" "$work/out"; then break; fi
done
says out "# step 1: hung: the host process did not answer within $limit ms and was killed"
unset FAULT
{ printf '{"name": "long", "steps": [{"tool_result": {"session": "s", "content": "'; head -c 68000000 /dev/zero | tr '\0' x; printf '"}}]}\n'; } >"$work/scenario.json"
run 1 "$hostsim" run "$work/scenario.json"
says out "# step 1: as JSON the step has more than 64 MiB"
rm "$work/scenario.json"
play 1 '{"name": "unsupported", "steps": ['"$push"']}' --plugin "$FAULT_PLUGIN"
says out "TIDINGS_E_UNSUPPORTED: no event type is known here"
play 1 '{"name": "absent", "steps": []}' --plugin "$work/absent.so"
says out "# open: "
ok "a plugin that crashes, exits, hangs or is not there"
leaves_nothing

FAULT=hang; export FAULT
scenario '{"name": "hangs", "steps": [{"tool_result": {"session": "s"}}]}'
env --default-signal=HUP "$hostsim" run --plugin "$FAULT_PLUGIN" "$work/scenario.json" >"$work/out" 2>"$work/err" &
playing=$!
has_made_one() { [ -n "$(ls -A "$work/tmp")" ]; }
eventually has_made_one
kill -HUP "$playing"
wait "$playing"
[ $? -eq 129 ] || fail "a terminal that is closed ends it with 129"
says out "Bail out! interrupted"
unset FAULT
ok "it removes its stores when its terminal is closed"
leaves_nothing

play 0 '{"name": "kept", "steps": ['"$push"']}' --keep
store=$(sed -n 's/^hostsim: the store is //p' "$work/err")
[ -d "$store" ] && [ -n "$(ls -A "$store")" ] || fail "--keep leaves the store and says where"
ok "--keep"
