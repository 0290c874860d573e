#include "kernels/page_table.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

namespace warpscope::kernels {

std::int64_t pages_per_sequence(const Problem& problem) {
  return (problem.seqlen_k + problem.page_size - 1) / problem.page_size;
}

std::vector<float> page_table(const Problem& problem) {
  const std::int64_t pages = pages_per_sequence(problem);
  const bool last_is_full = problem.seqlen_k % problem.page_size == 0;
  const auto is_full = [&](std::size_t number) {
    return last_is_full || static_cast<std::int64_t>(number) % pages != pages - 1;
  };
  std::vector<float> table(static_cast<std::size_t>(problem.batch * pages));
  std::iota(table.begin(), table.end(), 0.0F);
  std::uint32_t state = 1;  // Numerical Recipes' generator, as of random_values()
  for (std::size_t i = table.size(); i-- > 1;) {
    state = state * 1664525U + 1013904223U;
    const std::size_t other = (state >> 8U) % (i + 1);
    if (is_full(i) == is_full(other)) {
      std::swap(table[i], table[other]);
    }
  }
  return table;
}

}  // namespace warpscope::kernels
