#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# smoke.sh: run.sh runs it on the files in /out, in the bare Debian 12 that built the packages. It uses the unpacked programs of each npm package. It
# installs, uses and purges the Debian packages; those for arm64 are beside the system's own. Prints TAP. Exit status 1 if anything failed.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../tests/tap.sh"

# Is a package for the other processor, so that its programs need an emulator?
is_foreign() { # PACKAGE
  case $(uname -m) in x86_64) [[ $1 == *arm64* ]] ;; *) [[ $1 == *x64* ]] ;; esac
}

# A notification is pushed and listed; a wrong configuration is refused with its line.
use() { # PROGRAM [ROOT], in which it is
  local root=${2:-} home
  home=$(mktemp -d "$root/tmp/use.XXXXXX")
  local run=(env HOME="${home#"$root"}" chroot "${root:-/}" "$1")
  printf 'delivery = [\n' >"$home/wrong.toml"
  "${run[@]}" push -s s --create 'It works.' && [[ $("${run[@]}" pending -s s) == *'    It works.'* ]] &&
    [[ $("${run[@]}" config check "${home#"$root"}/wrong.toml" 2>&1) == *'not TOML: line 2'* ]]
  local status=$?
  rm -rf "$home"
  return $status
}

# Looks for a store in a database, with the libpq of this system. If there is no libpq, the error names its package.
use_database() { # PROGRAM "refused"|"libpq5" [ROOT], in which it is
  [[ $(chroot "${3:-/}" "$1" store check --store 'postgresql://u@127.0.0.1:1/d?schema=s' 2>&1 | tee /dev/stderr) == *"$2"* ]]
}

# A folder that has the C library of Debian 11 and the unpacked package, and nothing else.
use_with_old_libc() { # PACKAGE'S FOLDER, ARCHITECTURE
  local root status
  root=$(mktemp -d)
  dpkg-deb -x /opt/old-libc/debs/libc6_*_"$2".deb "$root" && mkdir -p "$root/tmp" "$root/proc" "$root/dev" && mount --rbind /proc "$root/proc" &&
    mount --rbind /dev "$root/dev" && cp -R "$1" "$root/package" && use /package/bin/tidings "$root" && use_database /package/bin/tidings libpq5 "$root"
  status=$?
  umount -l "$root/proc" "$root/dev"
  rm -rf --one-file-system "$root"
  return $status
}

for package in /out/npm/tidings-linux-*.tgz; do
  folder=$(mktemp -d)
  tar -xzf "$package" -C "$folder"
  if "$folder/package/bin/tidings" --version >/tmp/smoke.log 2>&1; then
    use "$folder/package/bin/tidings" >/tmp/smoke.log 2>&1
    status=$?
    if is_foreign "$package" && grep -q 'locks cannot be made: Function not implemented' /tmp/smoke.log; then
      printf 'ok - %s works # SKIP it starts, and the emulator has no robust locks, which musl asks the kernel for\n' "$(basename "$package")"
    else
      point $status "$(basename "$package") works" /tmp/smoke.log
    fi
    case $package in *-x64-gnu-*) arch=amd64 ;; *-arm64-gnu-*) arch=arm64 ;; *) arch= ;; esac
    if [ -n "$arch" ]; then
      use_database "$folder/package/bin/tidings" refused >/tmp/smoke.log 2>&1
      point $? "$(basename "$package") looks for a store in a database" /tmp/smoke.log
      use_with_old_libc "$folder/package" $arch >/tmp/smoke.log 2>&1
      point $? "$(basename "$package") works with glibc 2.31 and nothing else" /tmp/smoke.log
    fi
  elif ! is_foreign "$package"; then
    point 1 "$(basename "$package") starts" /tmp/smoke.log
  else
    printf 'ok - %s works # SKIP its programs do not run here: the kernel needs binfmt_misc for user namespaces (Linux 6.7)\n' "$(basename "$package")"
  fi
  rm -rf "$folder"
done
for arch in amd64 arm64; do
  compgen -G "/out/deb/tidings_*_$arch.deb" >/dev/null || continue
  names=$(printf "%s:$arch " $(for deb in /out/deb/*_"$arch".deb; do dpkg-deb --field "$deb" Package; done))
  dpkg --install /out/deb/*_"$arch".deb >/tmp/smoke.log 2>&1
  point $? "the Debian packages for $arch are installed" /tmp/smoke.log
  use /usr/bin/tidings >/tmp/smoke.log 2>&1
  point $? "those for $arch work" /tmp/smoke.log
  # shellcheck disable=SC2086 # a list
  { dpkg --purge $names && ! find /usr /etc /var -name '*tidings*' -not -path '/var/cache/*' | grep .; } >/tmp/smoke.log 2>&1
  point $? "those for $arch are purged, and nothing is left" /tmp/smoke.log
done
exit $failed
