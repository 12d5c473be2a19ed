#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The same scenarios print the same TAP $ROUNDS times, and so does one that fails.
# It makes a thousand stores, in memory if possible.
[ -w /dev/shm ] && TMPDIR=/dev/shm && export TMPDIR
. "$(dirname "$0")/kit.sh"

scenario '{"name": "fails", "steps": [
  {"event": {"type": "notification", "session": "s", "data": {"kind": "ci.done", "message": "one"}}},
  {"tool_result": {"session": "s", "content": "ok"}, "settle": "none"}, {"crash": {}},
  {"query": {"name": "history", "session": "s"}, "expect": {"deliveries": [], "nothing": 1}}]}'

"$hostsim" run --seed 7 "$TIDINGS_SOURCE_DIR"/hostsim/conformance/scenarios/*.json "$work/scenario.json" >"$work/first" 2>/dev/null
grep -q "^not ok .* - fails" "$work/first" || fail "the scenario that is to fail"
for round in $(seq 2 "$ROUNDS"); do
  "$hostsim" run --seed 7 "$TIDINGS_SOURCE_DIR"/hostsim/conformance/scenarios/*.json "$work/scenario.json" >"$work/out" 2>"$work/err"
  cmp -s "$work/first" "$work/out" || fail "round $round differs from the first: $(diff "$work/first" "$work/out" | head -n 5)"
done
ok "all runs, the same TAP"
leaves_nothing
