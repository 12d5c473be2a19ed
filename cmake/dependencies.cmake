# jansson has a pkg-config file; Debian's lmdb has one too, elsewhere it may not.
# With TIDINGS_LINK_IN both are taken into what is built, where their archives are there: then it needs no more than the C library.
# LMDB is taken in in any case, unless TIDINGS_LINK_IN_LMDB is off: only a linked-in LMDB commits with one flush of the disk.
option(TIDINGS_LINK_IN "Link LMDB and jansson in, where there are archives of them" OFF)
option(TIDINGS_LINK_IN_LMDB "Link LMDB in, where there is an archive of it" ON)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson>=2.10)
add_library(tidings_jansson INTERFACE)
target_include_directories(tidings_jansson SYSTEM INTERFACE ${jansson_INCLUDE_DIRS})
target_link_libraries(tidings_jansson INTERFACE PkgConfig::jansson)
add_library(tidings::jansson ALIAS tidings_jansson)
if(TIDINGS_LINK_IN)
  find_library(JANSSON_ARCHIVE libjansson.a HINTS ${jansson_LIBRARY_DIRS})
endif()
if(TIDINGS_LINK_IN OR TIDINGS_LINK_IN_LMDB)
  find_library(LMDB_ARCHIVE liblmdb.a)
endif()

# tidings_rename_in(ARCHIVE OUTPUT SYMBOL=NEW…): a copy in which these symbols have other names.
function(tidings_rename_in archive output)
  list(TRANSFORM ARGN PREPEND "--redefine-sym=")
  execute_process(COMMAND "${CMAKE_OBJCOPY}" ${ARGN} "${archive}" "${output}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
if(TIDINGS_LINK_IN AND JANSSON_ARCHIVE)
  # An archive hides no names, and we have a utf8_encode too.
  tidings_rename_in("${JANSSON_ARCHIVE}" "${CMAKE_BINARY_DIR}/libjansson-linked-in.a" utf8_encode=jansson_utf8_encode)
  set_property(TARGET tidings_jansson PROPERTY INTERFACE_LINK_LIBRARIES "${CMAKE_BINARY_DIR}/libjansson-linked-in.a")
endif()

find_path(LMDB_INCLUDE_DIR lmdb.h REQUIRED)
add_library(tidings_lmdb INTERFACE)
target_include_directories(tidings_lmdb SYSTEM INTERFACE "${LMDB_INCLUDE_DIR}")
if((TIDINGS_LINK_IN OR TIDINGS_LINK_IN_LMDB) AND LMDB_ARCHIVE)
  # The calls by which it writes go through linked_in/lmdb_writes.c, so that the plugin sees a commit's writes.
  tidings_rename_in("${LMDB_ARCHIVE}" "${CMAKE_BINARY_DIR}/liblmdb-linked-in.a" stderr=tidings_lmdb_stderr pwrite=tidings_lmdb_pwrite
    writev=tidings_lmdb_writev pwritev=tidings_lmdb_pwritev fdatasync=tidings_lmdb_fdatasync)
  add_library(tidings_lmdb_calls STATIC "${CMAKE_CURRENT_LIST_DIR}/linked_in/lmdb_stderr.c" "${CMAKE_CURRENT_LIST_DIR}/linked_in/lmdb_writes.c")
  set_target_properties(tidings_lmdb_calls PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(tidings_lmdb_calls PRIVATE tidings_compile)
  target_include_directories(tidings_lmdb INTERFACE "${CMAKE_CURRENT_LIST_DIR}/linked_in")
  target_compile_definitions(tidings_lmdb INTERFACE TIDINGS_LMDB_LINKED_IN)
  target_link_libraries(tidings_lmdb INTERFACE "${CMAKE_BINARY_DIR}/liblmdb-linked-in.a" tidings_lmdb_calls)
else()
  find_library(LMDB_LIBRARY lmdb REQUIRED)
  target_link_libraries(tidings_lmdb INTERFACE "${LMDB_LIBRARY}")
endif()
add_library(tidings::lmdb ALIAS tidings_lmdb)

# The HTTP server of tidings-listen; without it that program is not built.
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd>=0.9.75)
# The HTTP client of tidings-subscribe; the same.
pkg_check_modules(curl IMPORTED_TARGET libcurl>=7.87)
# The full screen of tidings-top; the same.
pkg_check_modules(ncursesw IMPORTED_TARGET ncursesw)
