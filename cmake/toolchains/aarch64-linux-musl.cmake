# Linux on arm64 with musl, compiled on another machine by Debian's gcc-aarch64-linux-gnu and its package musl-dev:arm64. Debian has no
# musl-gcc.specs for other machines: that of x86_64 with the other name in its paths does (packaging/system.sh).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TIDINGS_MUSL_MACHINE aarch64)
include("${CMAKE_CURRENT_LIST_DIR}/musl/musl.cmake")
# Otherwise libgcc asks glibc which atomic instructions there are.
list(APPEND CMAKE_C_COMPILER -mno-outline-atomics)
find_program(TIDINGS_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(TIDINGS_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${TIDINGS_QEMU}")
endif()
