#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests hostsim demo: its last line and exit code, its plain text without a terminal, and that it leaves no files, even after Ctrl-C.
. "$(dirname "$0")/kit.sh"

run 0 "$hostsim" demo --fast
is_empty err
tail -n 1 "$work/out" | grep -Eq '^pushed ([0-9]+), delivered \1, lost 0, twice 0$' || fail "the last line"
for words in 'failed with exit code 1' '`src/parser.h` was modified externally.' 'CI run 4812' 'Deployment 77' 'generation 2' \
  'Multiple files modified: src/words_01.h, src/words_02.h' '(1 more notification pending)' 'withheld by the configuration: 3'; do
  says out "$words"
done
lacks out 'Half of it is built'
says out 'messages that ask for a turn: sent 4, delivered 4, lost 0, twice 0'
[ "$(grep -c 'SIGKILL' "$work/out")" -eq 2 ] || fail "the host is killed twice"
! grep -q "$(printf '\033')" "$work/out" || fail "no colour when it is no terminal"
leaves_nothing
ok "the demo tells everything once"

in_order() { # WORDS… each on a later line than the one before
  line=0
  for words in "$@"; do
    next=$(tail -n "+$((line + 1))" "$work/out" | grep -nF -- "$words" | head -n 1 | cut -d: -f1)
    [ -n "$next" ] || fail "'$words' is not where it should be"
    line=$((line + next))
  done
}
in_order '== a busy moment' 'the tracker disconnects and reconnects' '│ - Multiple files modified: src/words_01.h' '│ - CI run 4813' '│ (1 more notification pending)' \
  'On branch main.' '│ - The linter found nothing.' 'return count;'
moment=$(sed -n '/^== a busy moment/,/^== turns/p' "$work/out" | grep '│ ')
[ "$(echo "$moment" | grep 'Multiple files modified' | grep -o 'src/words_[0-9]*\.h' | sort -u | wc -l)" -eq 20 ] || fail "twenty files are one line"
! echo "$moment" | grep -q 'tracker\|Half of it' || fail "what cancels out, or is not wanted, is not told"
ok "twenty files are one line, a server that came back is none, a kind that is off is not told, and what a cap leaves over is on the next carrier"

in_order 'Rename count_words to word_count' 'the user types a correction' 'tool       src/parser.c' '│ But leave the header as it is!' 'assistant  Then only'
ok "a correction that is typed while a tool runs is on that tool's result"
in_order 'the user types the next message; then another process submits' 'user       Now write a test for it.' 'webhook ' 'Pull request 31 was opened'
ok "a webhook waits behind a typed message"
in_order 'another process pushes disk.full, critical' 'abort_stream' 'webhook    │ ---' '│ - The disk of the workspace is full.' '           Pull request 31 was opened'
ok "something critical stops the stream and rides on the queued message"
in_order 'the session is idle; a subagent ends' 'system     │ ---' "│ - [Subagent 'look-for-callers' finished]" 'Notification (subagent.finished); see the notifications in this message.'
ok "a subagent's end wakes an idle session"
in_order 'a webhook of the monitoring wakes it' 'answers 200 when it is stored' 'system     │ ---' '│ - Alert `Down` is firing: Production answers 502' 'Critical notification (alert.firing)' \
  '→ roll back: deployment 77'
ok "a webhook reaches an idle session and wakes it"
in_order 'waits in a mailbox, and a session that starts later takes it over' 'pushes to box:nightly, which no session has joined' 'another session starts and joins box:nightly' \
  '│ - The nightly backup failed' 'How was the night?'
ok "a session that starts later takes a mailbox over"

python3 - "$TIDINGS_SOURCE_DIR/docs/scenarios.md" "$work/out" <<'END' || fail "docs/scenarios.md shows what the demo does not say"
import re, sys
page, out = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
shown = [block for language, block in blocks if not language and "│" in block]
last = re.findall(r"`(pushed \d+, delivered \d+, lost 0, twice 0)`", page)
missing = [text for text in shown + last if text not in out]
print("".join(missing), end="")
sys.exit(len(shown) != 1 or len(last) != 1 or bool(missing))
END
ok "docs/scenarios.md shows the demo to the letter"

if command -v script >/dev/null; then
  escape=$(printf '\033')
  run 0 env TERM=xterm script -qec "'$hostsim' demo --fast" /dev/null
  says out "$escape["
  run 0 env TERM=xterm NO_COLOR=1 script -qec "'$hostsim' demo --fast" /dev/null
  lacks out "$escape["
  run 0 env TERM=xterm script -qec "'$hostsim' demo --fast --no-color" /dev/null
  lacks out "$escape["
  ok "colour on a terminal, unless NO_COLOR or --no-color says otherwise"
fi

run 0 "$hostsim" demo --fast --timeline "$work/page.html"
[ "$(tail -n 1 "$work/out")" = "the page of this session, for a browser: $work/page.html" ] || fail "the page's path"
grep -q '"session":"demo"' "$work/page.html" || fail "the page of the demo's session"
run 2 "$hostsim" demo --fleet --timeline "$work/page.html"
ok "with --timeline it ends with the page of its session"

PATH_WITHOUT_CC=$work/bin
mkdir "$PATH_WITHOUT_CC"
for tool in sh grep; do ln -s "$(command -v $tool)" "$PATH_WITHOUT_CC/$tool"; done
run 0 env PATH="$PATH_WITHOUT_CC" "$hostsim" demo --fast
says out "no cc on this machine"
tail -n 1 "$work/out" | grep -Eq '^pushed ([0-9]+), delivered \1, lost 0, twice 0$' || fail "the last line without cc"
ok "without a compiler another command fails, and the demo says so"

run 1 "$hostsim" demo --fast --plugin "$FAULT_PLUGIN"
run 1 "$hostsim" demo --fast --plugin "$work/absent.so"
says err "absent.so"
leaves_nothing
ok "a plugin that cannot do it, or is not there, fails the demo"

for attempt in 1 2 3; do # on a busy machine the demo may end before the signal
  "$hostsim" demo >"$work/out" 2>"$work/err" </dev/null &
  demo=$!
  eventually grep -q "assistant" "$work/out"
  kill -INT "$demo" 2>/dev/null || kill -TERM "$demo" 2>/dev/null
  kill -TERM "$demo" 2>/dev/null
  wait "$demo"
  status=$?
  [ "$status" -eq 0 ] || break
done
[ "$status" -eq 130 ] || [ "$status" -eq 143 ] || fail "an interrupted demo: expected exit code 130 or 143 got $status"
leaves_nothing
! pgrep -f "internal-demo-host $work" >/dev/null 2>&1 || fail "the host process outlived the demo"
ok "an interrupted demo leaves nothing behind"
