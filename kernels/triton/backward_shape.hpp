// What all launches of one backward pass of Triton's attention have in common.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/triton/forward_shape.hpp"

namespace warpscope::kernels::triton {

inline constexpr int kBackwardWarps = 8;

/// Tensors of the plan, in this order.
enum BackwardTensor : int {
  kBackQ,
  kBackK,
  kBackV,
  kBackO,
  kBackGradO,
  kBackRowSum,
  kBackRowMax,
  kScaledGradO,  ///< dO divided by the row sum, so that exponentials need no division
  kDelta,        ///< sum over the row of O * that
  kGradQParts,   ///< dQ in fp32, or for each block of keys a dQ of its own in the problem's type
  kGradQ,
  kGradK,
  kGradV,
};

struct BackwardShape {
  Problem problem;
  /// sequence_parallel of the source: a CTA per head and block of keys, else one per head.
  bool sequence_parallel = false;

  ElementType type() const { return problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16; }
  int head_dim() const { return static_cast<int>(problem.head_dim); }
  std::int64_t blocks() const { return problem.seqlen_q / kBlock; }
  std::int64_t heads() const { return problem.batch * problem.heads; }
  std::int64_t grad_q_parts() const { return sequence_parallel ? blocks() : 1; }
  ElementType grad_q_type() const { return sequence_parallel ? type() : ElementType::fp32; }

  /// K, V, Q, dO, and P, which dS takes the place of.
  SharedTile k() const { return tile(0); }
  SharedTile v() const { return tile(1); }
  SharedTile q() const { return tile(2); }
  SharedTile grad_o() const { return tile(3); }
  SharedTile scores() const { return {tile(4).byte_offset, kBlock, kBlock, type(), 1, {}}; }
  /// Where a tile of dQ or of a result changes its layout: over all but K and V, which stay.
  SharedTile scratch(ElementType element) const {
    return {q().byte_offset, kBlock, head_dim(), element, 1, {}};
  }
  std::uint32_t shared_bytes() const {
    return static_cast<std::uint32_t>(scores().byte_offset + scores().bytes_per_stage());
  }

 private:
  SharedTile tile(int number) const {
    SharedTile result{0, kBlock, head_dim(), type(), 1, {}};
    result.byte_offset = number * result.bytes_per_stage();
    return result;
  }
};

}  // namespace warpscope::kernels::triton
