// Tile sizes, shared memory and grid of FlashAttention-1's forward kernel.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa1 {

inline constexpr int kWarps =
    4;  ///< all along the keys: warp w owns key columns 16w .. 16w+15, + 64, + 128, ...

/// Source: v1.0.9 fmha_fwd_hdim{32,64,128}.cu, fmha/kernel_traits.h, fmha_fprop_kernel_1xN.h.
struct Config {
  AttentionOptions options = kFa1Options;
  int head_dim = 0;    ///< padded to 32, 64 or 128
  int step_rows = 16;  ///< query rows per step
  int block_keys = 0;  ///< keys per block: K and V of so many stay in registers while the queries pass by
  int key_blocks = 0;
  int query_steps = 0;
  int num_splits = 0;   ///< CTAs that share the query steps of one head, interleaved
  int chunk_steps = 0;  ///< query steps of one CTA where a CTA has neighbouring ones; 0: interleaved
  std::uint32_t registers_per_thread = 0;

  // Bytes in shared memory. K, V and then the partial outputs take turns in one place.
  int q_offset = 0;  ///< two tiles of queries
  int kv_offset = 0;
  int partial_offset = 0;
  int sum_offset = 0;
  int max_offset = 0;
  int row_offset = 0;  ///< what earlier key blocks left of each row: log-sum-exp, or maximum and sum
  int shared_bytes = 0;

  bool loops() const { return key_blocks > 1; }
  int chunk_rows() const { return chunk_steps * step_rows; }
  /// Between key blocks maximum and sum are kept of each row, rather than their log-sum-exp: an output that
  /// is not yet normalised needs both.
  bool keeps_sum() const { return !options.lse || options.deferred; }
};

/// Throws UnsupportedProblem with the reason where FlashAttention-1 has no kernel for `problem`, in any pass.
void check_supported(const Problem& problem);

/// Of the instantiation that the launch code picks: 32, 64 or 128.
int padded_head_dim(const Problem& problem);
/// Keys whose products with a step of queries are in registers at once.
int keys_per_block(const Problem& problem);

/// Throws as check_supported does.
Config configure(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options);

/// How many CTAs share a head: the least multiple of `multiple` up to 30 that fills waves of `slots` CTAs to
/// 95 % of the best that any such number reaches.
int choose_splits(std::int64_t batch_heads, std::int64_t slots, int multiple);

/// CTAs of that need that fit into an SM, as the launch code counts them.
std::int64_t ctas_per_sm(std::uint32_t registers_per_thread, std::int64_t shared_bytes, int warps,
                         const GpuLimits& limits);

}  // namespace warpscope::kernels::fa1
