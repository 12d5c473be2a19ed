#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# exports.sh ARCHIVE LIBRARY HEADER: tests that both libraries export exactly the functions of the header. Prints TAP.
set -u
declared=$(grep -o 'hostkit_[a-z_]*(' "$3" | tr -d '(' | sort -u)
count=0
failed=0
check() { # WHAT GOT
  count=$((count + 1))
  if [ "$2" = "$declared" ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    diff <(echo "$declared") <(echo "$2") | sed 's/^/# /'
    failed=1
  fi
}
names() { # reads nm's output: the last word of a line is the name; a line without a type has the name of a file
  awk 'NF > 1 && $2 != "A" {print $NF}' | sed 's/@.*//' | sort -u
}
check "the archive defines the functions of the header, and no other symbol is external" "$(nm --extern-only --defined-only "$1" | names)"
check "and so does the shared library" "$(nm -D --defined-only "$2" | names | grep -v '^TIDINGS_HOSTKIT_')"
echo "1..$count"
exit $failed
