// Tile sizes of FlashAttention-2's split-KV kernels.
#pragma once

#include "kernels/fa2/tile_table.hpp"

namespace warpscope::kernels::fa2 {

inline constexpr int kSplitRows = 64;  ///< queries per CTA

/// Keys per step where the keys are divided.
constexpr int split_keys(std::int64_t head_dim) {
  return head_dim <= 64 ? 256 : head_dim <= 128 ? 128 : 64;
}

/// The instantiation for keys in so many parts. In one part it has the keys per step of the plain kernel, for
/// the same rounding. Throws UnsupportedProblem where its shared memory exceeds the GPU's.
ForwardTile split_tile(const Problem& problem, std::int64_t splits, const GpuLimits& limits);

/// Queries per CTA of the kernel that combines the parts: 128 threads load 512 elements at a time.
constexpr int combined_rows(int tile_head_dim) {
  return tile_head_dim % 128 == 0 ? 4 : tile_head_dim % 64 == 0 ? 8 : 16;
}

}  // namespace warpscope::kernels::fa2
