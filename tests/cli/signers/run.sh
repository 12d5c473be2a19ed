#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD_DIR: tests that `tidings listen` accepts requests of the vendors' own libraries, once each. Installs pinned versions from npm, once,
# into the cache of the agents' tests. Exit status 77: npm is missing, or cannot fetch them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
build=$(cd "$1" && pwd -P)
cache=${TIDINGS_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidings-hosts}
node=24.21.0
versions=(standardwebhooks@1.1.1 svix@2.5.0 @octokit/webhooks-methods@6.0.0 cloudevents@10.0.0)
folder=$cache/signers-$(printf '%s\n' "$node" "${versions[@]##*@}" | paste -sd+)

install() {
  command -v npm >/dev/null || { echo "npm is not installed (Debian: nodejs npm)" >&2; exit 77; }
  local fresh
  mkdir -p "$cache"
  fresh=$(mktemp -d "$cache/signers.XXXXXX")
  echo '{"private": true}' >"$fresh/package.json"
  # Installs Node first, and with it the libraries, because an older Node would silently get older versions.
  if ! npm install --prefix "$fresh" --no-audit --no-fund --loglevel=error "node@$node" >&2 ||
    ! PATH=$fresh/node_modules/.bin:$PATH npm install --prefix "$fresh" --no-audit --no-fund --loglevel=error "${versions[@]}" >&2; then
    rm -rf "$fresh"
    exit 77
  fi
  mv -T "$fresh" "$folder"
}

[ -d "$folder" ] || install
for package in "${versions[@]}"; do
  found=$("$folder/node_modules/.bin/node" -p "JSON.parse(require('fs').readFileSync('$folder/node_modules/${package%@*}/package.json')).version")
  [ "$found" = "${package##*@}" ] || { echo "npm installed ${package%@*} $found instead of ${package##*@}" >&2; exit 1; }
done
export TIDINGS_PLUGIN=$build/tidings.so
"$folder/node_modules/.bin/node" "$here/signers.mjs" "$build/tidings" "$folder"
