# jansson has a pkg-config file; Debian's lmdb has one too, elsewhere it may not.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson>=2.10)
add_library(tidings::jansson ALIAS PkgConfig::jansson)

find_path(LMDB_INCLUDE_DIR lmdb.h REQUIRED)
find_library(LMDB_LIBRARY lmdb REQUIRED)
add_library(tidings_lmdb INTERFACE)
target_include_directories(tidings_lmdb SYSTEM INTERFACE "${LMDB_INCLUDE_DIR}")
target_link_libraries(tidings_lmdb INTERFACE "${LMDB_LIBRARY}")
add_library(tidings::lmdb ALIAS tidings_lmdb)

# Headers only; what Debian's package has as a library is not used.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(tidings_tomlplusplus INTERFACE)
target_include_directories(tidings_tomlplusplus SYSTEM INTERFACE "${TOMLPLUSPLUS_INCLUDE_DIR}")
add_library(tidings::tomlplusplus ALIAS tidings_tomlplusplus)
