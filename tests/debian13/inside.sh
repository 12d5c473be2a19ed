#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# inside.sh: run.sh runs this in the bare Debian 13: the demo of the README, then the tests of the release build. Prints TAP, one line a test, and the
# output of those that fail. Exit status 1 if anything failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The demo and the tests compile the plugin with the same flags.
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=/var/cache/ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
. tests/tap.sh

printf '# sum: %s, %s, lmdb %s, %s\n' "Debian $(cat /etc/debian_version)" "$(gcc --version | head -n 1)" "$(pkg-config --modversion lmdb)" "$(/usr/lib/postgresql/*/bin/postgres --version)"

./dev demo --fast >demo.log 2>&1
point $? "./dev demo" demo.log

# A bare Debian does not have Criterion.
settings=(-DTIDINGS_BENCH=OFF "-DTIDINGS_TEST_FOLDERS=unit;store;scenarios;packages;fleet" -DTIDINGS_STAND_IN=ON -DTIDINGS_SCENARIOS_AT_ONCE=25)
{ cmake --preset release-tests "${settings[@]}" && cmake --build --preset release-tests; } >build.log 2>&1
built=$?
point $built "the release build and its tests are built" build.log
[ $built -eq 0 ] || exit 1

results=$PWD/build/release-tests/tests.xml
ctest --test-dir build/release-tests -LE '^deep$' -j "$(nproc)" --output-on-failure --no-tests=error --output-junit "$results" >ctest.log 2>&1
point $? "ctest" ctest.log
sed -n -e 's/^.*<testcase name="\([^"]*\)".* status="run".*$/ok - \1/p' \
  -e 's/^.*<testcase name="\([^"]*\)".* status="fail".*$/not ok - \1/p' \
  -e 's/^.*<testcase name="\([^"]*\)".* status="notrun".*$/ok - \1 # SKIP not in a bare Debian/p' "$results"
exit $failed
