#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tidings: starts the program of the package for this machine, which npm has put beside this package or below it. npm links this file into the
# path. Hooks name the program itself: `tidings setup` writes its path.
case $(uname -s)-$(uname -m) in
  Linux-x86_64) machine=x64 glibc=/lib64/ld-linux-x86-64.so.2 musl=/lib/ld-musl-x86_64.so.1 ;;
  Linux-aarch64) machine=arm64 glibc=/lib/ld-linux-aarch64.so.1 musl=/lib/ld-musl-aarch64.so.1 ;;
  *)
    echo "tidings: there is no package for $(uname -s) on $(uname -m), only for Linux on x86_64 and aarch64" >&2
    exit 1
    ;;
esac
# Older versions of npm install the packages of both C libraries.
if [ -e "$glibc" ]; then package="linux-$machine-gnu"; elif [ -e "$musl" ]; then package="linux-$machine-musl"; else package="linux-$machine-gnu"; fi
folder=$(dirname "$(readlink -f "$0")")
while :; do
  program=$folder/node_modules/@tidings/$package/bin/tidings
  if [ -x "$program" ]; then exec "$program" "$@"; fi
  [ "$folder" != / ] || break
  folder=$(dirname "$folder")
done
echo "tidings: the package @tidings/$package is missing: npm was told to leave out optional packages (--omit=optional), or to install only this one" >&2
exit 1
