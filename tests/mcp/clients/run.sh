#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD_DIR: tests the official clients and the official conformance suite with `tidings mcp`, and the programs of agents with `tidings setup mcp`. Installs pinned versions from npm, once,
# into the cache of the agents' tests. Exit status 77: npm is missing, or cannot fetch them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
build=$(cd "$1" && pwd -P)
cache=${TIDINGS_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidings-hosts}
node=24.21.0
versions=(sdk@1.32.2 client@2.4.0 server-everything@2026.8.31 inspector@2.12.0 conformance@0.2.0-alpha.12)
agents=(@ampcode/cli-linux-x64@0.0.1790142911-g7618fb @cline/cli-linux-x64@3.0.65) # these programs are for this kind of machine only
folder=$cache/mcp-$(printf '%s\n' "$node" "${versions[@]#*@}" | paste -sd+)

install() {
  command -v npm >/dev/null || { echo "npm is not installed (Debian: nodejs npm)" >&2; exit 77; }
  local fresh
  mkdir -p "$cache"
  fresh=$(mktemp -d "$cache/mcp.XXXXXX")
  echo '{"private": true}' >"$fresh/package.json"
  # Installs Node first, and with it the rest, because an older Node would silently get older versions.
  if ! npm install --prefix "$fresh" --no-audit --no-fund --loglevel=error "node@$node" >&2 ||
    ! PATH=$fresh/node_modules/.bin:$PATH npm install --prefix "$fresh" --no-audit --no-fund --loglevel=error "${versions[@]/#/@modelcontextprotocol/}" >&2; then
    rm -rf "$fresh"
    exit 77
  fi
  mv -T "$fresh" "$folder"
}

# fetch FOLDER PACKAGE...: into a new folder, which gets that name when it is complete.
fetch() {
  local fresh folder=$1
  shift
  fresh=$(mktemp -d "$cache/mcp.XXXXXX")
  echo '{"private": true}' >"$fresh/package.json"
  npm install --prefix "$fresh" --no-audit --no-fund --loglevel=error --ignore-scripts "$@" >&2 || { rm -rf "$fresh"; return 1; }
  mv -T "$fresh" "$folder"
}

[ -d "$folder" ] || install
for package in "${versions[@]}"; do
  found=$("$folder/node_modules/.bin/node" -p "require('$folder/node_modules/@modelcontextprotocol/${package%@*}/package.json').version")
  [ "$found" = "${package##*@}" ] || { echo "npm installed ${package%@*} $found instead of ${package##*@}" >&2; exit 1; }
done
export TIDINGS_PLUGIN=$build/tidings.so
PATH=$folder/node_modules/.bin:$PATH "$folder/node_modules/.bin/node" "$here/clients.mjs" "$build/tidings" "$folder"
"$here/conformance.sh" "$build/tidings" "$folder"
if [ "$(uname -m)" = x86_64 ]; then
  [ -d "$folder-agents" ] || { fetch "$folder-agents" "${agents[@]}" || exit 77; }
  "$here/places.sh" "$build/tidings" "$folder-agents"
fi
TIDINGS_CLI=$build/tidings TIDINGS_CLI_TRICK=$build/tests/cli-store-trick PYTHONDONTWRITEBYTECODE=1 python3 "$here/../measure.py"
