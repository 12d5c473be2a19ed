#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# install.sh HOST…: installs the pinned agent hosts from npm, each into a folder of its own outside the tree, and prints for each the folder whose
# node_modules/.bin holds its program. What is there already is left as it is. pins.txt has the versions. Exit status 77: npm cannot be had,
# or cannot fetch them; what it said is on stderr.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
cache=${TIDINGS_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidings-hosts}

[ $# -gt 0 ] || { echo "usage: install.sh HOST..." >&2; exit 2; }

install_host() {
  local host=$1 line fields packages folder fresh
  line=$(grep -E "^$host " "$here/pins.txt") || { echo "install.sh: \"$host\" is not in pins.txt" >&2; exit 2; }
  read -r -a fields <<<"$line"
  packages=("${fields[@]:1:${#fields[@]}-2}")
  folder=$cache/$host-$(printf '%s\n' "${packages[@]}" | sed 's/.*@//' | paste -sd+)
  # Two builds may be tested at once: one installs, the other waits.
  exec {lock}>"$cache/$host.lock"
  flock "$lock"
  if [ ! -d "$folder" ]; then
    command -v npm >/dev/null || { echo "install.sh: $host: npm is not installed (Debian: nodejs npm)" >&2; exit 77; }
    fresh=$(mktemp -d "$cache/$host.XXXXXX")
    if ! npm install --prefix "$fresh" --no-audit --no-fund --no-package-lock --no-update-notifier --loglevel=error "${packages[@]}" \
      </dev/null >"$fresh/npm.log" 2>&1; then
      tail -n 5 "$fresh/npm.log" | sed "s/^/install.sh: $host: npm: /" >&2
      rm -rf "$fresh"
      exit 77
    fi
    mv -T "$fresh" "$folder"
  fi
  exec {lock}>&-
  printf '%s\n' "$folder"
}

mkdir -p "$cache"
for host in "$@"; do install_host "$host"; done
