#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# exports.sh PLUGIN: tests that the plugin exports one symbol, has no flag that prevents unloading, and contains no C++. It must not import functions
# that start or end processes, or that change the state of the whole process (entry.h). Prints TAP.
set -u
plugin=$1
failed=0
check() { # NUMBER WHAT EXPECTED GOT
  if [ "$3" = "$4" ]; then
    echo "ok $1 - $2"
  else
    echo "not ok $1 - $2"
    printf 'expected: %s\ngot:      %s\n' "$3" "$4" | sed 's/^/# /'
    failed=1
  fi
}
check 1 "nm -D shows one defined symbol" "tidings_entry" "$(nm -D --defined-only "$plugin" | awk '{print $NF}' | sed 's/@.*//')"
check 2 "it is data, not code" "OBJECT" "$(readelf -W --dyn-syms "$plugin" | awk '$8 == "tidings_entry" {print $4}')"
check 3 "it may be unloaded" "" "$(readelf -W -d "$plugin" | grep -o NODELETE)"
check 4 "it has no thread-local storage, which would outlive dlclose" "" "$(readelf -W -l "$plugin" | awk '$1 == "TLS" {print $1}')"
check 5 "all that it needs is bound when it is loaded" "NOW" "$(readelf -W -d "$plugin" | grep -ow NOW | head -n 1)"
imports=$(nm -D --undefined-only "$plugin" | awk '{print $NF}' | sed 's/@.*//')
never='v?fork|daemon|posix_spawnp?|exec[a-z]+|wait(pid|id|[34])?|system|popen|signal|sigaction|sigprocmask|raise|_?[eE]xit|quick_exit'
shared='setenv|putenv|unsetenv|f?chdir|umask|setlocale|puts|printf|putchar|stdout'
check 6 "nothing that starts or ends a process, or sets what signals do" "" "$(grep -xE "$never" <<<"$imports")"
check 7 "nothing that changes the environment, the folder, the umask or the locale, or prints" "" "$(grep -xE "$shared" <<<"$imports")"
echo "1..7"
exit $failed
