// The launches of a forward pass of Triton's attention: which keys they visit, and what they keep in shared
// memory.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::triton {

/// BLOCK, of queries and of keys.
inline constexpr int kBlock = 128;
/// num_stages of the forward kernel: tiles of K and of V in the ring.
inline constexpr int kStages = 2;

/// Tensors of the plan, in this order.
enum ForwardTensor : int {
  kQ,
  kK,
  kV,
  kO,
  kRowSum,  ///< L of the source: sum of 2^(score - maximum)
  kRowMax,  ///< M: largest score times log2(e)
};

/// MODE of the source: without a mask, or with a causal one in a launch, or in two.
enum class Mode : std::uint8_t {
  full,
  causal,
  below_diagonal,  ///< all key blocks that the mask does not cut
  diagonal,        ///< the last one, on what the launch before has left
};

struct ForwardShape {
  Problem problem;
  Mode mode = Mode::full;

  ElementType type() const;
  int warps() const { return problem.head_dim <= 64 ? 4 : 8; }
  int head_dim() const { return static_cast<int>(problem.head_dim); }
  std::int64_t blocks() const { return problem.seqlen_q / kBlock; }
  bool masked() const { return mode == Mode::causal || mode == Mode::diagonal; }

  SharedTile k() const;
  SharedTile v() const;
  SharedTile q() const;
  /// What conversions between register layouts go through before the loop, and behind it: in the place of K
  /// and V.
  SharedTile scratch(ElementType element) const;
  SharedTile row_scratch() const;
  std::uint32_t shared_bytes() const;
};

/// Trip slot: key blocks that the CTA visits.
inline constexpr int kKeyBlocks = 0;

/// Grid, classes and, where a launch starts behind the first one, the symbol that says where.
void add_grid(LaunchPlan& launch, const ForwardShape& shape);

}  // namespace warpscope::kernels::triton
