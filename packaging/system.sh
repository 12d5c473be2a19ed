# shellcheck shell=bash disable=SC2034,SC2154 # what the caller and the sourced files set
# SPDX-License-Identifier: MIT
#
# system.sh: the bare Debian 12 in which the packages are built, in build/packages/system. It has compilers for arm64 and musl, the libraries to which
# Debian's packages link, for both machines, and the C library of Debian 11, to which the packages for npm link. Sourced by a script that has set
# source_dir.
work="$source_dir/build/packages/system"
release=bookworm
packages="gcc libc6-dev cmake ninja-build pkg-config ccache dpkg-dev python3 xz-utils
  gcc-aarch64-linux-gnu qemu-user-static musl-tools
  liblmdb-dev libjansson-dev libpq-dev libmicrohttpd-dev libcurl4-openssl-dev libncurses-dev
  liblmdb-dev:arm64 libjansson-dev:arm64 libncurses-dev:arm64 libpq5:arm64 musl-dev:arm64"
old_release=bullseye # glibc 2.31
. "$source_dir/tests/bare_debian.sh"
. "$source_dir/tests/portable/system.sh"

prepare_apt() {
  in_debian dpkg --add-architecture arm64
  printf 'deb-src %s %s main\ndeb %s %s main\n' "$mirror" "$release" "$mirror" "$old_release" >"$root/etc/apt/sources.list.d/sources.list"
  logged update.log apt_in_debian update
}

# If $old_release has another version than $release, apt takes the newer one, so these are only
# unpacked.
fetch_old_libc() {
  [ ! -e "$root/opt/old-libc/fetched" ] || return 0
  # shellcheck disable=SC2016 # for the other shell
  logged old-libc.log in_debian bash -ec 'rm -rf /opt/old-libc && mkdir -p /opt/old-libc/debs && cd /opt/old-libc/debs
    get() { apt-get -q -o APT::Sandbox::User=root download "$@"; }
    for machine in amd64:x86_64 arm64:aarch64; do
      arch=${machine%:*} folder=/opt/old-libc/${machine#*:}-linux-gnu
      get libc6:$arch/'"$old_release"' libc6-dev:$arch/'"$old_release"' linux-libc-dev:$arch/'"$old_release"'
      for deb in *_$arch.deb; do dpkg-deb -x "$deb" "$folder"; done
      find "$folder" -type l -lname "/*" | while read -r link; do ln -sf "$folder$(readlink "$link")" "$link"; done
    done
    # libpq-dev cannot be there for two machines; its headers are the same. Libraries that libpq itself needs are not
    # linked.
    sed "s/x86_64/aarch64/; /^Requires.private/d" /usr/lib/x86_64-linux-gnu/pkgconfig/libpq.pc >/usr/lib/aarch64-linux-gnu/pkgconfig/libpq.pc
    ln -sf libpq.so.5 /usr/lib/aarch64-linux-gnu/libpq.so
    sed s/x86_64/aarch64/g /usr/lib/x86_64-linux-musl/musl-gcc.specs >/usr/lib/aarch64-linux-musl/musl-gcc.specs
    touch ../fetched' ||
    skip "the C library of Debian $old_release could not be fetched from $mirror: $(grep '^[EW]: ' "$work/old-libc.log" | tail -n 1)"
}
