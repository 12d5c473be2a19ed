#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Wrong command lines exit 2 and show the usage line on stderr; --help exits 0 and shows it on stdout.
. "$(dirname "$0")/kit.sh"

wrong() { # WHAT-IT-SAYS ARGUMENTS…
  words=$1
  shift
  run 2 "$hostsim" "$@"
  is_empty out
  says err "$words"
  says err "usage: hostsim "
}

wrong "a verb is missing"
wrong "unknown verb 'frobnicate'" frobnicate
wrong "unknown option '--frobnicate'" --frobnicate
wrong "no scenario file was named" run
wrong "unknown option '--frobnicate'" run --frobnicate x.json
wrong "unknown option '-x'" run -x x.json
wrong "option '--plugin' needs an argument" run --plugin
wrong "'many' is not a whole number" run --seed many x.json
wrong "'-1' is not a whole number" run --seed -1 x.json
wrong "'0' is not a number of milliseconds" run --timeout 0 x.json
wrong "--plugin PATH is missing" conformance
wrong "unexpected argument 'x'" conformance --plugin "$plugin" x
wrong "no case has 'no such case' in its name" conformance --plugin "$plugin" --filter "no such case"
wrong "unexpected argument 'x'" sim --plugin "$plugin" x
wrong "--steps: '0' is not a whole number from 1" sim --steps 0
wrong "--seed: 'many' is not a whole number" sim --seed many
wrong "option '--schedule' needs an argument" sim --schedule
wrong "unexpected argument 'x'" demo x
wrong "unknown option '--colour'" demo --colour
wrong "--plugin PATH is missing" dev
wrong "option '--every' needs an argument" dev --plugin "$plugin" --every
wrong "'soon' is not a number of milliseconds" dev --plugin "$plugin" --every soon
wrong "internal; not for use by hand" internal-agent
wrong "internal; not for use by hand" internal-sim
ok "wrong command lines exit 2 with the usage line"

for verb in run conformance sim demo dev; do
  run 0 "$hostsim" $verb --help
  is_empty err
  says out "usage: hostsim $verb"
  says out "--help"
  says out "--plugin PATH"
  run 2 "$hostsim" $verb --no-such-option
  says err "usage: hostsim $verb"
done
run 0 "$hostsim" --help
says out "usage: hostsim run|conformance|sim|demo|dev"
run 0 "$hostsim" --version
grep -Eq '^hostsim [0-9]+\.[0-9]+\.[0-9]+$' "$work/out" || fail "--version says what version it is"
ok "--help and --version"
leaves_nothing
