#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR: builds tidings for arm64 and for musl in a bare Debian 12 and runs inside.sh there. Prints TAP. Exit status 77: this machine
# cannot do that, and the last line says why. ../bare_debian.sh says how the system is made.
#
# The programs for arm64 are run by qemu. The kernel starts it for them: binfmt_misc, in a user namespace of its own (Linux 6.7), so that nothing
# changes outside of it.
set -euo pipefail
source_dir=$1
work="$source_dir/build/portable"
release=bookworm
packages="gcc g++ libc6-dev cmake ninja-build pkg-config python3-jsonschema ccache libtomlplusplus-dev dpkg-dev patch
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static musl-tools"
. "$source_dir/tests/bare_debian.sh"

prepare_apt() {
  printf 'deb-src %s %s main\n' "$mirror" "$release" >"$root/etc/apt/sources.list.d/sources.list"
  logged update.log apt_in_debian update
}

# LMDB and jansson as Debian has them, once.
fetch_libraries() {
  [ ! -e "$root/usr/local/src/fetched" ] || return 0
  # shellcheck disable=SC2016 # for the other shell
  logged source.log in_debian sh -ec 'mkdir -p /usr/local/src && cd /usr/local/src && rm -rf ./* &&
    apt-get -q -o APT::Sandbox::User=root source lmdb jansson && for name in lmdb jansson; do mv $name-[0-9]*/ $name; done && touch fetched' ||
    skip "the sources of LMDB and jansson could not be fetched from $mirror: $(grep '^[EW]: ' "$work/source.log" | tail -n 1)"
}

# Runs a command in a user namespace that has all users. The caller maps them: nobody inside may.
with_users() {
  local pid ours
  ours=$(readlink /proc/self/ns/user)
  mkfifo "$work/mapped.$$"
  # shellcheck disable=SC2016 # for the other shell
  unshare --user --mount --propagation private bash -c 'read -r _ <"$0"; exec "$@"' "$work/mapped.$$" "$@" &
  pid=$!
  while [ "$(readlink "/proc/$pid/ns/user")" = "$ours" ]; do sleep 0.01; done
  printf '0 0 65536\n' >"/proc/$pid/uid_map"
  printf '0 0 65536\n' >"/proc/$pid/gid_map"
  printf 'mapped\n' >"$work/mapped.$$"
  rm -f "$work/mapped.$$"
  wait "$pid"
}

start=$SECONDS
if [ "${2:-}" = emulated ]; then
  # Heads of ELF files: 64 bits, little-endian, a program or a shared object, for arm64. F: the emulator is opened now, P: it gets argv[0] too.
  { mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc" && printf '%s' ':tidings-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:FP' |
    in_debian tee /proc/sys/fs/binfmt_misc/register; } >"$work/binfmt.log" 2>&1 || true
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
