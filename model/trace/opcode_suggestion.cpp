#include "model/trace/opcode_suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/trace/opcode.hpp"

namespace warpscope::trace {
namespace {

constexpr std::size_t kLongestCompared = 32;  // longer than any opcode name by far

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Levenshtein distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_opcode_name(std::string_view name) {
  const std::string_view compared = name.substr(0, kLongestCompared);
  return std::ranges::min_element(all_opcodes(), {},
                                  [&](const OpcodeInfo& row) { return edit_distance(compared, row.name); })
      ->name;
}

}  // namespace warpscope::trace
