// Tile sizes of the FlashAttention-2 backward kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/kernel.hpp"

namespace warpscope::kernels::fa2 {

/// One instantiation of the backward pass: its main kernel, and the two small ones around it.
struct BackwardTile {
  int head_dim = 0;     ///< of the instantiation: the problem's, rounded up
  int rows = 0;         ///< queries per step (kBlockM)
  int keys = 0;         ///< keys per CTA (kBlockN)
  int score_warps = 0;  ///< along the queries of S and dP (AtomLayoutMSdP); the others lie along the keys
  int key_warps = 0;    ///< along the keys of dK and dV (AtomLayoutNdKV)
  int query_warps = 0;  ///< along the queries of dQ (AtomLayoutMdQ)
  bool v_in_registers = false;
  bool double_buffer = true;  ///< two stages of Q

  static constexpr int kWarps = 8;
  static constexpr int kRegisters = 255;  ///< per thread of the main kernel, in all instantiations (ptxas 13)

  bool operator==(const BackwardTile&) const = default;

  /// Of the main kernel: Q, dO, K, V, P and dS. V in registers lies where P and dS come to lie.
  std::uint32_t shared_bytes() const {
    const int queries = 2 * rows * head_dim * (double_buffer ? 3 : 2);
    const int scores = 4 * rows * keys;
    const int one_operand = 2 * keys * head_dim;
    return static_cast<std::uint32_t>(
        queries + one_operand + (v_in_registers ? std::max(one_operand, scores) : one_operand + scores));
  }
};

/// The instantiation that the launch code picks, no dropout. Throws UnsupportedProblem where there is none.
BackwardTile backward_tile(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::fa2
