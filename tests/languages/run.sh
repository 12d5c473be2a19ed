#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh LANGUAGE example|calls|conformance|package [all]: tests the host package of a language with this build. `example` runs its whole host, `calls` its own tests, `conformance` has hostsim
# play its scenarios through it (those that begin with crash, or all), `package` makes the package, installs it, and runs the example with it. Without the toolchain the test is skipped and says
# so (exit status 77).
set -u
language=$1 what=$2
bindings=$TIDINGS_SOURCE_DIR/bindings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TIDINGS_HOSTKIT=$TIDINGS_BUILD_DIR/libtidings-hostkit.so.1 TIDINGS_HOSTKIT_PROBE=$TIDINGS_BUILD_DIR/tidings-hostkit-probe
export PYTHONDONTWRITEBYTECODE=1
failed=0 count=0

skip() {
  echo "1..0 # SKIP $1"
  echo "SKIPPED: $1" >&2
  exit 77
}

check() { # TITLE TEST…
  count=$((count + 1))
  if "${@:2}"; then echo "ok $count - $1"; else failed=1; echo "not ok $count - $1"; sed 's/^/# /' "$work/out" "$work/err"; fi
}

finish() {
  echo "1..$count"
  exit $failed
}

. "$TIDINGS_SOURCE_DIR/tests/languages/$language.sh" # sets the arrays `example` and `driver`; package_install installs and sets `example`

run_example() {
  "${example[@]}" "$TIDINGS_PLUGIN" "$work/store" >"$work/out" 2>"$work/err" &
  local pid=$! status
  until grep -qx waiting "$work/out" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
  "$TIDINGS_BUILD_DIR/tidings" push -S "$work/store" -s s -l critical -k disk.full "The disk is full."
  wait "$pid"
  status=$?
  check "it ends in order, and says nothing of errors" test "$status" = 0 -a ! -s "$work/err"
  check "the notification is before the result" test "$(sed -n '/^- The build failed\.$/,/^a\.c$/p' "$work/out" | tr '\n' '|')" = '- The build failed.|---||a.c|'
  check "a notification from another process wakes it" \
    grep -qx 'session s: start_turn: Critical notification (disk\.full); see the notifications in this message\.' "$work/out"
  "$TIDINGS_BUILD_DIR/tidings" history -S "$work/store" -s s >"$work/out" 2>&1
  check "the first notification was committed" grep -q 'The build failed' "$work/out"
}

case $what in
  example) run_example ;;
  calls)
    "${calls[@]}"
    exit
    ;;
  package)
    package_install >"$work/out" 2>"$work/err"
    check "the package is made and installed" test $? = 0
    [ $failed = 1 ] || run_example
    ;;
  conformance)
    printf -v command '%q ' "${driver[@]}"
    filter=(--filter scenario.crash) least=9
    [ "${3:-}" != all ] || filter=() least=300
    "$TIDINGS_HOSTSIM" conformance --plugin "$TIDINGS_PLUGIN" --host "$command" ${filter[@]+"${filter[@]}"} >"$work/all" 2>"$work/err"
    status=$?
    grep -v '^passed ' "$work/all" >"$work/out"
    tail -n 1 "$work/all" | sed 's/^/# sum: /'
    check "no scenario fails" test "$status" = 0
    check "more than $least scenarios were played" test "$(grep -c '^passed   scenario\.' "$work/all")" -gt $least
    check "only crashes inside a commit were left out" test "$(grep '^skipped ' "$work/all" | grep -vc "only hostsim's own host can die inside a commit")" = 0
    ;;
esac
finish
