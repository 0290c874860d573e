# Writes a header with a hash over the names and contents of source files, and leaves it alone if it is right already, so
# that nothing is compiled again for it. cmake -D ROOT=... -D LIST=file with one path a line -D HEADER=... -P this
file(STRINGS "${LIST}" files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 "${ROOT}/${file}" hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${HEADER}" CONTENT "#define WARPSCOPE_SOURCE_HASH \"${hash}\"\n")
