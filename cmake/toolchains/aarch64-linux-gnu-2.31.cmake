# Linux on aarch64 with glibc 2.31 or newer: what the packages for npm need.
set(TIDINGS_OLD_LIBC_MACHINE aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/old-libc/old-libc.cmake")
