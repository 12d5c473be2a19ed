# For scripts that write texts into C sources. A literal compiles many times faster than a list of bytes.
# c_definition(RET NAME TEXT): `RET` becomes the definition of the array NAME (`static const char sql`), which ends with a NUL.
function(c_definition ret name text)
  foreach(character IN ITEMS "\\" "\"" "?") # two question marks begin a trigraph
    string(REPLACE "${character}" "\\${character}" text "${text}")
  endforeach()
  if(text MATCHES "[^ -~\t\r\n]") # compilers refuse some characters, as those that change the direction of writing
    foreach(byte RANGE 128 244)
      string(ASCII ${byte} character)
      math(EXPR high "${byte} / 64")
      math(EXPR middle "${byte} / 8 % 8")
      math(EXPR low "${byte} % 8")
      string(REPLACE "${character}" "\\${high}${middle}${low}" text "${text}")
    endforeach()
  endif()
  string(REPLACE "\r" "\\r" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  set(${ret} "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n${name}[] =\n\"${text}\";\n#pragma GCC diagnostic pop\n" PARENT_SCOPE)
endfunction()
