#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests hostsim dev with --sources and --build, which `./dev hot` runs: a saved source is built and swapped into the conversation; after a compiler's
# error, the conversation shows it and the old build continues. The build is a script here, which copies the plugin or fails like ninja.
. "$(dirname "$0")/kit.sh"

mkdir -p "$work/src/deep" "$work/out.d"
cp "$plugin" "$work/out.d/plugin.so"
cat >"$work/build.sh" <<END
#!/bin/sh
[ ! -e "$work/hold" ] || { echo held >>"$work/held"; cat "$work/gate" >/dev/null; }
if [ -e "$work/src/broken" ]; then
  echo '[1/2] Building C object a.c.o'
  echo 'FAILED: a.c.o'
  echo '/usr/bin/cc -c -o a.c.o ../../src/a.c'
  echo "../../src/a.c:10:84: error: expected expression before ';' token"
  echo '   10 | int a = ;'
  i=0; while [ \$i -lt 30 ]; do i=\$((i + 1)); echo "../../src/a.c:\$i:1: error: and another one"; done
  echo 'ninja: build stopped: subcommand failed.'
  exit 1
fi
echo built >>"$work/built"
[ ! -e "$work/src/same" ] || exit 0
cp "$plugin" "$work/out.d/new.so"
mv "$work/out.d/new.so" "$work/out.d/plugin.so"
END
printf '%s\n' 'the first line of a file' '[{"kind": "ci.failed", "level": "error", "message": "CI failed."}, {"message": "And a second one."}]' >"$work/lines"
mkfifo "$work/keyboard" "$work/gate"
begin() { # OPTION…
  "$hostsim" dev --plugin "$work/out.d/plugin.so" --every 0 --again --play "$work/lines" --sources "$work/src" --build "sh '$work/build.sh'" "$@"
}
begin <"$work/keyboard" >"$work/out" 2>"$work/err" &
dev=$!
exec 9>"$work/keyboard"

out_has() { grep -qF -- "$1" "$work/out"; }
shown() { [ "$(grep -cF -- "$2" "$work/out")" -eq "$1" ]; }
eventually out_has "- And a second one."
says out "-- loaded: generation 1, tidings"
says out "- the first line of a file"
[ "$(sed -n '/CI failed/,/second one/p' "$work/out" | grep -c 'tool')" -eq 0 ] || fail "the list of two is one delivery"
ok "the lines of a file begin the conversation; a list is delivered at once"

echo 'int a;' >"$work/src/a.c"
eventually out_has "s after the save: the build took "
says out "-- saved: $work/src/a.c"
says out "-- swapped: generation 2, tidings"
shown 2 "- CI failed." || fail "the last line is said again"
shown 1 "- the first line of a file" || fail "only the last line is said again"
ok "a source that is saved is built and swapped, and the last line shows the effect"

echo "not a source" >"$work/src/a.c~"
echo "not a source" >"$work/src/.a.c.swp"
mkdir "$work/src/deep/er"
eventually out_has "-- saved: $work/src/deep/er"
eventually out_has "-- swapped: generation 3, tidings"
echo 'int b;' >"$work/src/deep/er/b.new"
mv "$work/src/deep/er/b.new" "$work/src/deep/er/b.h"
eventually out_has "-- saved: $work/src/deep/er/b.h"
eventually out_has "-- swapped: generation 4, tidings"
lacks out "a.c~"
lacks out ".swp"
ok "a source in a new folder counts, also one that is saved by renaming; what editors write beside it does not"

touch "$work/src/broken"
echo 'int a = ;' >"$work/src/a.c"
eventually out_has "-- does not build: 31 errors"
says out "src/a.c:10:84: error: expected expression"
says out "   10 | int a = ;"
says out "   and 16 lines more"
lacks out "../../src"
lacks out "FAILED:"
lacks out "-o a.c.o"
lacks out "build stopped"
echo "and it goes on" >&9
eventually out_has "- and it goes on"
out_has "-- swapped: generation 5" && fail "what does not build is not swapped"
ok "what the compiler says is shown in the conversation, which goes on with the old build"

