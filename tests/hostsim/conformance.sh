#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests hostsim conformance: it passes on tidings.so, reports a refused file as one case, and distinguishes crashed, hung and skipped cases.
. "$(dirname "$0")/kit.sh"

# Under a sanitizer, only the cases that tests/scenarios does not run there.
case ${TIDINGS_SANITIZE:-} in
  '') parts='.' ;;
  *) parts=$("$hostsim" conformance --list | sed -n 's/^\([a-z]*\.\{0,1\}\).*/\1/p' | sort -u | sed 's/^scenario\.$/scenario.render-grouped/') ;;
esac
for part in $parts; do
  run 0 "$hostsim" conformance --plugin "$plugin" --filter "$part"
  tail -n 1 "$work/out" | grep -Eq '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' || fail "the last line counts"
  cat "$work/out" >>"$work/passed"
done
for name in load threads.one-session scenario.render-grouped; do
  grep -qxF "passed   $name" "$work/passed" || fail "$name passed"
done
if [ "$parts" = . ]; then
  listed=$("$hostsim" conformance --list | wc -l)
  [ "$(grep -Ec '^(passed|skipped) ' "$work/passed")" -eq "$listed" ] || fail "every case of --list ($listed) ran"
fi
ok "tidings.so passes"

run 0 "$hostsim" conformance --plugin "$plugin" --filter settle.
says out "passed   load"
says out "passed   settle.twice"
lacks out "passed   entry.readable"
run 0 "$hostsim" conformance --list --filter settle.
says out "settle.twice: "
lacks out "load: "
ok "--list and --filter"

{ "$hostsim" conformance --plugin "$plugin" --filter settle. 2>"$work/err"; echo $? >"$work/status"; } | head -n 1 >"$work/out"
says out "passed   load"
is_empty err
[ "$(cat "$work/status")" -eq 141 ] || fail "a reader that has gone ends it with 141"
leaves_nothing
ok "it removes its stores when its reader has gone"

head -c 5000 "$plugin" >"$work/truncated.so"
run 1 "$hostsim" conformance --plugin "$work/truncated.so"
grep -q '^failed   load: refused: ..*' "$work/out" || fail "a truncated file is refused with the reason"
last_line_is "0 passed, 1 failed, 0 skipped"
printf 'not a library\n' >"$work/text.so"
run 1 "$hostsim" conformance --plugin "$work/text.so"
grep -q '^failed   load: refused: ..*' "$work/out" || fail "a text file is refused with the reason"
last_line_is "0 passed, 1 failed, 0 skipped"
run 1 "$hostsim" conformance --plugin "$work/absent.so"
grep -q '^failed   load: refused: ..*' "$work/out" || fail "a file that is not there is refused with the reason"
last_line_is "0 passed, 1 failed, 0 skipped"
ok "what cannot be loaded is one failed case"

run 1 "$hostsim" conformance --plugin "$FAULT_PLUGIN"
says out "passed   entry.readable"
says out "skipped  query.arguments: it has no tidings.query/1"
says out "skipped  scenario.deliver-tool-result: step 1: unexpected error: TIDINGS_E_UNSUPPORTED: no event type is known here"
says out "failed   call.null-spans: "
FAULT=crash; export FAULT
run 1 "$hostsim" conformance --plugin "$FAULT_PLUGIN" --filter empty-hook
says out "crashed  call.empty-hook: signal 6 (Aborted)"
last_line_is "1 passed, 1 failed, 0 skipped"
FAULT=exit
run 1 "$hostsim" conformance --plugin "$FAULT_PLUGIN" --filter empty-hook
says out "failed   call.empty-hook: the process exited with code 0 before the case had ended"
FAULT=hang
for limit in $limits; do
  run 1 "$hostsim" conformance --plugin "$FAULT_PLUGIN" --filter empty-hook --timeout "$limit"
  if grep -q "^passed   load" "$work/out"; then break; fi
done
says out "hung     call.empty-hook: it did not end within $limit ms"
last_line_is "1 passed, 1 failed, 0 skipped"
ok "failed, crashed, exited, hung and skipped are told apart"
leaves_nothing
