#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# make_golden.sh: writes the golden files of the ABI version that the headers name into abi/golden/. It never replaces a file, because a released
# version must not change. (Before the release of a version, remove its file by hand.)
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$source"
number() { sed -n "s/^#define TIDINGS_ABI_$1 \([0-9]*\)$/\1/p" abi/tidings/abi.h; }
version=$(number MAJOR).$(number MINOR)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

write() { # NAME: standard input becomes abi/golden/NAME, unless that is there
  if [ -e "abi/golden/$1" ]; then
    cat >/dev/null
    echo "abi/golden/$1 is there already"
  else
    cat >"abi/golden/$1"
    echo "abi/golden/$1 written"
  fi
}

dump() { # SOURCE: the dump, without what depends on the machine
  cc -g -shared -fPIC -fvisibility=hidden -I abi "tests/abi/$1" -o "$work/object.so"
  dumped
}

dumped() {
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs "$work/object.so" | sed "s# path='[^']*/# path='#"
}

cc -std=c17 -I abi tests/abi/layout.c -o "$work/layout"
"$work/layout" | write "layout-$version.txt"
dump entry.c | write "tidings-$version.abi"
dump surface.c | write "surface-$version.abi"
tests/abi/hostkit_surface.sh hostkit/include "$work/object.so"
dumped | write "hostkit-$version.abi"
