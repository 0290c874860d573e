// Values of users in messages of one line.
#pragma once

#include <string>
#include <string_view>

namespace warpscope::experiments {

/// `text` in single quotes, control characters made visible, cut to a readable length.
std::string in_quotes(std::string_view text);
/// `text` without spaces, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);
/// `text` with its line ends turned into "; ", for a cell of a table.
std::string one_line(std::string_view text);

}  // namespace warpscope::experiments
