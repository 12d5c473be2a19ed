#!/bin/sh
# SPDX-License-Identifier: MIT
#
# small.sh: runs each part of the gate that needs no fuzzer once, with its controls, on the build under test, in a temporary folder.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
gate="$TIDINGS_PYTHON $TIDINGS_SOURCE_DIR/tests/gate/gate.py --source $TIDINGS_SOURCE_DIR --build $TIDINGS_BUILD_DIR --product under-test"
"$TIDINGS_PYTHON" - "$TIDINGS_SOURCE_DIR/tests/gate/parts.json" >"$work/parts.json" <<'PYTHON'
import json, sys
targets = {"kills": 30, "powercut": 200, "sectors": 200, "damage": 40, "salvage": 5, "stops": 20, "swaps": 8, "sim": 2000}
parts = [part for part in json.load(open(sys.argv[1], encoding="utf-8")) if part["name"] in targets]
json.dump([{**part, "target": targets[part["name"]], "first": targets[part["name"]]} for part in parts], sys.stdout)
PYTHON
# shellcheck disable=SC2086 # words
$gate --parts "$work/parts.json" --folder "$work/gate"
status=$?
[ "$status" -eq 0 ] && echo "ok 1 - each part counts, and its controls are caught" || echo "not ok 1 - each part counts, and its controls are caught"
echo 1..1
exit "$status"
