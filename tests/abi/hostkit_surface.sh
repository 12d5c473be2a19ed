#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# hostkit_surface.sh HEADERS OUTPUT: compiles a shared object that exports a pointer to each function of HEADERS/tidings/hostkit.h, so that
# abidiff sees their types and all structs that they take. The functions themselves would add hostkit's internal types.
set -euo pipefail
headers=$1 output=$2
functions=$(sed -n '/^HOSTKIT_API/s/^HOSTKIT_API [^(]*\b\(hostkit_[a-z_]*\)(.*/\1/p' "$headers/tidings/hostkit.h")
[ "$(wc -l <<<"$functions")" -eq "$(grep -c '^HOSTKIT_API ' "$headers/tidings/hostkit.h")" ] || {
  echo "hostkit_surface.sh: a function of hostkit.h was not understood" >&2
  exit 1
}
{
  echo '#include <tidings/hostkit.h>'
  for name in $functions; do
    echo "__attribute__((visibility(\"default\"))) __typeof__(&$name) surface_$name;"
  done
} | cc -g -shared -fPIC -fvisibility=hidden -I "$headers" -I "$headers/../../abi" -x c - -o "$output"
