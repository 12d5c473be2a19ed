#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# arm64.sh SOURCE_DIR: acts like a newcomer on a bare Debian 12 for arm64 with apt only. It installs, uses and purges the packages of build/packages.
# On another machine the kernel runs the programs of arm64 with qemu, in a separate user namespace (Linux 6.7). newcomer.py types the lines. Prints
# TAP. Exit status 77: this machine cannot do that, and the last line says why.
set -euo pipefail
source_dir=$1
work="$source_dir/build/packages/newcomer-arm64"
release=bookworm
packages=apt
. "$source_dir/tests/bare_debian.sh"
. "$source_dir/tests/portable/system.sh"

# The second stage of debootstrap and all later steps run programs for arm64.
debian_is_sound() { [ "$(cat "$work/ready" 2>/dev/null)" = "$packages" ]; }
prepare_apt() { :; }
install_packages() { :; }
make_debian() {
  rm -rf "$work/ready" "$work/lists" "$root"
  mkdir -p "$work/debs"
  logged debootstrap.log debootstrap --foreign --arch=arm64 --variant=minbase --cache-dir="$work/debs" "$release" "$root" "$mirror" ||
    skip "debootstrap could not make a Debian $release for arm64 from $mirror: $(grep '^[EW]: ' "$work/debootstrap.log" | tail -n 1)"
}

if [ "${2:-}" = emulated ]; then
  register_emulator "$3"
  in_debian /bin/true 2>/dev/null || skip "programs for arm64 do not run here: the kernel needs binfmt_misc for user namespaces (Linux 6.7): $(tail -n 1 "$work/binfmt.log")"
  if [ "$4" = prepare ]; then
    # In a user namespace, as in a container, no device can be made. The devices of the first stage are there.
    logged second-stage.log in_debian env container=lxc /debootstrap/debootstrap --second-stage ||
      skip "debootstrap's second half failed: $(tail -n 1 "$work/second-stage.log")"
    printf 'deb %s %s main\n' "$mirror" "$release" >"$root/etc/apt/sources.list"
    printf '%s\n' "$packages" >"$work/ready"
    exit
  fi
  refresh_lists
  cd "$source_dir/tests/agents/hosts"
  PYTHONPATH=. exec python3 "$source_dir/packaging/newcomer.py" "$root" arm64
fi
compgen -G "$source_dir/build/packages/deb/tidings_*_arm64.deb" >/dev/null || skip "there are no packages for arm64"
# ./dev package has fetched it.
emulator=$(compgen -G "$source_dir/build/packages/system/*/usr/bin/qemu-aarch64-static" || command -v qemu-aarch64-static) || skip "there is no qemu-aarch64-static"
enter_debian "$0" "$@"
rm -rf "$root/packages" "$root/newcomer"
mkdir -p "$root/packages"
cp -R "$source_dir/build/packages/deb" "$root/packages"
if ! debian_is_sound; then
  with_users "$0" "$source_dir" emulated "$emulator" prepare
  # debootstrap has replaced folders that were mount points, so their mounts have ended. All are mounted again.
  for place in proc dev var/cache/apt/archives; do ! mountpoint -q "$root/$place" || umount -R -l "$root/$place"; done
  mount_debian
fi
with_users "$0" "$source_dir" emulated "$emulator" newcomer
