#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# make.sh npm|deb|all|test: implements `./dev package`. Root builds for all platforms; other users build for this machine, with its libraries.
# TIDINGS_TARGETS names some of inside.sh's targets only.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
. packaging/deb/layout.sh
out=build/packages
what=$1
say() { printf '%s\n' "$*"; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null)} || {
  say "packages have the time of their commit, and git finds none here: set SOURCE_DATE_EPOCH to the seconds since 1970 that they are to have" >&2
  exit 1
}
# The caller's language and permissions must not get into a package.
export SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 TZ=UTC
umask 022
npm_targets="npm:linux-x64-gnu npm:linux-x64-musl npm:linux-arm64-gnu npm:linux-arm64-musl"
deb_targets="deb:amd64 deb:arm64"

targets() {
  if [ -n "${TIDINGS_TARGETS:-}" ]; then
    local target
    for target in $TIDINGS_TARGETS; do case $target in "$1":*) printf '%s ' "$target" ;; esac; done
  elif [ "$1" = npm ]; then say "$npm_targets"
  else say "$deb_targets"; fi
}

# Uses this machine's own glibc, so the packages need that version or a newer one.
native() { # npm|deb
  local build=build/release stage=build/packages/stage-$1 prefix=/usr/local layout=()
  if [ "$1" = deb ]; then
    build=$out/build-deb prefix=/usr
    debian_layout "$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
  fi
  if ! { cmake --preset release -B "$build" ${layout[@]+"${layout[@]}"} && cmake --build "$build"; } >"$out/build.log" 2>&1; then
    grep -E -A 12 'FAILED:|CMake Error|error:' "$out/build.log" | head -n 40 >&2 || tail -n 20 "$out/build.log" >&2
    exit 1
  fi
  rm -rf "$stage" "${out:?}/$1" "$out/libraries.json"
  DESTDIR="$root/$stage" cmake --install "$build" --prefix "$prefix" --strip >>"$out/build.log"
  if [ "$1" = npm ]; then
    packaging/npm_packages.py "$out/npm" "linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')-gnu=$stage$prefix"
    packaging/agent_packages.py "$out" "$stage$prefix/bin/tidings"
  else
    packaging/deb_packages.py "$out/deb" "$(dpkg --print-architecture)=$stage"
  fi
  rm -rf "$stage"
}

make_packages() { # npm|deb
  mkdir -p "$out"
  local status=0 alone="only the package for this machine is built, and it needs this machine's C library or a newer one"
  if [ "$(id -u)" -ne 0 ]; then
    say "not root: $alone"
    native "$1"
    return
  fi
  # shellcheck disable=SC2046 # a list
  packaging/run.sh "$root" $(targets "$1") || status=$?
  [ $status -eq 77 ] || return $status
  say "so $alone"
  native "$1"
}

check_npm() {
  local limit=2.31 package folder
  [ "$(id -u)" -eq 0 ] || limit=
  for package in "$out"/npm/tidings-linux-*.tgz; do
    folder=$(mktemp -d)
    tar -xzf "$package" -C "$folder"
    say "$(basename "$package"):"
    packaging/binaries.py "$folder" $limit || exit 1
    rm -rf "$folder"
  done
}

check_deb() {
  lintian --fail-on error,warning --allow-root "$out"/deb/*.deb || exit 1
  say "lintian found nothing in $(find "$out/deb" -name '*.deb' | wc -l) packages"
}

release() {
  [ -e "$out/libraries.json" ] || packaging/sbom.py libraries >"$out/libraries.json"
  packaging/sbom.py write "$out/tidings.spdx.json" "$out/libraries.json" "$out"/npm/*.tgz "$out"/deb/*.deb
  (cd "$out" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX -cf tidings-agents.tar agents &&
    sha256sum npm/*.tgz deb/*.deb tidings-agents.tar tidings.spdx.json >SHA256SUMS)
  say "$out/SHA256SUMS"
}

case $what in
  npm | deb)
    make_packages "$what"
    "check_$what"
    ;;
  all)
    make_packages npm
    check_npm
    make_packages deb
    check_deb
    [ "$(id -u)" -ne 0 ] || packaging/run.sh "$root" smoke
    release
    ;;
  test)
    if [ ! -d "$out/npm" ] || [ ! -d "$out/deb" ]; then
      say "there are no packages in $root/$out: make them first, with ./dev package all" >&2
      exit 1
    fi
    status=0
    for how in npm apt arm64; do
      say "a newcomer with $how:"
      case $how in
        arm64) packaging/arm64.sh "$root" || status=$? ;;
        *) packaging/test.sh "$root" $how || status=$? ;;
      esac
    done
    say "the agents' own commands:"
    (cd tests/agents/hosts && PYTHONPATH=.:"$root/packaging" TIDINGS_SOURCE_DIR=$root TIDINGS_BUILD_DIR=$root/build/release python3 "$root/packaging/agents_test.py" "$root/$out") ||
      status=$?
    exit $status
    ;;
esac
