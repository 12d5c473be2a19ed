#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# needs.sh SOURCE_DIR: tests that on a system without the packages for tests, `./dev build` installs nothing, and `./dev test` tries to install them.
# The copy of ./dev finds the other programs of this system, but its cmake only prints a version, and its apt-get only notes its arguments and fails.
# Prints TAP.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do ln -s "$folder"/* "$work/bin/" 2>/dev/null; done
for program in tmux jq npm patch abidw git clang debootstrap cmake apt-get sudo; do rm -f "$work/bin/$program"; done
printf '#!/bin/sh\necho "cmake version 3.25.1"\n' >"$work/bin/cmake"
printf '#!/bin/sh\necho "$@" >>"%s/asked"\nexit 1\n' "$work" >"$work/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin/cmake" "$work/bin/apt-get" "$work/bin/sudo"
cp "$1/dev" "$work/dev"

failed=0
point() { # STATUS NUMBER TITLE
  if [ "$1" -ne 0 ]; then
    failed=1
    sed 's/^/# /' "$work/out"
    printf 'not '
  fi
  echo "ok $2 - $3"
}
PATH=$work/bin "$work/dev" build dev >"$work/out" 2>&1 && [ ! -e "$work/asked" ]
point $? 1 "./dev build installs no package of the tests"
PATH=$work/bin "$work/dev" test -p dev unit >"$work/out" 2>&1
grep -q tmux "$work/asked" 2>/dev/null && grep -q abigail-tools "$work/asked"
point $? 2 "./dev test installs them"
echo 1..2
exit $failed
