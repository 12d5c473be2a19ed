#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# install.sh SOURCE_DIR BUILD_DIR CMAKE CC VERSION: installs into a new folder, moves that folder, and builds and runs the host of docs/embedding.md there in each
# supported way: pkg-config, find_package with the shared and with the static library. Prints TAP.
set -u
source=$1 build=$2 cmake=$3 cc=$4 version=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
failed=0

check() { # WHAT STATUS
  count=$((count + 1))
  if [ "$2" -eq 0 ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    tail -n 30 "$work/log" | sed 's/^/# /'
    failed=1
  fi
}

delivers() { # PROGRAM PLUGIN STORE
  "$1" "$2" "$work/$3" >"$work/log" 2>&1 && grep -qx -- '- The build failed\.' "$work/log"
}

"$cmake" --install "$build" --prefix "$work/first" >"$work/log" 2>&1
check "it installs" $?
# No installed file may contain the path of the installation.
prefix="$work/second place"
mv "$work/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name libtidings-hostkit.a)")
plugin=$libdir/tidings/tidings.so

for file in bin/hostsim bin/tidings share/man/man1/tidings.1 share/man/man1/tidings-run.1 share/man/man1/hostsim.1 \
  share/man/man1/hostsim-sim.1 share/bash-completion/completions/tidings share/bash-completion/completions/hostsim \
  share/zsh/site-functions/_tidings share/fish/vendor_completions.d/tidings.fish \
  share/zsh/site-functions/_hostsim share/fish/vendor_completions.d/hostsim.fish include/tidings/tidings.h include/tidings/hostkit.h share/tidings/schema/event.schema.json; do
  [ -f "$prefix/$file" ]
  check "$file is there" $?
done
touch -d 2000-01-01 "$plugin" # otherwise the installation would not replace it
exec 3<"$plugin" # like a host that has it mapped; the open descriptor keeps its inode from being reused
inode=$(stat -c %i "$plugin")
"$cmake" --install "$build" --prefix "$prefix" >"$work/log" 2>&1 && [ "$(stat -c %i "$plugin")" != "$inode" ]
check "installing again puts a new file in the plugin's place, so that who has the old one mapped keeps it" $?

unset TIDINGS_HOSTKIT_PROBE # the installed one must be found
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
[ "$(pkg-config --modversion tidings-hostkit)" = "$version" ]
check "pkg-config knows the version, which stands in one place" $?
# Blanks in the prefix come escaped, as a shell wants them.
eval "$cc \"$source/docs/examples/host.c\" -o \"$work/by_pkgconfig\" $(pkg-config --cflags --libs tidings-hostkit)" >"$work/log" 2>&1
check "the example host builds by pkg-config" $?
eval "plugin_by_pkgconfig=$(pkg-config --variable=plugin tidings-hostkit)"
delivers "$work/by_pkgconfig" "$plugin_by_pkgconfig" store1
check "and delivers" $?

mkdir "$work/project"
cp "$source/docs/examples/host.c" "$source/docs/examples/host_bare.c" "$work/project"
cat >"$work/project/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(tidings REQUIRED)
add_executable(shared host.c)
target_link_libraries(shared PRIVATE tidings::hostkit)
add_executable(static host.c)
target_link_libraries(static PRIVATE tidings::hostkit_static)
add_executable(bare host_bare.c)
target_link_libraries(bare PRIVATE tidings::abi ${CMAKE_DL_LIBS})
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/plugin" CONTENT "${tidings_PLUGIN}")
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/probe" CONTENT "${tidings_PROBE}")
TEXT
{ "$cmake" -G Ninja -S "$work/project" -B "$work/project/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc" &&
  "$cmake" --build "$work/project/build"; } >"$work/log" 2>&1
check "the example hosts build by find_package" $?
for program in shared static bare; do
  unset LD_LIBRARY_PATH TIDINGS_HOSTKIT_PROBE
  case $program in
    shared) export LD_LIBRARY_PATH=$libdir ;;
    static) TIDINGS_HOSTKIT_PROBE=$(cat "$work/project/build/probe") && export TIDINGS_HOSTKIT_PROBE ;;
  esac
  delivers "$work/project/build/$program" "$(cat "$work/project/build/plugin")" "store_$program"
  check "and the $program one delivers" $?
done

"$prefix/bin/hostsim" --help >"$work/log" 2>&1
check "the installed hostsim starts" $?
(
  unset LD_LIBRARY_PATH TIDINGS_PLUGIN
  export XDG_STATE_HOME="$work/state" HOME="$work"
  "$prefix/bin/tidings" push -s s --create hello && "$prefix/bin/tidings" pending -s s | grep -qx '    hello'
) >"$work/log" 2>&1
check "the installed tidings finds the installed plugin" $?
echo "1..$count"
exit $failed
