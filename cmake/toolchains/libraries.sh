#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# libraries.sh TOOLCHAIN SOURCES PREFIX: builds LMDB and jansson with a toolchain file of this folder ("": for this machine) and puts them
# into PREFIX, which CMAKE_PREFIX_PATH then names. SOURCES has the folders lmdb and jansson, as `apt-get source` unpacks
# them. LMDB is there as a shared library and as an archive that shared objects can take in; jansson is such an archive.
set -euo pipefail
toolchain=$1 sources=$(cd "$2" && pwd -P) prefix=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
build="$prefix/build"
rm -rf "$build"
mkdir -p "$prefix/include" "$prefix/lib" "$build/lmdb"
prefix=$(cd "$prefix" && pwd -P)
chain=()
[ -z "$toolchain" ] || chain=(--toolchain "$here/$toolchain.cmake")

common=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -Wno-dev)

# Its own Makefile knows no cross compiler; it is two files.
cat >"$build/lmdb/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(lmdb C)
find_package(Threads REQUIRED)
foreach(kind SHARED STATIC)
  add_library(lmdb_${kind} ${kind} "${LMDB_SOURCE}/mdb.c" "${LMDB_SOURCE}/midl.c")
  set_target_properties(lmdb_${kind} PROPERTIES OUTPUT_NAME lmdb)
  target_link_libraries(lmdb_${kind} PRIVATE Threads::Threads)
  install(TARGETS lmdb_${kind})
endforeach()
install(FILES "${LMDB_SOURCE}/lmdb.h" TYPE INCLUDE)
TEXT
cmake -S "$build/lmdb" -B "$build/lmdb.out" "${common[@]}" ${chain[@]+"${chain[@]}"} -DLMDB_SOURCE="$sources/lmdb/libraries/liblmdb"
cmake --build "$build/lmdb.out"
cmake --install "$build/lmdb.out"

# An archive hides no names, and we have a utf8_encode too.
cmake -S "$sources/jansson" -B "$build/jansson.out" "${common[@]}" ${chain[@]+"${chain[@]}"} -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF \
  -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_BUILD_SHARED_LIBS=OFF -DCMAKE_C_FLAGS=-Dutf8_encode=jansson_utf8_encode
cmake --build "$build/jansson.out"
cmake --install "$build/jansson.out"

# If ncurses' headers are here, this makes a library that has only the names of version 6, which are the same in all its builds: tidings-top is
# linked to it, and runs with the library of the system on which it is started.
if [ -e /usr/include/curses.h ]; then
  cp /usr/include/{curses,ncurses_dll,term,unctrl}.h "$prefix/include/"
  mkdir "$build/ncurses"
  for name in cbreak clearok curs_set define_key del_curterm delscreen delwin endwin has_colors init_pair keypad newterm newwin nodelay noecho nonl \
    putp resizeterm set_curterm set_escdelay setupterm start_color tigetstr use_default_colors waddnstr wattr_set werase wget_wch wmove wrefresh wresize; do
    printf 'void %s(void);\nvoid %s(void) {}\n' "$name" "$name"
  done >"$build/ncurses/names.c"
  cat >"$build/ncurses/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(ncurses C)
add_library(ncursesw SHARED names.c)
set_target_properties(ncursesw PROPERTIES VERSION 6 SOVERSION 6)
install(TARGETS ncursesw)
TEXT
  cmake -S "$build/ncurses" -B "$build/ncurses.out" "${common[@]}" ${chain[@]+"${chain[@]}"}
  cmake --build "$build/ncurses.out"
  cmake --install "$build/ncurses.out"
  printf 'Name: ncursesw\nDescription: the names of ncurses\nVersion: 6\nLibs: -L%s/lib -lncursesw\nCflags: -I%s/include\n' "$prefix" "$prefix" \
    >"$prefix/lib/pkgconfig/ncursesw.pc"
fi
rm -rf "$build"
