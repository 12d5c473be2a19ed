#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# inside.sh: run.sh runs this in the bare Debian 12. For each target it builds the libraries and the release build with its tests, and runs the tests;
# then it tests that the targets can read each other's stores. Prints TAP, one line a test or case, and the output of those that fail. Exit status 1
# if anything failed. TIDINGS_TARGETS may name some of the targets.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$PWD/tests/portable
targets=${TIDINGS_TARGETS:-x86_64-linux-gnu x86_64-linux-musl aarch64-linux-gnu}
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=/var/cache/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
. tests/tap.sh

excerpt() { { grep -E -A 12 'FAILED:|CMake Error|error:' "$1" | head -n 40 || tail -n 20 "$1"; } | cut -c 1-400; }

is_native() { [ "$1" = "$(uname -m)-linux-gnu" ]; }
toolchain_of() { if is_native "$1"; then printf ''; else printf '%s' "$1"; fi; }
prefix_of() { printf '/usr/local/targets/%s' "$1"; }

build_libraries() { # TARGET
  local prefix wanted
  prefix=$(prefix_of "$1")
  wanted=$(cat cmake/toolchains/*.* cmake/toolchains/musl/* "$here"/criterion/*.* "$here"/criterion/criterion/* | sha256sum)
  [ "$(cat "$prefix/ready" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$prefix"
  mkdir -p "$prefix"
  local chain=()
  is_native "$1" || chain=(--toolchain "$PWD/cmake/toolchains/$1.cmake")
  cmake/toolchains/libraries.sh "$(toolchain_of "$1")" /usr/local/src "$prefix" &&
    cmake -S "$here/criterion" -B "$prefix/build" -G Ninja -DCMAKE_INSTALL_PREFIX="$prefix" ${chain[@]+"${chain[@]}"} &&
    cmake --build "$prefix/build" && cmake --install "$prefix/build" && printf '%s\n' "$wanted" >"$prefix/ready"
}

build() { # TARGET
  local settings=(-B "build/$1" -DCMAKE_PREFIX_PATH="$(prefix_of "$1")")
  # Other tests cover this machine's own build; here it only exchanges stores with the others.
  if is_native "$1"; then settings+=(--preset release -DTIDINGS_BENCH=OFF)
  else settings+=(--preset release-tests -DTIDINGS_TEST_PATIENCE=10 -DTIDINGS_BENCH=OFF "-DTIDINGS_TEST_FOLDERS=unit;store;scenarios;packages" --toolchain "$PWD/cmake/toolchains/$1.cmake"); fi
  cmake "${settings[@]}" && cmake --build "build/$1"
}

# Can this machine run a program of the target?
runs() { "build/$1/tidings" --version >/dev/null 2>&1; }

run_tests() { # TARGET
  local excluded=() names
  export TIDINGS_SKIPS="$here/skips/$1"
  # Lines "test NAME reason": leaves out a whole test of ctest.
  names=$(sed -n 's/^test \([^ ]*\) .*/\1/p' "$TIDINGS_SKIPS" 2>/dev/null | sed 's/\./\\./g' | paste -sd'|')
  [ -z "$names" ] || excluded=(-E "^($names)\$")
  ctest --test-dir "build/$1" ${excluded[@]+"${excluded[@]}"} -j $(($(nproc) * 3)) --test-output-size-passed 16777216 \
    --test-output-size-failed 16777216 --no-tests=error --output-junit "$PWD/build/$1/tests.xml" </dev/null >"build/$1/ctest.log" 2>&1
  sed -n "s/^test \([^ ]*\) \(.*\)/ok - $1: \1 # SKIP \2/p" "$TIDINGS_SKIPS" 2>/dev/null
  python3 "$here/report.py" "$1" "build/$1/tests.xml" || failed=1
}

running=()
for target in $targets; do
  start=$SECONDS
  build_libraries "$target" >libraries.log 2>&1
  point $? "$target: LMDB, jansson and the test framework are built" libraries.log
  printf '# sum: %s: the libraries took %s s\n' "$target" $((SECONDS - start))
  start=$SECONDS
  build "$target" >build.log 2>&1
  built=$?
  point $built "$target: the release build and its tests are built" build.log
  printf '# sum: %s: the build took %s s\n' "$target" $((SECONDS - start))
  [ $built -eq 0 ] || continue
  if ! runs "$target"; then
    printf 'ok - %s: its programs run # SKIP nothing runs programs for it here: the kernel needs binfmt_misc for user namespaces (Linux 6.7)\n' "$target"
    continue
  fi
  running+=("$target=$PWD/build/$target")
  start=$SECONDS
  is_native "$target" || run_tests "$target"
  printf '# sum: %s: the tests took %s s\n' "$target" $((SECONDS - start))
done
python3 "$here/exchange.py" "${running[@]}" || failed=1
exit $failed
