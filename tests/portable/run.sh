#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR: builds tidings for arm64 and for musl in a bare Debian 12 and runs inside.sh there. Prints TAP. Exit status 77: this machine
# cannot do that, and the last line says why. tests/bare_debian.sh makes the system.
#
# qemu runs the programs for arm64. The kernel starts it by binfmt_misc, in a separate user namespace (Linux 6.7), so that nothing changes outside of
# it.
set -euo pipefail
source_dir=$1
work="$source_dir/build/portable"
release=bookworm
packages="gcc libc6-dev cmake ninja-build pkg-config python3-jsonschema ccache dpkg-dev patch
  gcc-aarch64-linux-gnu qemu-user-static musl-tools libpq-dev libncurses-dev"
. "$source_dir/tests/bare_debian.sh"
. "$source_dir/tests/portable/system.sh"

start=$SECONDS
if [ "${2:-}" = emulated ]; then
  register_emulator
  in_debian env TIDINGS_TARGETS="${TIDINGS_TARGETS:-}" /src/tests/portable/inside.sh
  exit
fi
enter_debian "$0" "$@"
fetch_libraries
copy_sources
printf '# sum: the system was there after %s s\n' $((SECONDS - start))
failed=0
with_users "$0" "$source_dir" emulated || failed=$?
printf '# sum: all took %s s\n' $((SECONDS - start))
exit "$failed"
