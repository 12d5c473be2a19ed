#!/bin/sh
# SPDX-License-Identifier: MIT
#
# readmes.sh SOURCE_DIR: checks that tests/agents/ and each folder of tests/ that registers tests have a README.md, and that tests/README.md lists
# them. Prints TAP.
cd "$1" || exit 1
found=0
for folder in tests tests/agents tests/*/CMakeLists.txt tests/*/*/CMakeLists.txt; do
  folder=${folder%/CMakeLists.txt}
  [ -s "$folder/README.md" ] || { echo "# $folder has no README.md"; found=1; }
done
[ $found -eq 0 ] && echo "ok 1 - each folder of tests says what belongs there" || echo "not ok 1 - each folder of tests says what belongs there"
unlisted=0
for page in tests/*/README.md; do
  folder=${page#tests/} folder=${folder%/README.md}
  grep -qF "[$folder]($folder/README.md)" tests/README.md || { echo "# tests/README.md does not list $folder"; unlisted=1; }
done
[ $unlisted -eq 0 ] && echo "ok 2 - the page of all tests lists each folder" || echo "not ok 2 - the page of all tests lists each folder"
echo 1..2
[ $found -eq 0 ] && [ $unlisted -eq 0 ]
