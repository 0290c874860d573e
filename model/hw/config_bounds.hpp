// What a GPU description may look like before anybody parses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpscope::hw {

inline constexpr std::size_t most_file_bytes = std::size_t{1} << 20;

/// Why the TOML document `text` is nested too deeply for a parser that calls itself for each level, as
/// "file:line: reason"; empty if it is not. Strings and comments count as what they are.
std::optional<std::string> nested_too_deeply(std::string_view text, const std::string& file);

}  // namespace warpscope::hw
