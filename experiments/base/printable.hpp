// Text of users in messages and reports.
#pragma once

#include <string>
#include <string_view>

namespace warpscope::experiments {

/// `text` with control characters other than line ends made visible (\\x1b): what a terminal would obey stays
/// text. Nothing else is changed.
std::string without_controls(std::string_view text);
/// True for text that JSON can hold.
bool is_utf8(std::string_view text);
/// `text` in single quotes, control characters made visible, cut to a readable length.
std::string in_quotes(std::string_view text);
/// `text` without spaces, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);
/// `text` with its line ends turned into "; ", for a cell of a table.
std::string one_line(std::string_view text);

}  // namespace warpscope::experiments
