# For the toolchain files of musl: the compilers. C++ (one file, cli/toml.cc) is compiled with the libstdc++ that was made for glibc, of which only
# parts that need no more of the C library than C has are used: libstdcxx.h and libstdcxx.c here are what is between them.
set(musl_specs "/usr/lib/${TIDINGS_MUSL_MACHINE}-linux-musl/musl-gcc.specs")
include("${CMAKE_CURRENT_LIST_DIR}/../cxx_headers.cmake")
tidings_cxx_headers(${TIDINGS_MUSL_MACHINE} musl_cxx_headers)
set(CMAKE_C_COMPILER "${TIDINGS_MUSL_MACHINE}-linux-gnu-gcc;-specs=${musl_specs}")
set(CMAKE_CXX_COMPILER "${TIDINGS_MUSL_MACHINE}-linux-gnu-g++;-specs=${musl_specs};${musl_cxx_headers};-include${CMAKE_CURRENT_LIST_DIR}/libstdcxx.h")
set(CMAKE_LIBRARY_ARCHITECTURE "${TIDINGS_MUSL_MACHINE}-linux-musl")
set(TIDINGS_LIBSTDCXX_SOURCES "${CMAKE_CURRENT_LIST_DIR}/../libstdcxx.c")
# The specs leave this out, and then no exception finds the function that catches it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--eh-frame-hdr")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--eh-frame-hdr")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--eh-frame-hdr")
