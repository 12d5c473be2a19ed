#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# frozen.sh SOURCE_DIR: while the minor is 0, the headers are those that tests/abi/old/1.0 has frozen. Prints TAP.
set -u
source=$1
frozen=$source/tests/abi/old/1.0/tidings
echo "1..2"
count=$(find "$frozen" -name '*.h' | wc -l)
if [ "$count" -lt 9 ]; then
  echo "not ok 1 - there are $count frozen headers"
  exit 1
fi
echo "ok 1 - there are $count frozen headers"
if ! grep -q '^#define TIDINGS_ABI_MINOR 0$' "$source/abi/tidings/abi.h"; then
  echo "ok 2 - # SKIP the headers are of a later minor"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$source"/abi/tidings/*.h "$source/hostkit/include/tidings/hostkit.h" "$work"
if output=$(diff -ru "$frozen" "$work"); then
  echo "ok 2 - the headers are the frozen ones"
else
  echo "not ok 2 - the headers are the frozen ones"
  printf '%s\n' "$output" | sed 's/^/# /'
  exit 1
fi
