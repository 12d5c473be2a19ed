# shellcheck shell=bash disable=SC2154 # what the caller sets
# SPDX-License-Identifier: MIT
#
# system.sh: prepares a bare Debian that compiles for other machines: the sources of the libraries, users, and the emulator. It is sourced after
# ../bare_debian.sh.

prepare_apt() {
  printf 'deb-src %s %s main\n' "$mirror" "$release" >"$root/etc/apt/sources.list.d/sources.list"
  logged update.log apt_in_debian update
}

# Fetches Debian's sources of LMDB and jansson, once.
fetch_libraries() {
  [ ! -e "$root/usr/local/src/fetched" ] || return 0
  # shellcheck disable=SC2016 # for the other shell
  logged source.log in_debian sh -ec 'mkdir -p /usr/local/src && cd /usr/local/src && rm -rf ./* &&
    apt-get -q -o APT::Sandbox::User=root source lmdb jansson && for name in lmdb jansson; do mv $name-[0-9]*/ $name; done && touch fetched' ||
    skip "the sources of LMDB and jansson could not be fetched from $mirror: $(grep '^[EW]: ' "$work/source.log" | tail -n 1)"
}

# Runs a command in a user namespace that has all users. The caller maps them, because a process inside may not.
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

# The pattern matches the head of ELF files for arm64: 64 bits, little-endian, a program or a shared object. F: the emulator is opened now, P: it gets
# argv[0] too.
register_emulator() { # [EMULATOR], which is that of the system otherwise
  { mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc" && printf '%s' ':tidings-arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"${1:-$root/usr/bin/qemu-aarch64-static}:FP" \
    >"$root/proc/sys/fs/binfmt_misc/register"; } >"$work/binfmt.log" 2>&1 || true
}
