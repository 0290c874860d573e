# The sources that decide a result, hashed anew by the build whenever one of them changes, appears or goes.
set(result_sources model kernels experiments/point experiments/report experiments/store)
set(globs "")
foreach(folder IN LISTS result_sources)
  list(APPEND globs ${PROJECT_SOURCE_DIR}/${folder}/*.cpp ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
endforeach()
file(GLOB_RECURSE result_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${globs})
list(SORT result_sources)

set(source_list ${CMAKE_CURRENT_BINARY_DIR}/result_sources.txt)
set(source_hash ${CMAKE_CURRENT_BINARY_DIR}/generated/warpscope_source_hash.hpp)
list(JOIN result_sources "\n" result_source_lines)
file(CONFIGURE OUTPUT ${source_list} CONTENT "${result_source_lines}\n" @ONLY)
list(TRANSFORM result_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE result_source_paths)

add_custom_command(OUTPUT ${source_hash}
  COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D LIST=${source_list} -D HEADER=${source_hash}
    -P ${CMAKE_CURRENT_LIST_DIR}/source_hash.cmake
  DEPENDS ${result_source_paths} ${source_list} ${CMAKE_CURRENT_LIST_DIR}/source_hash.cmake
  COMMENT "Hashing the sources of the model"
  VERBATIM)
target_sources(warpscope_experiments PRIVATE ${source_hash})
set_source_files_properties(store/model_version.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${CMAKE_CURRENT_BINARY_DIR}/generated)
