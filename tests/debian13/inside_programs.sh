#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# inside_programs.sh SOURCE_DIR BUILD_DIR: programs.sh runs this in the bare Debian 13: the conformance suite, and tests of the command and of hooks. Prints TAP, one line a test,
# and the output of those that fail. Exit status 1 if anything failed.
set -uo pipefail
source_dir=$1 build=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$source_dir/tests/tap.sh"
export TIDINGS_SOURCE_DIR=$source_dir TIDINGS_BUILD_DIR=$build TIDINGS_PLUGIN=$build/tidings.so TIDINGS_HOSTSIM=$build/hostsim TIDINGS_SANITIZE= \
  TIDINGS_CLI=$build/tidings TIDINGS_CLI_TRICK=$build/tests/cli-store-trick TIDINGS_CLI_PAGES=$build/cli.dir/pages PYTHONPATH=$source_dir/tests/cli PYTHONDONTWRITEBYTECODE=1

printf '# sum: Debian %s, %s\n' "$(cat /etc/debian_version)" "$(getconf GNU_LIBC_VERSION)"
"$build/hostsim" conformance --plugin "$build/tidings.so" >"$work/log" 2>&1
point $? "conformance" "$work/log"
for test in cli/push cli/query cli/deliver cli/run cli/tail agents/hooks/hook agents/hooks/wires agents/hooks/proof; do
  python3 "$source_dir/tests/${test}_test.py" >"$work/log" 2>&1
  point $? "$test" "$work/log"
done
exit $failed
