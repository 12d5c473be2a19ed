#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# needs.sh TIDINGS: tests that the command needs only the C library and jansson, and no C++. Prints TAP.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
needed=$(readelf -W -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib(c|m|dl|pthread|jansson)\.so\.[0-9]+|ld-linux.*|libc\.musl-.*|libc\.so)$')
point "$([ -z "$needed" ]; echo $?)" "it needs no other library" /dev/stdin <<<"$needed"
symbols=$(nm "$1" | awk '$NF ~ /^(_Z|__gxx_|__cxa_(throw|begin_catch)|_Unwind_Resume)/; $NF == "main" {found = 1} END {if (!found) print "nm finds no main"}')
point "$([ -z "$symbols" ]; echo $?)" "no symbol is one of C++" /dev/stdin <<<"$symbols"
printf '1..2\n'
exit "$failed"
