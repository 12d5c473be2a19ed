#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# test.sh SOURCE_DIR npm|apt: acts like a newcomer on a bare Debian 12 with only nodejs and npm, or only apt. It installs the packages of build/packages
# and sets Claude Code up. The agent's next request must have the report of `tidings run -- false`. newcomer.py types the lines; the model is a script.
# Prints TAP. Exit status 77: this machine cannot do that, and the last line says why.
set -euo pipefail
source_dir=$1
for last; do :; done
work="$source_dir/build/packages/newcomer-$last"
release=bookworm
case $last in
  npm) packages="nodejs npm" sound_program=node ;;
  apt) packages="ca-certificates" sound_program=apt-get ;;
  *) exit 2 ;;
esac
. "$source_dir/tests/bare_debian.sh"

enter_debian "$0" "$@"
[ "$last" = npm ] || refresh_lists
claude=$("$source_dir/tests/agents/hosts/install.sh" claude) || skip "Claude Code cannot be fetched"
rm -rf "$root/packages" "$root/newcomer"
mkdir -p "$root/packages" "$root/agent"
cp -R "$source_dir/build/packages/$([ "$last" = apt ] && echo deb || echo npm)" "$root/packages"
mount --bind "$claude" "$root/agent"
cd "$source_dir/tests/agents/hosts"
PYTHONPATH=. python3 "$source_dir/packaging/newcomer.py" "$root" "$last"
