#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests schedules, which are byte strings: the same seed plays the same schedule, a schedule with a difference can be saved and played again, and
# other bytes are refused. There is no plugin here that differs from the model (mutants.py makes some), but one that dies.
. "$TIDINGS_SOURCE_DIR/tests/hostsim/kit.sh"

run 0 "$hostsim" sim --plugin "$plugin" --seed 7 --steps 600 --story
is_empty err
says out " 0 differences"
cp "$work/out" "$work/first"
run 0 "$hostsim" sim --plugin "$plugin" --seed 7 --steps 600 --story
sed 's/"delivery":"[0-9]*"//; s/"deliveries":\[[^]]*\]//' "$work/first" >"$work/first.plain"
sed 's/"delivery":"[0-9]*"//; s/"deliveries":\[[^]]*\]//' "$work/out" >"$work/out.plain"
cmp -s "$work/first.plain" "$work/out.plain" || fail "the same seed plays the same"
run 0 "$hostsim" sim --plugin "$plugin" --seed 7 --first 1 --schedules 1 --separate
says out "seed 7: 1 schedules"
ok "the same seed plays the same schedules"

for schedule in "$TIDINGS_SOURCE_DIR"/tests/sim/schedules/*; do
  run 0 "$hostsim" sim --plugin "$plugin" --schedule "$schedule"
  says out " 0 differences"
done
ok "schedules that differed once do not differ"

printf '\0\0\0\0\0\0\0\0' >"$work/empty"
run 0 "$hostsim" sim --plugin "$plugin" --schedule "$work/empty"
says out "1 schedules, 1 steps, 0 differences" # the waiting step is played: the session is opened
printf '\0\0\0\0\0\0\0\0\47\0\0\0\0\0\0\0' >"$work/one"
run 0 "$hostsim" sim --plugin "$plugin" --schedule "$work/one" --story
says out '   1  host {"type":"subagent.finished"'
says out " 0 differences"
printf 'short' >"$work/short"
run 2 "$hostsim" sim --plugin "$plugin" --schedule "$work/short"
says err "5 bytes are not a schedule; expected 8 and a multiple of 8, at most 1608 in all"
run 2 "$hostsim" sim --plugin "$plugin" --schedule "$work/none"
says err "No such file or directory"
ok "a schedule from a file"

run 1 "$hostsim" sim --plugin "$work/none.so" --steps 10
says out "none.so"
printf '\0\0\0\0\0\0\0\0\243\0\0\0\0\0\0\0' >"$work/tool_result"
for fault in crash exit; do
  run 1 env FAULT=$fault "$hostsim" sim --plugin "$FAULT_PLUGIN" --schedule "$work/tool_result" --save "$work/saved"
  says out "once more, with the host in a process of its own"
  says out 'host {"op":"tool_result"'
  cmp -s "$work/tool_result" "$work/saved" || fail "what differs is saved"
done
says out "host: the host process exited with code 0"
run 1 env FAULT=hang "$hostsim" sim --plugin "$FAULT_PLUGIN" --schedule "$work/tool_result" --timeout 1000
says out "the process with the plugin hung"
run 1 "$hostsim" sim --plugin "$FAULT_PLUGIN" --steps 100
says out "TIDINGS_E_UNSUPPORTED"
says out "shrunk from "
says out " to 1 in "
ok "a plugin that is not there, that dies, exits, hangs, or differs"
"$hostsim" sim --plugin "$plugin" --story 2>"$work/err" | head -n 1 >"$work/out"
is_empty err
ok "whoever has read enough may close the pipe"
leaves_nothing
