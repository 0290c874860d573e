// Sentences for the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// What all reports and help texts fit into.
inline constexpr std::size_t kTerminalColumns = 80;

/// `text` as lines of at most `columns`, broken between words; a longer word has a line of its own. The first
/// line begins with `first`, all others with as many blanks; line ends in `text` stay. Ends with a line end.
std::string wrapped(std::string_view text, std::string_view first = "",
                    std::size_t columns = kTerminalColumns);

/// `page` with its lines that are longer than `columns` broken between words, what goes on indented two
/// columns more than it began; all others as they are.
std::string fitted(std::string_view page, std::size_t columns = kTerminalColumns);

}  // namespace warpscope::experiments
