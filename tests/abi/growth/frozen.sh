#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# frozen.sh SOURCE_DIR: tests that tests/abi/old has the headers of each earlier minor version, with the right version number. If the present minor
# version is frozen too, its headers must be equal to the frozen ones. Prints TAP.
set -u
source=$1
old=$source/tests/abi/old
minor=$(sed -n 's/^#define TIDINGS_ABI_MINOR \([0-9]*\)$/\1/p' "$source/abi/tidings/abi.h")
echo "1..$((minor + 1))"
failed=0
point() { # GOOD NUMBER WHAT
  if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; failed=1; fi
}
for ((n = 0; n < minor; n++)); do
  count=$(find "$old/1.$n/tidings" -name '*.h' 2>/dev/null | wc -l)
  grep -q "^#define TIDINGS_ABI_MINOR $n$" "$old/1.$n/tidings/abi.h" 2>/dev/null && [ "$count" -ge 9 ]
  point $? $((n + 1)) "the headers of 1.$n are frozen ($count)"
done
if [ ! -d "$old/1.$minor" ]; then
  point 0 $((minor + 1)) "1.$minor is not released yet: it may grow"
  exit $failed
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/abi/tidings/*.h "$source/hostkit/include/tidings/hostkit.h" "$work"
output=$(diff -ru "$old/1.$minor/tidings" "$work")
point $? $((minor + 1)) "the headers are those that were frozen for 1.$minor"
printf '%s' "$output" | sed 's/^/# /'
exit $failed
