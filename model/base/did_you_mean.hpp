// The part of a message about an unknown name that says which one was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpscope::base {

/// The names that `name` is the beginning of, letter case and all but letters and digits ignored; the one
/// name that it then equals, if there is one. Where there are none, the nearest, if at most a third of `name`
/// has to be edited. May be empty.
std::vector<std::string> names_meant(std::string_view name, std::span<const std::string> names);

/// "did you mean --seqlen or --seqlen-k? ", or an empty text.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace warpscope::base
