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

# Makes a library that has only the names that we use: a program is linked to it, and runs with the library of the system on which it is started. The
# linker refuses a program that uses another name.
names_of() { # LIBRARY SOVERSION VERSION NAME…
  local library=$1 soversion=$2 version=$3 name
  shift 3
  mkdir "$build/$library"
  for name in "$@"; do printf 'void %s(void);\nvoid %s(void) {}\n' "$name" "$name"; done >"$build/$library/names.c"
  cat >"$build/$library/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project($library C)
add_library($library SHARED names.c)
set_target_properties($library PROPERTIES VERSION $soversion SOVERSION $soversion)
install(TARGETS $library)
TEXT
  cmake -S "$build/$library" -B "$build/$library.out" "${common[@]}" ${chain[@]+"${chain[@]}"}
  cmake --build "$build/$library.out"
  cmake --install "$build/$library.out"
  printf 'Name: %s\nDescription: the names of %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' "$library" "$library" "$version" "$prefix" \
    "$library" "$prefix" >"$prefix/lib/pkgconfig/$library.pc"
}

# tidings-top. The names are the same in all builds of version 6.
if [ -e /usr/include/curses.h ]; then
  cp /usr/include/{curses,ncurses_dll,term,unctrl}.h "$prefix/include/"
  names_of ncursesw 6 6 cbreak clearok curs_set define_key del_curterm delscreen delwin endwin has_colors init_pair keypad newterm newwin nodelay noecho \
    nonl putp resizeterm set_curterm set_escdelay setupterm start_color tigetstr use_default_colors waddnstr wattr_set werase wget_wch wmove wrefresh wresize
fi

# tidings-postgres.so. Its headers are the same for all 64-bit machines.
if [ -e /usr/include/postgresql/libpq-fe.h ]; then
  cp /usr/include/postgresql/{libpq-fe,postgres_ext,pg_config_ext}.h "$prefix/include/"
  names_of pq 5 15 PQbackendPID PQclear PQcmdStatus PQcmdTuples PQconnectPoll PQconnectStartParams PQconnectdbParams PQconnectionNeedsPassword \
    PQconninfoFree PQconninfoParse PQconsumeInput PQenterPipelineMode PQerrorMessage PQexec PQexecParams PQfinish PQflush PQfreemem PQgetResult \
    PQgetisnull PQgetlength PQgetvalue PQisBusy PQnfields PQnotifies PQntuples PQpipelineSync PQputCopyData PQputCopyEnd PQresultErrorField \
    PQresultStatus PQsendPrepare PQsendQueryParams PQsendQueryPrepared PQserverVersion PQsetErrorVerbosity PQsetNoticeReceiver PQsetSingleRowMode \
    PQsetnonblocking PQsocket PQstatus PQtransactionStatus
  mv "$prefix/lib/pkgconfig/pq.pc" "$prefix/lib/pkgconfig/libpq.pc"
fi
rm -rf "$build"
