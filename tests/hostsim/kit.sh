# SPDX-License-Identifier: MIT
#
# The kit of the tests of hostsim. A test is a function of commands and expectations; the first wrong expectation ends the script with the expected
# and the actual result. The kit itself does not know hostsim.
set -u
hostsim=$TIDINGS_HOSTSIM
plugin=$TIDINGS_PLUGIN
here=$TIDINGS_SOURCE_DIR/tests/hostsim
work=$(mktemp -d)
mkdir "$work/tmp"
export TMPDIR=$work/tmp XDG_RUNTIME_DIR=$work/tmp
unset NO_COLOR
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'not ok - %s\n' "$1"
  for file in "$work/out" "$work/err"; do
    printf '# %s:\n' "${file##*/}"
    sed 's/^/#   /' "$file" 2>/dev/null
  done
  exit 1
}

# run EXPECTED-STATUS COMMAND…: its output is in $work/out and $work/err afterwards
run() {
  expected=$1
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ "$status" -eq "$expected" ] || fail "$*: expected exit code $expected got $status"
}

# says FILE TEXT: the file (out, err) contains the text
says() { grep -qF -- "$2" "$work/$1" || fail "expected in $1: $2"; }
lacks() { ! grep -qF -- "$2" "$work/$1" || fail "not expected in $1: $2"; }
is_empty() { [ ! -s "$work/$1" ] || fail "expected $1 to be empty"; }
last_line_is() { [ "$(tail -n 1 "$work/out")" = "$1" ] || fail "expected the last line '$1' got '$(tail -n 1 "$work/out")'"; }
leaves_nothing() { [ -z "$(ls -A "$work/tmp")" ] || fail "left behind: $(ls -A "$work/tmp")"; }

# eventually COMMAND…: it succeeds within two minutes
eventually() {
  deadline=$(($(date +%s) + 120))
  until "$@"; do
    [ "$(date +%s)" -lt "$deadline" ] || fail "did not come true in time: $*"
    sleep 0.05
  done
}

# Time limits for hanging cases, in ms. The next one is tried if the machine was too busy to reach the hanging case within the one before.
limits="300 1000 3000 9000 60000"

# scenario TEXT: writes $work/scenario.json
scenario() { printf '%s\n' "$1" >"$work/scenario.json"; }

ok() { printf 'ok - %s\n' "$1"; }
