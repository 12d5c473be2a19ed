# Writes OUT, a header with the text of IN as the array schema_sql. Run by cmake -P.
file(READ "${IN}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUT}" "static const char schema_sql[] = {\n${bytes}0};\n")
