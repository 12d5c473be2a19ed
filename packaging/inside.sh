#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# inside.sh TARGET…: run.sh runs it in the bare Debian 12. A target is npm:PLATFORM or deb:ARCHITECTURE. Builds each, installs it into a stage of its
# own, and makes the packages of all stages in /out. The build of a target stays, so that the next run compiles only changed files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD/packaging
. "$here/deb/layout.sh"
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=/var/cache/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export LC_ALL=C.UTF-8 TZ=UTC
builds=/var/cache/builds
npm_parts="plugin hostkit agents/node cli.dir"
npm_targets="tidings_plugin tidings_postgres tidings-top tidings_node tidings_hostkit_probe tidings_hostkit_shared tidings_hostkit_static tidings_pages"

# Shows the output of a command only when it fails.
quietly() {
  local log=/out/log
  "$@" >"$log" 2>&1 || {
    grep -E -A 12 'FAILED:|CMake Error|error:' "$log" | cut -c 1-400 | head -n 40 >&2 || tail -n 30 "$log" >&2
    exit 1
  }
}

build_libraries() { # TOOLCHAIN PREFIX BUILD, which is begun anew when a toolchain file has changed
  local wanted
  wanted=$(cat cmake/toolchains/libraries.sh "cmake/toolchains/$1.cmake" cmake/toolchains/{musl,old-libc}/* | sha256sum)
  [ "$(cat "$2/ready" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$2" "$3"
  mkdir -p "$2"
  quietly cmake/toolchains/libraries.sh "$1" /usr/local/src "$2"
  printf '%s\n' "$wanted" >"$2/ready"
}

# LMDB and jansson are linked in, and nothing of this system is found.
build_npm() { # PLATFORM
  local machine=x86_64 toolchain prefix=/usr/local/targets/$1 build=$builds/npm-$1 stage=/out/stage/npm-$1 part
  case $1 in *arm64*) machine=aarch64 ;; esac
  case $1 in *-gnu) toolchain=$machine-linux-gnu-2.31 ;; *) toolchain=$machine-linux-musl ;; esac
  build_libraries "$toolchain" "$prefix" "$build"
  export PKG_CONFIG_LIBDIR="$prefix/lib/pkgconfig"
  quietly cmake --preset release -B "$build" -DTIDINGS_BENCH=OFF -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib \
    --toolchain "$PWD/cmake/toolchains/$toolchain.cmake" -DCMAKE_PREFIX_PATH="$prefix"
  unset PKG_CONFIG_LIBDIR
  # shellcheck disable=SC2086 # a list
  quietly cmake --build "$build" --target $npm_targets -- -k 0
  rm -rf "$stage"
  for part in $npm_parts; do quietly cmake -DCMAKE_INSTALL_PREFIX="$stage" -DCMAKE_INSTALL_DO_STRIP=1 -P "$build/$part/cmake_install.cmake"; done
}

build_deb() { # ARCHITECTURE
  local triple=x86_64-linux-gnu build=$builds/deb-$1 stage=/out/stage/deb-$1 chain=()
  if [ "$1" = arm64 ]; then
    triple=aarch64-linux-gnu
    chain=(--toolchain "$PWD/cmake/toolchains/$triple.cmake")
    export PKG_CONFIG_LIBDIR="/usr/lib/$triple/pkgconfig"
  fi
  debian_layout "$triple"
  quietly cmake --preset release -B "$build" "${layout[@]}" ${chain[@]+"${chain[@]}"}
  unset PKG_CONFIG_LIBDIR
  quietly cmake --build "$build"
  rm -rf "$stage"
  DESTDIR="$stage" quietly cmake --install "$build" --strip
}

rm -rf /out/*
mkdir -p "$builds" /out/stage
npm=() debs=()
for target in "$@"; do
  start=$SECONDS
  case $target in
    npm:*) build_npm "${target#npm:}" && npm+=("${target#npm:}=/out/stage/npm-${target#npm:}") ;;
    deb:*) build_deb "${target#deb:}" && debs+=("${target#deb:}=/out/stage/deb-${target#deb:}") ;;
  esac
  printf '%s was built in %s s\n' "$target" $((SECONDS - start))
done
[ ${#npm[@]} -eq 0 ] || python3 "$here/npm_packages.py" /out/npm "${npm[@]}"
for stage in "${npm[@]}"; do
  program=${stage#*=}/bin/tidings
  if "$program" --version >/dev/null 2>&1; then python3 "$here/agent_packages.py" /out "$program" && break; fi
done
[ ${#debs[@]} -eq 0 ] || python3 "$here/deb_packages.py" /out/deb "${debs[@]}"
python3 "$here/sbom.py" libraries >/out/libraries.json
rm -rf /out/log /out/stage
