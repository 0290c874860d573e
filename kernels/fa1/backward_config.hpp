// Tile sizes, shared memory and mode of FlashAttention-1's backward kernel.
#pragma once

#include "kernels/fa1/config.hpp"

namespace warpscope::kernels::fa1 {

inline constexpr int kBackwardWarps = 8;  ///< all along the keys
inline constexpr int kDotRows = 128;      ///< queries of a CTA of the kernel before it
inline constexpr int kDotStepRows = 16;   ///< of which it takes so many at a time

/// Source: v1.0.9 fmha_bwd_hdim{32,64,128}.cu, fmha_bwd_launch_template.h, fmha_dgrad_kernel_1xN_loop.h.
struct BackwardConfig {
  /// Steps of queries and blocks of keys, as schedule() and walk_interleaved() take them.
  Config blocks;
  /// A CTA for each block of keys, which add up dQ in memory; else one CTA per head goes from block to block.
  bool sequence_parallel = false;
  bool v_in_registers = false;  ///< for a whole block of keys, in which K then takes the place of V

  // Bytes in shared memory. Q and dO are two tiles each.
  int grad_o_offset = 0;
  int k_offset = 0;
  int v_offset = 0;
  int partial_offset = 0;  ///< each warp's part of dQ
  int p_offset = 0;
  int grad_s_offset = 0;
  int shared_bytes = 0;

  /// dQ is summed in fp32 in memory, between CTAs or between key blocks.
  bool keeps_sums() const { return sequence_parallel || blocks.loops(); }
  /// How warps share dQ where each owns a piece of it; else each has a part of all of it.
  WarpSplit grad_q_split() const {
    constexpr int kAtom = 16;
    const int along_rows = blocks.step_rows / kAtom;
    return {along_rows, kBackwardWarps / along_rows, 1};
  }
};

/// Throws UnsupportedProblem with the reason where FlashAttention-1 has no kernel for `problem` on that GPU,
/// or none with such `options`.
BackwardConfig configure_backward(const Problem& problem, const GpuLimits& limits,
                                  const AttentionOptions& options = kFa1Options);

/// Whether a CTA per key block beats one per head, as the launch code estimates it from how full waves of
/// `slots` CTAs are. `seqlen`: of the keys, rounded up to whole blocks.
bool prefers_sequence_parallel(std::int64_t batch_heads, std::int64_t slots, std::int64_t seqlen,
                               int block_keys, bool causal);

}  // namespace warpscope::kernels::fa1
