// What the words on a page mean.
#pragma once

#include <string>
#include <string_view>

namespace warpscope::experiments {

/// One or two sentences about a stall reason, a pipe or a unit; empty where there is nothing to say.
std::string glossary_entry(std::string_view word);

}  // namespace warpscope::experiments
