#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR WHAT…: builds packages in a bare Debian 12 that debootstrap makes, and puts them into build/packages. WHAT are targets of
# inside.sh. `run.sh SOURCE_DIR smoke` tests the files of build/packages there. Exit status 77: this machine cannot do that, and the last line says why. tests/bare_debian.sh says how the system is
# made.
set -euo pipefail
source_dir=$1
. "$source_dir/packaging/system.sh"

if [ "${2:-}" = emulated ]; then
  register_emulator
  [ "${3:-}" != smoke ] || exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 /src/packaging/smoke.sh
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
if [ "${3:-}" = smoke ]; then
  rm -rf "$root/out"
  mkdir -p "$root/out"
  cp -R "$source_dir/build/packages/npm" "$source_dir/build/packages/deb" "$root/out/"
  with_users "$0" "$source_dir" emulated smoke
  exit
fi
with_users "$0" "$source_dir" emulated "${@:3}"
for folder in npm deb agents; do if [ -e "$root/out/$folder" ]; then rm -rf "$source_dir/build/packages/$folder"; fi; done
cp -R "$root/out/." "$source_dir/build/packages/"
