# Linux on x86-64 with musl, compiled by Debian's gcc with its package musl-tools. Programs run where /lib/ld-musl-x86_64.so.1 is.
# -DCMAKE_PREFIX_PATH=DIR names where LMDB and jansson for musl are: cmake/toolchains/libraries.sh puts them there.
set(TIDINGS_MUSL_MACHINE x86_64)
include("${CMAKE_CURRENT_LIST_DIR}/musl/musl.cmake")
