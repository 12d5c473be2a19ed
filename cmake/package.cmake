# `cmake --install` also installs units of systemd, and a pkg-config file and a CMake package for programs that are built against the library. Both
# find their prefix by their own place.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tidings")
file(RELATIVE_PATH TIDINGS_PC_TO_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" TIDINGS_PC_TO_PREFIX "${TIDINGS_PC_TO_PREFIX}")

configure_file("${CMAKE_CURRENT_LIST_DIR}/tidings-hostkit.pc.in" "${CMAKE_BINARY_DIR}/tidings-hostkit.pc" @ONLY)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/tidings-config.cmake.in" "${CMAKE_BINARY_DIR}/tidings-config.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_LIBEXECDIR)
# Before 1.0 a minor may break hostkit's users.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/tidings-config-version.cmake" COMPATIBILITY SameMinorVersion)

install(FILES "${CMAKE_BINARY_DIR}/tidings-hostkit.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${CMAKE_BINARY_DIR}/tidings-config.cmake" "${CMAKE_BINARY_DIR}/tidings-config-version.cmake" DESTINATION "${package_dir}")
install(DIRECTORY abi/schema DESTINATION "${CMAKE_INSTALL_DATADIR}/tidings")
install(FILES LICENSE README.md abi/STABILITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "packaging/systemd/tidings-failed@.service" DESTINATION "${CMAKE_INSTALL_DATADIR}/systemd/user")
