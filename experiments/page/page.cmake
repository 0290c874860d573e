# What a page is made of, embedded in the program, so that an installed program needs no file: the page's own
# template, style and scripts, and D3, the library that draws (BSD 3-clause, package node-d3).
find_file(WARPSCOPE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH)
if(NOT WARPSCOPE_D3)
  message(FATAL_ERROR "d3.min.js is missing; install the Debian package node-d3, or set WARPSCOPE_D3 to the file")
endif()

set(page_folder ${CMAKE_CURRENT_LIST_DIR})
set(page_parts page.html page.css d3-licence.txt)
# In this order they become one script.
set(page_scripts format text figure table bars intervals waterfall roofline lanes lines choices main)
list(TRANSFORM page_scripts REPLACE "(.+)" "${page_folder}/charts/\\1.js")
list(TRANSFORM page_parts PREPEND ${page_folder}/)

set(page_files ${CMAKE_CURRENT_BINARY_DIR}/generated/page_files.cpp)
add_custom_command(OUTPUT ${page_files}
  COMMAND ${CMAKE_COMMAND} -D "PARTS=${page_parts}" -D "SCRIPTS=${page_scripts}" -D LIBRARY=${WARPSCOPE_D3}
    -D OUTPUT=${page_files} -P ${page_folder}/embed.cmake
  DEPENDS ${page_parts} ${page_scripts} ${WARPSCOPE_D3} ${page_folder}/embed.cmake
  COMMENT "Embedding the page"
  VERBATIM)
# D3 is one string, four times as long as compilers must take; ours take it.
set_source_files_properties(${page_files} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
target_sources(warpscope_experiments PRIVATE ${page_files})
