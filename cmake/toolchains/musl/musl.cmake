# For the toolchain files of musl: the compiler.
set(musl_specs "/usr/lib/${TIDINGS_MUSL_MACHINE}-linux-musl/musl-gcc.specs")
set(CMAKE_C_COMPILER "${TIDINGS_MUSL_MACHINE}-linux-gnu-gcc;-specs=${musl_specs}")
set(CMAKE_LIBRARY_ARCHITECTURE "${TIDINGS_MUSL_MACHINE}-linux-musl")
