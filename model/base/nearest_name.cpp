#include "model/base/nearest_name.hpp"

#include <array>
#include <numeric>

namespace warpscope::base {
namespace {

constexpr std::size_t kMostCompared = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

// The distance of Damerau and Levenshtein without edits inside a swapped pair, three rows of the table at a
// time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMostCompared);
  b = b.substr(0, kMostCompared);
  using Row = std::array<std::size_t, kMostCompared + 1>;
  Row before{};
  Row last{};
  Row row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = last[j] + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && lower(a[i]) == lower(b[j - 1]) && lower(a[i - 1]) == lower(b[j])) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
  }
  return row[b.size()];
}

}  // namespace warpscope::base
