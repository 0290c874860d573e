// The files that a page is made of, as the build has embedded them; see page.cmake.
#pragma once

#include <string_view>

namespace warpscope::experiments::page_files {

extern const std::string_view page_html;       ///< the template, with {{places}} to fill
extern const std::string_view page_css;        ///< its style
extern const std::string_view page_js;         ///< charts/*.js
extern const std::string_view d3_js;           ///< the library that draws; its first line names its version
extern const std::string_view d3_licence_txt;  ///< under which it may be passed on

}  // namespace warpscope::experiments::page_files
