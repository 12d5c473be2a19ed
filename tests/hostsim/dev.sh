#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests hostsim dev: lines become notifications, a rebuilt file is swapped in, a broken one is refused and the old build continues.
. "$(dirname "$0")/kit.sh"

cp "$plugin" "$work/plugin.so"
mkfifo "$work/keyboard"
"$hostsim" dev --plugin "$work/plugin.so" --every 0 <"$work/keyboard" >"$work/out" 2>"$work/err" &
dev=$!
exec 9>"$work/keyboard"

out_has() { grep -qF -- "$1" "$work/out"; }
eventually out_has "-- loaded: generation 1, tidings"
echo "the first line" >&9
eventually out_has "- the first line"
ok "a line is delivered"

cp "$plugin" "$work/rebuilt.so"
mv "$work/rebuilt.so" "$work/plugin.so"
eventually out_has "-- swapped: generation 2, tidings"
echo "the second line" >&9
eventually out_has "- the second line"
ok "a build that was published by rename is swapped in"

head -c 7000 "$plugin" >"$work/plugin.so"
eventually out_has "-- refused: "
eventually out_has "-- going on with: generation 2"
echo "the third line" >&9
eventually out_has "- the third line"
ok "a build that is cut short is refused, the old one goes on"

rm "$work/plugin.so"
cp "$plugin" "$work/plugin.so"
eventually out_has "-- swapped: generation 3, tidings"
exec 9>&-
wait "$dev"
status=$?
[ "$status" -eq 0 ] || fail "at the end of input: expected exit code 0 got $status"
is_empty err
leaves_nothing
ok "it ends at the end of input"

mkfifo "$work/silent"
"$hostsim" dev --plugin "$work/plugin.so" --every 20 <"$work/silent" >"$work/out" 2>"$work/err" &
dev=$!
exec 9>"$work/silent"
eventually out_has "- Tick 3."
kill -TERM "$dev"
wait "$dev"
status=$?
exec 9>&-
[ "$status" -eq 0 ] || fail "when told to stop: expected exit code 0 got $status"
leaves_nothing
ok "ticks; it ends cleanly when told to stop"

run 1 "$hostsim" dev --plugin "$work/absent.so"
says err "absent.so"
ok "a plugin that is not there"
