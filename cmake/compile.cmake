# How everything here is compiled. TIDINGS_SANITIZE is "", "address" (with undefined) or "thread"; TIDINGS_COVERAGE adds gcov.
set(TIDINGS_SANITIZE "" CACHE STRING "Sanitizers: empty, address or thread")
option(TIDINGS_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)
option(TIDINGS_COVERAGE "Instrument for coverage" OFF)
set(TIDINGS_DEBUG_INFO "-g" CACHE STRING "Debug information: -g, or -g1, which has functions and lines alone")

add_library(tidings_compile INTERFACE)
target_compile_features(tidings_compile INTERFACE c_std_17)
target_compile_definitions(tidings_compile INTERFACE _GNU_SOURCE)
target_compile_options(tidings_compile INTERFACE
  ${TIDINGS_DEBUG_INFO} -fvisibility=hidden -fno-common
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wpointer-arith -Wcast-qual -Wcast-align
  -Wwrite-strings -Wundef -Wformat=2 -Wvla -Wimplicit-fallthrough -Wdouble-promotion
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition)
if(TIDINGS_SANITIZE STREQUAL "address")
  target_compile_options(tidings_compile INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tidings_compile INTERFACE -fsanitize=address,undefined)
elseif(TIDINGS_SANITIZE STREQUAL "thread")
  target_compile_options(tidings_compile INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(tidings_compile INTERFACE -fsanitize=thread)
endif()
if(TIDINGS_FUZZ)
  target_compile_options(tidings_compile INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TIDINGS_COVERAGE)
  # Threads share the counts; and processes that end themselves leave theirs too.
  target_compile_options(tidings_compile INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(tidings_compile INTERFACE --coverage)
  add_library(tidings_coverage SHARED "${PROJECT_SOURCE_DIR}/tests/coverage/ending.c")
  target_compile_definitions(tidings_coverage PRIVATE _GNU_SOURCE)
  target_sources(tidings_compile INTERFACE "${PROJECT_SOURCE_DIR}/tests/coverage/dump.c")
  target_link_libraries(tidings_compile INTERFACE tidings_coverage)
endif()
