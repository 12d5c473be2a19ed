# tidings_cxx_headers(MACHINE OUTPUT): the options by which the compiler for glibc finds its own C++ headers when it is given another C library.
# Debian keeps them elsewhere in its compilers for other machines.
function(tidings_cxx_headers machine output)
  execute_process(COMMAND "${machine}-linux-gnu-g++" -dumpversion OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(common "/usr/${machine}-linux-gnu/include/c++/${version}")
  set(own "${common}/${machine}-linux-gnu")
  if(NOT EXISTS "${common}")
    set(common "/usr/include/c++/${version}")
    set(own "/usr/include/${machine}-linux-gnu/c++/${version}")
  endif()
  set(${output} "-nostdinc++;-isystem${common};-isystem${own}" PARENT_SCOPE)
endfunction()
