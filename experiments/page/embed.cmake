# Writes OUTPUT, C++ with the texts of PARTS, of SCRIPTS one behind the other, and of LIBRARY.
function(add_text name text)
  string(FIND "${text}" ")page_text\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${name} holds the end of a C++ string")
  endif()
  set(definitions "${definitions}\nconst std::string_view ${name} = R\"page_text(${text})page_text\";\n" PARENT_SCOPE)
endfunction()

set(definitions "")
foreach(file IN LISTS PARTS)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  file(READ ${file} text)
  add_text(${name} "${text}")
endforeach()
set(script "")
foreach(file IN LISTS SCRIPTS)
  file(READ ${file} text)
  string(APPEND script "${text}")
endforeach()
add_text(page_js "${script}")
file(READ ${LIBRARY} text)
add_text(d3_js "${text}")

file(WRITE ${OUTPUT} "#include \"experiments/page/page_files.hpp\"

namespace warpscope::experiments::page_files {
${definitions}
}  // namespace warpscope::experiments::page_files
")
