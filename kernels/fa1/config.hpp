// Tile sizes, shared memory and grid of FlashAttention-1's forward kernel.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels::fa1 {

inline constexpr int kWarps =
    4;  ///< all along the keys: warp w owns key columns 16w .. 16w+15, + 64, + 128, ...
inline constexpr int kStepRows = 16;  ///< query rows per step

/// Source: v1.0.9 fmha_fwd_hdim{32,64,128}.cu, fmha/kernel_traits.h, fmha_fprop_kernel_1xN.h.
struct Config {
  int head_dim = 0;    ///< padded to 32, 64 or 128
  int block_keys = 0;  ///< keys per block: K and V of so many stay in registers while the queries pass by
  int key_blocks = 0;
  int query_steps = 0;
  int num_splits = 0;  ///< CTAs that share the query steps of one head, interleaved
  std::uint32_t registers_per_thread = 0;

  // Bytes in shared memory. K, V and then the partial outputs take turns in one place.
  int q_offset = 0;  ///< two tiles of queries
  int kv_offset = 0;
  int partial_offset = 0;
  int sum_offset = 0;
  int max_offset = 0;
  int lse_offset = 0;
  int shared_bytes = 0;

  bool loops() const { return key_blocks > 1; }
  int steps_per_block() const { return block_keys / kStepRows; }
};

/// Throws UnsupportedProblem with the reason where FlashAttention-1 has no kernel for `problem`.
Config configure(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::fa1
