#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# install.sh HOST…: installs the pinned agent hosts from npm, each into a folder of its own outside the tree, and prints for each the folder whose node_modules/.bin holds its program. Existing files stay
# as they are. agents/hosts/versions.txt has the versions, or the file that $TIDINGS_HOST_VERSIONS names. Exit status 77: npm is missing, or cannot fetch them; its message is on stderr. This takes at
# most half a minute, though npm itself would try for many minutes. A process that has waited for another one's failed attempt does not try again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
versions=${TIDINGS_HOST_VERSIONS:-$here/../../../agents/hosts/versions.txt}
cache=${TIDINGS_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tidings-hosts}

[ $# -gt 0 ] || { echo "usage: install.sh HOST..." >&2; exit 2; }

fresh= # the folder that is being filled
trap '[ -z "$fresh" ] || rm -rf "$fresh"' EXIT
trap 'exit 143' TERM INT HUP

cannot() { # HOST WHY
  printf 'install.sh: %s: %s\n' "$1" "$2" | tee "$cache/$1.failed" >&2
  exit 77
}

# Asks the registry one question, to detect one that does not answer; npm's message is the reason.
ask_registry() { # HOST PACKAGE
  local said
  said=$(timeout 60 npm view "$2" version --fetch-retries=0 --fetch-timeout=20000 --no-update-notifier --loglevel=error </dev/null 2>&1) ||
    cannot "$1" "npm view $2: $(printf '%s' "${said:-no answer}" | grep -v 'A complete log' | head -n 5 | paste -sd' ')"
}

fetch() { # HOST PACKAGE…
  local host=$1 status=0
  shift
  timeout 600 npm install --prefix "$fresh" --fetch-retries=1 --fetch-retry-mintimeout=1000 --no-audit --no-fund --no-package-lock --no-update-notifier \
    --loglevel=error "$@" </dev/null >"$fresh/npm.log" 2>&1 || status=$?
  [ $status -ne 124 ] || cannot "$host" "npm install took more than ten minutes"
  [ $status -eq 0 ] || cannot "$host" "npm install: $(grep -v 'A complete log' "$fresh/npm.log" | tail -n 5 | paste -sd' ')"
}

install_host() {
  local host=$1 line fields packages folder began
  line=$(grep -E "^$host " "$versions") || { echo "install.sh: \"$host\" is not in $versions" >&2; exit 2; }
  read -r -a fields <<<"$line"
  packages=("${fields[@]:1:${#fields[@]}-2}")
  folder=$cache/$host-$(printf '%s\n' "${packages[@]}" | sed 's/.*@//' | paste -sd+)
  # If several processes need the same agent, one installs it and the others wait.
  began=$(date +%s)
  exec {lock}>"$cache/$host.lock"
  flock "$lock"
  if [ ! -d "$folder" ]; then
    if [ -f "$cache/$host.failed" ] && [ "$(stat -c %Y "$cache/$host.failed")" -gt "$began" ]; then
      cat "$cache/$host.failed" >&2
      exit 77
    fi
    command -v npm >/dev/null || cannot "$host" "npm is not installed (Debian: nodejs npm)"
    ask_registry "$host" "${packages[0]}"
    fresh=$(mktemp -d "$cache/$host.XXXXXX")
    fetch "$host" "${packages[@]}"
    mv -T "$fresh" "$folder"
    fresh=
    rm -f "$cache/$host.failed"
  fi
  exec {lock}>&-
  printf '%s\n' "$folder"
}

mkdir -p "$cache"
for host in "$@"; do install_host "$host"; done
