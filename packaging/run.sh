#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR WHAT…: builds packages in a bare Debian 12 that debootstrap makes, and puts them into build/packages. WHAT are targets of
# inside.sh. Exit status 77: this machine cannot do that, and the last line says why. tests/bare_debian.sh says how the system is made.
set -euo pipefail
source_dir=$1
. "$source_dir/packaging/system.sh"

if [ "${2:-}" = emulated ]; then
  register_emulator
  in_debian env SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" /src/packaging/inside.sh "${@:3}"
  exit
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source_dir" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
enter_debian "$0" "$@"
fetch_libraries
fetch_old_libc
[ "${3:-}" != prepare ] || exit 0
copy_sources
mkdir -p "$source_dir/build/packages" "$root/out"
with_users "$0" "$source_dir" emulated "${@:3}"
for folder in npm deb agents; do if [ -e "$root/out/$folder" ]; then rm -rf "$source_dir/build/packages/$folder"; fi; done
cp -R "$root/out/." "$source_dir/build/packages/"
