#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_host.sh HOST PLUGIN: tests that an example host delivers its notification once, and reports a wrong store or plugin. Prints TAP.
set -u
host=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

check() { # WHAT EXPECTED-STATUS GOT-STATUS [PATTERN FILE]
  count=$((count + 1))
  if [ "$2" -eq "$3" ] && { [ $# -lt 5 ] || grep -q -- "$4" "$5"; }; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    printf '# exit status %s, expected %s\n' "$3" "$2"
    sed 's/^/# /' "$work/out" "$work/err"
    failed=1
  fi
}

"$host" "$plugin" "$work/store" >"$work/out" 2>"$work/err"
check "it delivers the notification" 0 $? '^- The build failed\.$' "$work/out"
tail -n 1 "$work/out" | grep -qx 'a\.c'
check "the tool's own words stand behind it" 0 $?
[ ! -s "$work/err" ]
check "it has nothing to complain of" 0 $?

"$host" "$plugin" "$work/full" >/dev/full 2>"$work/err"
"$TIDINGS_BUILD_DIR/tidings" pending -S "$work/full" -s s >"$work/out" 2>>"$work/err"
check "what it could not write stays pending" 0 $? '^1 pending\.$' "$work/out"

ln -s "$work/store" "$work/link"
"$host" "$plugin" "$work/link" >"$work/out" 2>"$work/err"
check "a store that is a symbolic link is refused" 1 $? 'symbolic link' "$work/err"
printf 'no plugin' >"$work/text.so"
"$host" "$work/text.so" "$work/store" >"$work/out" 2>"$work/err"
check "a file that is no plugin is refused" 1 $? 'text\.so' "$work/err"
"$host" "$work/nowhere.so" "$work/store" >"$work/out" 2>"$work/err"
check "a plugin that is not there is said to be not there" 1 $? 'No such file' "$work/err"
echo "1..$count"
exit $failed
