// The part of a message about an unknown name that says which one was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::base {

/// What counts of a name: letters, in lower case, and digits.
std::string letters_and_digits(std::string_view text);

/// The names that `name` is the beginning of, as far as letters_and_digits() go; the one
/// name that it then equals, if there is one. Where there are none, the nearest, if at most a third of `name`
/// has to be edited. May be empty.
std::vector<std::string> names_meant(std::string_view name, std::span<const std::string> names);

/// "did you mean --seqlen or --seqlen-k? ", or an empty text.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace warpscope::base
