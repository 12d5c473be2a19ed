#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# headers.sh SOURCE_DIR: tests that each public header compiles alone, and if it is included twice, as C11, C17 and C++17, with gcc and clang, without
# a warning. Prints TAP.
set -u
source=$1
count=0
failed=0
warnings="-Wall -Wextra -Wpedantic -pedantic-errors -Werror -Wconversion -Wundef -Wcast-qual"

for path in "$source"/abi/tidings/*.h "$source"/hostkit/include/tidings/*.h; do
  header=tidings/$(basename "$path")
  for compiler in gcc:c11 gcc:c17 g++:c++17 clang:c11 clang:c17 clang++:c++17; do
    language=c
    case $compiler in *c++*) language=c++ ;; esac
    count=$((count + 1))
    # shellcheck disable=SC2086 # the list of warnings is meant to be split
    if output=$(printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
      "${compiler%%:*}" "-std=${compiler#*:}" $warnings -fsyntax-only -I "$source/abi" -I "$source/hostkit/include" -x "$language" - 2>&1); then
      echo "ok $count - $header with ${compiler/:/ as }"
    else
      echo "not ok $count - $header with ${compiler/:/ as }"
      printf '%s\n' "$output" | head -n 20 | sed 's/^/# /'
      failed=1
    fi
  done
done
echo "1..$count"
exit $failed
