#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# programs.sh SOURCE_DIR: runs the programs of the build $TIDINGS_BUILD_DIR in a bare Debian 13, at the same paths. Prints TAP. Exit status 77: this machine cannot do that,
# and the last line says why. `programs.sh SOURCE_DIR prepare` only makes the system, during a build; a later call waits for it. ../bare_debian.sh makes the system.
set -euo pipefail
source_dir=$1
work="$source_dir/build/debian13-programs"
release=trixie
packages="python3-jsonschema"
sound_program=python3
. "$source_dir/tests/bare_debian.sh"

newest=2.41 # the C library of Debian 13
here=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
[ "$(printf '%s\n' "${here:-0}" "$newest" | sort -V | tail -n 1)" = "$newest" ] || skip "what is built here needs the C library of this machine, glibc ${here:-unknown}; Debian 13 has $newest"

start=$SECONDS
enter_debian "$0" "$@"
if [ "${3:-}" = prepare ]; then exit 0; fi
printf '# sum: the system was there after %s s\n' $((SECONDS - start))
mkdir -p "$root$source_dir"
mount --bind "$source_dir" "$root$source_dir"
in_debian "$source_dir/tests/debian13/inside_programs.sh" "$source_dir" "$TIDINGS_BUILD_DIR"
printf '# sum: all took %s s\n' $((SECONDS - start))
