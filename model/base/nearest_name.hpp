// Which of the legal names a misspelt one probably meant.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string_view>

namespace warpscope::base {

/// Number of single edits that turn `a` into `b`, letter case ignored; two neighbours that are swapped are
/// one. Of both only the first 64 characters count, so that the time is bounded whatever a user writes.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name of that row of `table` with the smallest edit distance to `name`; of several, the first.
template <std::ranges::forward_range Table, typename NameOf>
std::string_view nearest_name(std::string_view name, const Table& table, NameOf name_of) {
  const auto distance = [&](const auto& row) { return edit_distance(name, std::invoke(name_of, row)); };
  return std::invoke(name_of, *std::ranges::min_element(table, {}, distance));
}

}  // namespace warpscope::base
