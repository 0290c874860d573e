#include "model/trace/launch.hpp"

namespace warpscope::trace {

std::uint32_t warps_per_cta(const Launch& launch) {
  return (launch.threads_per_cta + 31) / 32;
}

std::uint64_t cta_count(const Launch& launch) {
  return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
}

std::array<std::uint32_t, 3> block_of(const Launch& launch, std::uint64_t cta) {
  const std::uint64_t row = cta / launch.grid[0];
  return {static_cast<std::uint32_t>(cta % launch.grid[0]), static_cast<std::uint32_t>(row % launch.grid[1]),
          static_cast<std::uint32_t>(row / launch.grid[1])};
}

std::uint32_t class_of(const Launch& launch, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  const std::array<std::uint32_t, 3> block{x, y, z};
  std::uint32_t sum = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!launch.class_of_block[d].empty()) {
      sum += launch.class_of_block[d][block[d]];
    }
  }
  return sum;
}

}  // namespace warpscope::trace
