#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# places.sh TIDINGS PACKAGES: tests that the programs of Amp and Cline read the entries of `tidings setup mcp`, and that entries of Cline are wrapped.
# Neither needs an account for this.
set -euo pipefail
tidings=$1 packages=$2/node_modules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
mkdir -p "$HOME"
cd "$HOME"

"$tidings" setup mcp amp >/dev/null
"$packages/@ampcode/cli-linux-x64/amp" mcp list </dev/null 2>/dev/null >amp.out
grep -Eq "^ *tidings +command +.*tidings mcp$" amp.out || { sed 's/^/# /' amp.out; echo "not ok 1 - Amp lists the server of tidings"; exit 1; }
echo "ok 1 - Amp lists the server of tidings"

cline=$packages/@cline/cli-linux-x64/bin/cline
settings=$HOME/.cline/data/settings/cline_mcp_settings.json
chmod +x "$cline"
"$cline" mcp install --yes its-own -- /bin/echo hi </dev/null >/dev/null
"$tidings" setup mcp cline --wrap >/dev/null
"$tidings" setup mcp cline >/dev/null
grep -A 5 '"args"' "$settings" | tr -d ' \n' | grep -q '"args":\["mcp","--","/bin/echo","hi"\]' || { sed 's/^/# /' "$settings"; echo "not ok 2 - a server that Cline has written down is wrapped"; exit 1; }
"$cline" mcp uninstall tidings </dev/null >cline.out 2>&1 || true
! grep -q '"tidings"' "$settings" || { sed 's/^/# /' cline.out "$settings"; echo "not ok 2 - Cline finds the server of tidings"; exit 1; }
echo "ok 2 - Cline finds the server of tidings, and what it has written down itself is wrapped"
echo "1..2"
