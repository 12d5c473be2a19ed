# A module that a host has loaded may be built anew under its feet, and a watcher may load it the moment it appears. So a module is linked
# under another name and renamed: its path always holds one whole build, and the old one stays intact for who has it mapped. (ld alone
# unlinks and writes anew: no mapping breaks, but for a moment half a file is there.)
set(CMAKE_C_CREATE_SHARED_MODULE
  "<CMAKE_C_COMPILER> <CMAKE_SHARED_MODULE_C_FLAGS> <LANGUAGE_COMPILE_FLAGS> <LINK_FLAGS> <CMAKE_SHARED_MODULE_CREATE_C_FLAGS> -o <TARGET>.new <OBJECTS> <LINK_LIBRARIES>"
  "\"${CMAKE_COMMAND}\" -E rename <TARGET>.new <TARGET>")
