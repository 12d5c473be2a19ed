#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# planted.sh RUN_TEST PLANTED: tests that run_test.sh passes the correct case of planted.c and fails each of the others. Prints TAP.
set -u
run_test=$1 planted=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0
unset ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS

for row in sound:passes: leak:fails:LeakSanitizer use_after_free:fails:heap-use-after-free overflow:fails:overflow; do
  IFS=: read -r name expected word <<<"$row"
  count=$((count + 1))
  output=$("$run_test" "$work/$name" "$planted" "planted::$name" 2>&1)
  if [ $? -eq 0 ]; then got=passes; else got=fails; fi
  if [ $got = "$expected" ] && grep -q "$word" <<<"$output"; then
    echo "ok $count - $name $expected"
  else
    echo "not ok $count - $name $expected"
    sed 's/^/# /' <<<"$output"
    failed=1
  fi
done
echo "1..$count"
exit $failed
