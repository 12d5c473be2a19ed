#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_wake.sh HOST PLUGIN: tests that a push of another process wakes the sleeping example host, which starts a turn. Prints TAP.
set -u
host=$1 plugin=$2
work=$(mktemp -d)
sleeper=
trap '[ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null; rm -rf "$work"' EXIT
failed=0

result() { # NUMBER WHAT STATUS
  if [ "$3" -eq 0 ]; then
    echo "ok $1 - $2"
  else
    echo "not ok $1 - $2"
    sed 's/^/# /' "$work/out" "$work/err"
    failed=1
  fi
}

# Waits until the line is there, the host has ended, or two minutes have passed.
wait_for() {
  for _ in $(seq 1200); do
    grep -qx "$1" "$work/out" && return 0
    kill -0 "$sleeper" 2>/dev/null || break
    sleep 0.1
  done
  grep -qx "$1" "$work/out"
}

"$host" "$plugin" "$work/store" >"$work/out" 2>"$work/err" &
sleeper=$!
wait_for asleep
result 1 "it goes to sleep" $?
"$host" "$plugin" "$work/store" '"main" \ is }} broken' >"$work/push" 2>>"$work/err"
result 2 "another process pushes" $?
wait_for 'a turn is to be started: Critical notification (ci.failed); see the notifications in this message.'
result 3 "it wakes up and starts a turn" $?
wait "$sleeper"
result 4 "and ends well" $?
sleeper=
[ ! -s "$work/err" ]
result 5 "it has nothing to complain of" $?

: >"$work/out" # the new host has not emptied it yet, perhaps
"$host" "$plugin" "$work/other" >"$work/out" 2>"$work/err" &
sleeper=$!
wait_for asleep
"$host" "$plugin" "$work/other" >"$work/second" 2>"$work/second_err" &
second=$!
until grep -q TIDINGS_E_OWNED "$work/second_err" || ! kill -0 "$second" 2>/dev/null; do sleep 0.1; done
"$host" "$plugin" "$work/other" 'again' >"$work/push" 2>>"$work/err"
wait "$sleeper"
sleeper=$second
wait "$second"
sleeper=
grep -q '^a turn is to be started: ' "$work/second"
result 6 "a host whose session another host has opens it when that one has ended" $?
echo "1..6"
exit $failed
