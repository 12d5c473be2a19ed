#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# conformance.sh TIDINGS PACKAGES: runs the official conformance suite with server-everything, bare and in the wrapper: each check must have the same
# result. Some checks fail in both cases, because that server lacks some fixtures of the suite.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
tidings=$1 packages=$2
work=$(mktemp -d)
export HOME=$work XDG_STATE_HOME=$work/state
node=$packages/node_modules/.bin/node
everything=$packages/node_modules/@modelcontextprotocol/server-everything/dist/index.js
bridge=
trap '[ -z "$bridge" ] || kill "$bridge"; rm -rf "$work"' EXIT

suite() { # NAME COMMAND...
  local name=$1 port=
  shift
  "$node" "$here/bridge.mjs" "$packages" "$@" >"$work/port" 2>/dev/null &
  bridge=$!
  while [ ! -s "$work/port" ]; do sleep 0.1; done
  port=$(cat "$work/port")
  (cd "$work" && "$node" "$packages/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "http://127.0.0.1:$port/mcp") >"$work/$name.out" 2>&1 || true
  kill "$bridge"
  wait "$bridge" || true
  bridge=
  : >"$work/port"
  # The summary lists each scenario with its counts.
  sed -E 's/[0-9]+ ?ms//g' "$work/$name.out" | grep -E '^ *[✓✗]|passed|failed' >"$work/$name"
}

suite bare "$node" "$everything" stdio
suite wrapped "$tidings" mcp -- "$node" "$everything" stdio
diff "$work/bare" "$work/wrapped" || { echo "not ok 1 - the suite's results differ"; exit 1; }
[ "$(wc -l <"$work/bare")" -gt 20 ] || { tail -n 20 "$work/bare.out"; echo "not ok 1 - the suite did not run"; exit 1; }
echo "# sum: conformance: $(wc -l <"$work/bare") lines of results, equal"
tail -n 1 "$work/bare" | sed 's/^/# /'
echo "ok 1 - the official suite has equal results with and without the wrapper"
