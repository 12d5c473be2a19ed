#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh SOURCE_DIR: copies the sources into a bare Debian 13 and runs inside.sh there. Prints TAP. Exit status 77: this machine cannot do that,
# and the last line says why. tests/bare_debian.sh makes the system.
set -euo pipefail
source_dir=$1
work="$source_dir/build/debian13"
release=trixie
packages="gcc libc6-dev cmake ninja-build pkg-config liblmdb-dev libjansson-dev libpq-dev postgresql procps openssl python3-jsonschema ccache"
. "$source_dir/tests/bare_debian.sh"

start=$SECONDS
enter_debian "$0" "$@"
copy_sources
printf '# sum: the system was there after %s s\n' $((SECONDS - start))
in_debian /src/tests/debian13/inside.sh
printf '# sum: all took %s s\n' $((SECONDS - start))
