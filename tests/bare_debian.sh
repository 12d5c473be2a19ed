# shellcheck shell=bash disable=SC2154 # what the caller sets
# SPDX-License-Identifier: MIT
#
# bare_debian.sh: makes a Debian system for tests. It is sourced by a script that has set
#   source_dir  the sources
#   work        a folder for the system and its logs
#   release     the name of the Debian: bookworm, trixie
#   packages    what it needs; one of them gives the program $sound_program, gcc if that is not set
# and that may define prepare_apt, which is called when the system is new, before packages are installed.
#
# The system is made once, by debootstrap and apt, in $work/root, and made again when it is damaged or the list of its packages changes.
# Everything is mounted in a separate mount namespace, which ends with its last process. So nothing stays mounted, and no rm here can reach through a
# mount.
root="$work/root"
umask 022 # the system's own scripts expect this
mirror=${TIDINGS_DEBIAN_MIRROR:-http://deb.debian.org/debian}

skip() {
  printf '%s\n' "$*"
  exit 77
}

# Writes the output of a command to a log of its own, which is shown when the command fails.
logged() { # LOG COMMAND…
  local log="$work/$1"
  shift
  "$@" </dev/null >"$log" 2>&1
}

in_debian() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} \
    chroot "$root" "$@"
}

debian_is_sound() {
  [ "$(cat "$work/ready" 2>/dev/null)" = "$packages" ] && in_debian "${sound_program:-gcc}" --version >/dev/null 2>&1 && [ -z "$(in_debian dpkg --audit 2>&1)" ]
}

make_debian() {
  rm -rf "$work/ready" "$work/lists" "$root"
  mkdir -p "$work/debs"
  logged debootstrap.log debootstrap --variant=minbase --cache-dir="$work/debs" "$release" "$root" "$mirror" ||
    skip "debootstrap could not make a Debian $release from $mirror: $(grep '^[EW]: ' "$work/debootstrap.log" | tail -n 1)"
}

mount_debian() {
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind "$work/debs" "$root/var/cache/apt/archives"
  ! [ -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}

apt_in_debian() {
  in_debian apt-get -q -o Acquire::Retries=5 -o APT::Keep-Downloaded-Packages=true -o APT::Sandbox::User=root "$@"
}

# A network failure does not fail the test; a missing package does.
install_packages() {
  # shellcheck disable=SC2086 # a list
  if ! logged apt.log apt_in_debian install -y --no-install-recommends $packages; then
    if grep -qE 'Failed to fetch|Unable to fetch|Temporary failure resolving' "$work/apt.log"; then skip "apt-get cannot fetch packages from $mirror: $(grep '^E: ' "$work/apt.log" | tail -n 1)"; fi
    printf 'not ok - apt-get installs what the build needs\n'
    tail -n 20 "$work/apt.log" | sed 's/^/# /'
    exit 1
  fi
  printf '%s\n' "$packages" >"$work/ready"
}

# Renews the lists of packages, because the archive may no longer have the packages of old lists. Without a network the old lists stay.
refresh_lists() {
  if [ -z "$(find "$work/lists" -mtime -1 2>/dev/null)" ] && logged update.log apt_in_debian update; then touch "$work/lists"; fi
}

prepare_apt() { :; }

# Starts the script again in a mount namespace with the system, with "in-namespace" after its first argument.
enter_debian() { # SCRIPT ARGUMENTS… of that script, the first of which is the source folder
  local script=$1
  shift
  if [ "${2:-}" != in-namespace ]; then
    [ "$(id -u)" -eq 0 ] || skip "a bare Debian is made by root only"
    command -v debootstrap >/dev/null || skip "there is no debootstrap"
    case $work in *[[:space:]]*) skip "debootstrap cannot work in a folder whose path has spaces: $work" ;; esac
    unshare --mount --propagation private mount -t tmpfs tmpfs /mnt 2>/dev/null || skip "nothing may be mounted here"
    mkdir -p "$work"
    exec flock "$work/lock" unshare --mount --propagation private "$script" "$1" in-namespace "${@:2}"
  fi
  if debian_is_sound; then
    mount_debian
  else
    make_debian
    mount_debian
    prepare_apt
    install_packages
  fi
}

copy_sources() {
  rm -rf "$root/src"
  mkdir "$root/src"
  cd "$source_dir"
  { git ls-files -co --exclude-standard -z 2>/dev/null || find . \( -path ./build -o -path ./.git \) -prune -o -type f -print0; } |
    while IFS= read -r -d '' name; do if [ -e "$name" ]; then printf '%s\0' "$name"; fi; done |
    tar -c --mode=u=rwX,go=rX --null --files-from=- | tar -x --no-same-owner -C "$root/src"
}
