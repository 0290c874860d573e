// Which opcode a misspelt name probably meant.
#pragma once

#include <string_view>

namespace warpscope::trace {

/// The opcode name with the smallest edit distance to `name`, letter case ignored.
std::string_view nearest_opcode_name(std::string_view name);

}  // namespace warpscope::trace
