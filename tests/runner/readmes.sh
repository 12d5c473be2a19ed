#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readmes.sh SOURCE_DIR: each folder of tests/ that registers tests has a README.md, and so has tests/agents/. Prints TAP.
cd "$1" || exit 1
found=0
for folder in tests tests/agents tests/*/CMakeLists.txt tests/*/*/CMakeLists.txt; do
  folder=${folder%/CMakeLists.txt}
  [ -s "$folder/README.md" ] || { echo "# $folder has no README.md"; found=1; }
done
[ $found -eq 0 ] && echo "ok 1 - each folder of tests says what belongs there" || echo "not ok 1 - each folder of tests says what belongs there"
echo 1..1
exit $found
