#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_languages.sh LANGUAGE: runs the example host in JavaScript against this build. Where the toolchain is
# not on the machine, the test is skipped and says so (exit status 77).
set -u
language=$1
examples=$TIDINGS_SOURCE_DIR/docs/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TIDINGS_HOSTKIT_PROBE=$TIDINGS_BUILD_DIR/tidings-hostkit-probe

skip() {
  echo "1..0 # SKIP $1"
  echo "SKIPPED: $1" >&2
  exit 77
}

case $language in
  node)
    node=$("$TIDINGS_SOURCE_DIR/tests/agents/hosts/install.sh" node20) || skip "no Node can be had"
    host=("$node/node_modules/.bin/node" "$examples/host.mjs" "$TIDINGS_BUILD_DIR/tidings.node")
    ;;
esac

"${host[@]}" "$TIDINGS_PLUGIN" "$work/store" >"$work/out" 2>"$work/err" &
pid=$!
until grep -qx waiting "$work/out" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
"$TIDINGS_BUILD_DIR/tidings" push -S "$work/store" -s s -l critical -k disk.full "The disk is full."
wait "$pid"
status=$?

failed=0
check() { # WHAT TEST…
  if "${@:3}"; then echo "ok $1 - $2"; else failed=1; echo "not ok $1 - $2"; sed 's/^/# /' "$work/out" "$work/err"; fi
}
check 1 "it ends in order, and says nothing of errors" test "$status" = 0 -a ! -s "$work/err"
check 2 "the news is before the result" test "$(sed -n '/^- The build failed\.$/,/^a\.c$/p' "$work/out" | tr '\n' '|')" = '- The build failed.|---||a.c|'
check 3 "news from another process wakes it" grep -qx 'session s: start_turn: Critical notification (disk\.full); see the notifications in this message\.' "$work/out"
echo "1..3"
exit $failed
