#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR: copies the sources into a bare Debian 13 and runs inside.sh there. Prints TAP. Exit status 77: this machine cannot do that,
# and the last line says why. `run.sh SOURCE_DIR prepare` only makes the system, while something else is built; whoever comes next waits for it.
#
# The system is made once, by debootstrap and apt, in build/debian13/root, and made again when it is damaged or the list of its packages changes.
# Everything is mounted in a mount namespace of its own, which ends with its last process: nothing stays mounted, however this ends, and no rm
# here can reach through a mount.
set -euo pipefail
source_dir=$1
work="$source_dir/build/debian13"
root="$work/root"
mirror=${TIDINGS_DEBIAN_MIRROR:-http://deb.debian.org/debian}
packages="gcc g++ libc6-dev cmake ninja-build pkg-config liblmdb-dev libjansson-dev libtomlplusplus-dev libcriterion-dev python3-jsonschema ccache"

skip() {
  printf '%s\n' "$*"
  exit 77
}

# What a command says goes to a log of its own, which is shown when it fails.
logged() { # LOG COMMAND…
  local log="$work/$1"
  shift
  "$@" </dev/null >"$log" 2>&1
}

in_debian() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
    chroot "$root" "$@"
}

is_sound() {
  [ "$(cat "$work/ready" 2>/dev/null)" = "$packages" ] && in_debian gcc --version >/dev/null 2>&1 && [ -z "$(in_debian dpkg --audit 2>&1)" ]
}

make_system() {
  rm -rf "$work/ready" "$root"
  mkdir -p "$work/debs"
  logged debootstrap.log debootstrap --variant=minbase --cache-dir="$work/debs" trixie "$root" "$mirror" ||
    skip "debootstrap could not make a Debian 13 from $mirror: $(grep '^[EW]: ' "$work/debootstrap.log" | tail -n 1)"
}

mount_system() {
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind "$work/debs" "$root/var/cache/apt/archives"
  ! [ -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}

# The system was just fetched from the same place: when this fails, a package is missing there, or the network broke in between.
install_packages() {
  # shellcheck disable=SC2086 # a list
  if ! logged apt.log in_debian apt-get -q -o APT::Keep-Downloaded-Packages=true -o APT::Sandbox::User=root install -y --no-install-recommends $packages; then
    printf 'not ok - apt-get installs what the build needs\n'
    tail -n 20 "$work/apt.log" | sed 's/^/# /'
    exit 1
  fi
  printf '%s\n' "$packages" >"$work/ready"
}

copy_sources() {
  rm -rf "$root/src"
  mkdir "$root/src"
  cd "$source_dir"
  { git ls-files -co --exclude-standard -z 2>/dev/null || find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0; } |
    while IFS= read -r -d '' name; do if [ -e "$name" ]; then printf '%s\0' "$name"; fi; done |
    tar -c --null --files-from=- | tar -x --no-same-owner -C "$root/src"
}

if [ "${2:-}" != in-namespace ]; then
  [ "$(id -u)" -eq 0 ] || skip "a bare Debian 13 is made by root only"
  command -v debootstrap >/dev/null || skip "there is no debootstrap"
  unshare --mount --propagation private mount -t tmpfs tmpfs /mnt 2>/dev/null || skip "nothing may be mounted here"
  mkdir -p "$work"
  exec flock "$work/lock" unshare --mount --propagation private "$0" "$source_dir" in-namespace "${2:-}"
fi
start=$SECONDS
if is_sound; then
  mount_system
else
  make_system
  mount_system
  install_packages
fi
if [ "${3:-}" = prepare ]; then exit 0; fi
copy_sources
printf '# sum: the system was there after %s s\n' $((SECONDS - start))
in_debian /src/tests/debian13/inside.sh
printf '# sum: all took %s s\n' $((SECONDS - start))
