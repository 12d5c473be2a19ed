#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh RUNTIME FILE: runs a test in a JavaScript runtime: node20, node22, node24 or bun, from npm in the versions of agents/hosts/versions.txt. pi runs in
# Node 24, and opencode contains Bun. Exit status 77: the runtime is not available.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
runtime=$1 file=$2

# A sanitized addon needs the sanitizer's library to be loaded first.
preload=
if [ "${TIDINGS_SANITIZE:-}" = address ]; then preload="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"; fi

case $runtime in
  bun)
    [ "$(uname -m)" = x86_64 ] || { echo "1..0 # SKIP the pinned opencode, and the Bun in it, is for x86_64"; exit 77; }
    folder=$("$here/../hosts/install.sh" opencode) || exit 77
    export BUN_BE_BUN=1
    exec "$folder/node_modules/opencode-linux-x64/bin/opencode" --expose-gc "$here/$file"
    ;;
  *)
    [ "$runtime" != node24 ] || runtime=pi
    folder=$("$here/../hosts/install.sh" "$runtime") || exit 77
    exec env ${preload:+LD_PRELOAD="$preload"} "$folder/node_modules/.bin/node" --expose-gc "$here/$file"
    ;;
esac
