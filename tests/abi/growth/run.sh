#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh HOST PLUGIN: runs one host with one plugin on a store of its own, and prints its output even after a crash.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
unset XDG_RUNTIME_DIR
"$1" "$2" "$work/store"
status=$?
[ $status -lt 126 ] || echo "not ok - $(basename "$1") with $(basename "$2") ended with $status: somebody touched what is not theirs"
exit $status
