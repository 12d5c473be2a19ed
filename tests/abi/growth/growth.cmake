# Tests hosts and plugins of different minor versions with each other. For each released version, tests/abi/old has its frozen headers, from which a
# host, a host with hostkit and a plugin are built. An invented later version consists of today's sources with the headers of future.py.
set(growth "${CMAKE_CURRENT_SOURCE_DIR}/growth")
set(old "${CMAKE_CURRENT_SOURCE_DIR}/old/1.0")
set(second "${CMAKE_CURRENT_SOURCE_DIR}/old/1.1")
set(future "${CMAKE_CURRENT_BINARY_DIR}/future")
tidings_command_test(abi_frozen COMMAND "${growth}/frozen.sh" "${PROJECT_SOURCE_DIR}")

# The structs end at a page that cannot be read. This finds the same errors as a sanitizer, so there is no sanitized build of these tests.
if(TIDINGS_SANITIZE)
  return()
endif()

# -- the later headers --
file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/abi/tidings/*.h" "${PROJECT_SOURCE_DIR}/hostkit/include/tidings/*.h")
list(TRANSFORM headers REPLACE ".*/" "${future}/tidings/" OUTPUT_VARIABLE future_headers)
add_custom_command(OUTPUT ${future_headers}
  COMMAND ${TIDINGS_PYTHON} "${growth}/future.py" "${future}/tidings" ${headers}
  DEPENDS ${headers} "${growth}/future.py" COMMENT "inventing the headers of a later minor version" VERBATIM)
add_custom_target(tidings_future_headers DEPENDS ${future_headers})

# growth_target(NAME INCLUDE): compiles NAME with the headers in INCLUDE.
function(growth_target name include)
  set_target_properties(${name} PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests"
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} BEFORE PRIVATE "${include}" "${growth}")
  target_link_libraries(${name} PRIVATE tidings_compile ${CMAKE_DL_LIBS} Threads::Threads)
  target_compile_options(${name} PRIVATE -O0) # without optimization, because all sources are compiled two more times
  add_dependencies(${name} tidings_future_headers)
endfunction()

# -- the later plugin and hostkit: the sources of today --
get_target_property(plugin_sources tidings_plugin_objects SOURCES)
get_target_property(plugin_definitions tidings_plugin_objects COMPILE_DEFINITIONS)
get_target_property(common_sources tidings_common SOURCES)
get_target_property(hostkit_sources tidings_hostkit_objects SOURCES)
get_target_property(hostkit_definitions tidings_hostkit_objects COMPILE_DEFINITIONS)
list(FILTER plugin_sources EXCLUDE REGEX "build_id\\.h$")
list(TRANSFORM hostkit_sources PREPEND "${PROJECT_SOURCE_DIR}/hostkit/")
get_target_property(plugin_binary_dir tidings_plugin_objects BINARY_DIR)

# These need no debug information, and the ordinary build of the same sources shows their warnings.
set_source_files_properties(${plugin_sources} ${common_sources} ${hostkit_sources} PROPERTIES COMPILE_OPTIONS "-g0;-w")

add_library(growth_future_plugin MODULE ${plugin_sources} ${common_sources})
growth_target(growth_future_plugin "${future}")
target_include_directories(growth_future_plugin PRIVATE "${PROJECT_SOURCE_DIR}/plugin" "${PROJECT_SOURCE_DIR}" "${plugin_binary_dir}/build_id")
target_compile_definitions(growth_future_plugin PRIVATE ${plugin_definitions})
target_link_libraries(growth_future_plugin PRIVATE tidings::lmdb)
target_link_options(growth_future_plugin PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/plugin/exports.map")
add_dependencies(growth_future_plugin tidings_plugin_objects) # its build makes build_id.h

add_library(growth_future_hostkit STATIC ${hostkit_sources} ${common_sources})
growth_target(growth_future_hostkit "${future}")
target_include_directories(growth_future_hostkit PRIVATE "${PROJECT_SOURCE_DIR}/hostkit" "${PROJECT_SOURCE_DIR}")
target_compile_definitions(growth_future_hostkit PRIVATE ${hostkit_definitions})

# -- hosts and plugins -- The code for version 1.0 is compiled with the headers of each version.
foreach(age old second)
  add_library(growth_${age}_plugin MODULE "${old}/plugin.c")
  growth_target(growth_${age}_plugin "${${age}}")
endforeach()
foreach(age old second future)
  add_executable(growth_${age}_host "${old}/host.c")
  growth_target(growth_${age}_host "${${age}}")
endforeach()
# The code for the additions of 1.1.
foreach(age second future)
  add_executable(growth_${age}_host_1_1 "${second}/host.c")
  growth_target(growth_${age}_host_1_1 "${${age}}")
endforeach()
# Hosts of each version with hostkits of each version, because structs pass between these too.
foreach(age old second future)
  foreach(kit today future)
    add_executable(growth_${age}_host_${kit}_kit "${old}/kit_host.c")
    growth_target(growth_${age}_host_${kit}_kit "${${age}}")
  endforeach()
  target_link_libraries(growth_${age}_host_today_kit PRIVATE tidings_hostkit_static)
  target_link_libraries(growth_${age}_host_future_kit PRIVATE growth_future_hostkit)
endforeach()

# growth_test(HOST PLUGIN): runs the host with the plugin.
function(growth_test host plugin)
  string(REPLACE "growth_" "" short "${plugin}")
  string(REPLACE "tidings_plugin" "today_plugin" short "${short}")
  tidings_command_test(abi_${host}_${short} COMMAND "${growth}/run.sh" "$<TARGET_FILE:${host}>" "$<TARGET_FILE:${plugin}>"
    ENVIRONMENT "TIDINGS_HOSTKIT_PROBE=$<TARGET_FILE:tidings_hostkit_probe>")
endfunction()

foreach(age old second future)
  foreach(plugin growth_old_plugin growth_second_plugin tidings_plugin growth_future_plugin)
    growth_test(growth_${age}_host ${plugin})
    growth_test(growth_${age}_host_today_kit ${plugin})
    growth_test(growth_${age}_host_future_kit ${plugin})
  endforeach()
endforeach()
foreach(age second future)
  foreach(plugin tidings_plugin growth_future_plugin)
    growth_test(growth_${age}_host_1_1 ${plugin})
  endforeach()
endforeach()

# The conformance suite is compiled with today's headers: to the later plugin it is an old host that looks at one struct at a time.
tidings_command_test(abi_growth_conformance COMMAND $<TARGET_FILE:hostsim> conformance --plugin $<TARGET_FILE:growth_future_plugin> --filter growth.)
