# For the toolchain files of musl: the compilers. C++ (one file, cli/toml.cc) is compiled with the libstdc++ that was made for glibc, of which only
# parts that need no more of the C library than C has are used: libstdcxx.h and libstdcxx.c here are what is between them.
set(musl_specs "/usr/lib/${TIDINGS_MUSL_MACHINE}-linux-musl/musl-gcc.specs")
set(musl_cxx "${TIDINGS_MUSL_MACHINE}-linux-gnu-g++")
execute_process(COMMAND ${musl_cxx} -dumpversion OUTPUT_VARIABLE musl_cxx_version OUTPUT_STRIP_TRAILING_WHITESPACE)
set(musl_cxx_headers "/usr/include/c++/${musl_cxx_version}")
set(CMAKE_C_COMPILER "${TIDINGS_MUSL_MACHINE}-linux-gnu-gcc;-specs=${musl_specs}")
set(CMAKE_CXX_COMPILER "${musl_cxx};-specs=${musl_specs};-nostdinc++;-isystem${musl_cxx_headers};-isystem/usr/include/${TIDINGS_MUSL_MACHINE}-linux-gnu/c++/${musl_cxx_version};-include${CMAKE_CURRENT_LIST_DIR}/libstdcxx.h")
set(CMAKE_LIBRARY_ARCHITECTURE "${TIDINGS_MUSL_MACHINE}-linux-musl")
set(TIDINGS_LIBSTDCXX_SOURCES "${CMAKE_CURRENT_LIST_DIR}/libstdcxx.c")
