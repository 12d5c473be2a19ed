# Writes OUT with a build id: a hash over the sources in DIR and over FLAGS, so that the same sources give the same id and a rebuilt plugin tells itself
# from the one before. Run by cmake -P.
file(GLOB_RECURSE sources "${DIR}/*.c" "${DIR}/*.h")
list(SORT sources)
set(all "${FLAGS}")
foreach(source IN LISTS sources)
  file(SHA256 "${source}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING "${id}" 0 16 id)
file(WRITE "${OUT}" "#define TIDINGS_BUILD_ID \"${id}\"\n")
