# Linux on arm64 with glibc, compiled on another machine by Debian's gcc-aarch64-linux-gnu.
# -DCMAKE_PREFIX_PATH=DIR names where the libraries for arm64 are; without it they are looked for where Debian's packages of that architecture are.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# It runs the programs that print their own man pages. Without it these come from a build for this machine: TIDINGS_HOST_BUILD.
find_program(TIDINGS_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(TIDINGS_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${TIDINGS_QEMU};-L;/usr/aarch64-linux-gnu")
endif()