rm "$work/src/broken"
echo 'int a = 1;' >"$work/src/a.c"
eventually out_has "-- swapped: generation 5, tidings"
eventually shown 2 "- and it goes on"
touch "$work/src/same"
echo 'int a = 1;' >"$work/src/a.c"
eventually out_has "the plugin is the same"
rm "$work/src/same"
ok "a build that works again is swapped; one that makes nothing new is not"

touch "$work/hold"
echo 'int a = 2;' >"$work/src/a.c"
eventually test -s "$work/held"
built=$(wc -l <"$work/built")
rm "$work/hold"
echo 'int a = 3;' >"$work/src/a.c"
eventually out_has "-- swapped: generation 6, tidings"
[ "$(wc -l <"$work/built")" -eq $((built + 1)) ] || fail "the build that a newer save has stopped goes on"
ok "a save during a build stops that build, and starts one"

echo "-- a build of somebody else's" >/dev/null
cp "$plugin" "$work/out.d/new.so"
mv "$work/out.d/new.so" "$work/out.d/plugin.so"
eventually out_has "-- swapped: generation 7, tidings"
touch "$work/hold"
: >"$work/held"
echo 'int a = 4;' >"$work/src/a.c"
eventually test -s "$work/held"
exec 9>&-
wait "$dev"
status=$?
[ "$status" -eq 0 ] || fail "at the end of input: expected exit code 0 got $status"
is_empty err
leaves_nothing
! pgrep -f "$work/build.sh" >/dev/null || fail "the build outlived it"
rm "$work/hold"
ok "a build of somebody else's is swapped, too; at the end a build that runs is stopped"

run 2 "$hostsim" dev --plugin "$plugin" --sources "$work/src"
says err "--sources and --build are given together"
run 1 "$hostsim" dev --plugin "$plugin" --sources "$work/absent" --build true
says err "$work/absent cannot be watched: No such file or directory"
run 1 "$hostsim" dev --plugin "$plugin" --play "$work/absent"
says err "$work/absent: No such file or directory"
leaves_nothing
ok "what is not there is said"

command -v tmux >/dev/null || {
  ok "# skip: tmux is not installed"
  exit 0
}
terminal() { tmux -S "$work/tmux" -f /dev/null "$@"; }
screen_has() { terminal capture-pane -p | grep -qF -- "$1"; }
last_rows() { terminal capture-pane -p | tail -n 2; }
trap 'terminal kill-server 2>/dev/null; rm -rf "$work"' EXIT
cat >"$work/run.sh" <<END
'$hostsim' dev --plugin '$work/out.d/plugin.so' --every 0 --again --play '$work/lines' --sources '$work/src' --build "sh '$work/build.sh'"
echo "it ended with \$?"
cat
END
env -u TMUX TERM=xterm-256color LC_ALL=C.UTF-8 TMPDIR="$TMPDIR" tmux -S "$work/tmux" -f /dev/null new-session -d -x 100 -y 30 sh "$work/run.sh"
eventually screen_has " generation 1 runs; "
eventually screen_has "- And a second one." # the state is shown first
terminal send-keys -l "héllo"
eventually screen_has "> héllo"
terminal send-keys BSpace BSpace BSpace BSpace Left "i" Enter
eventually screen_has "- hi"
ok "on a terminal, what is typed is edited in the last row and delivered"

touch "$work/src/broken"
echo 'int a = ;' >"$work/src/a.c"
eventually screen_has " does not build: 31 errors; generation 1 goes on"
screen_has "src/a.c:10:84: error: expected expression" || fail "the error is not where the conversation is"
last_rows | head -n 1 | grep -qF " does not build: 31 errors" || fail "the state of the build is not in the row above the last"
terminal resize-window -x 80 -y 20
eventually eval 'last_rows | head -n 1 | grep -qF " does not build: 31 errors"'
rm "$work/src/broken"
echo 'int a = 5;' >"$work/src/a.c"
eventually screen_has " generation 2 runs; "
eventually screen_has "s after the save: the build took "
screen_has "- hi" || fail "the effect is not on the screen"
printf 'int a;\n' >"$work/src/$(printf 'x\033]0;title\007y.c')"
eventually screen_has "x{U+001B}]0;title{U+0007}y.c"
terminal send-keys C-d
eventually screen_has "it ended with 0"
ok "on a terminal, the error is in the conversation and the state below it, also after the terminal has become smaller"
