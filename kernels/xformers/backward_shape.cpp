#include "kernels/xformers/backward_shape.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::xformers {
namespace {

// xformers 3d947a67~1, generate_kernels.py, lines 223-298, for sm80, half precision and whole blocks (0.0.20
// has the same tiles); registers as launch__registers_per_thread has them (counters_xformers_backward.csv),
// and as ptxas of CUDA 11.8 says for sm_80 (xformers_backward.csv).
constexpr std::array kTiles = {BackwardTile{64, 162, 168}, BackwardTile{128, 128, 128}};

constexpr int kMostBackwardStages = 3;  // of CUTLASS' default configuration for sm80
constexpr int kBytesPerElement = 2;
constexpr int kBytesPerSum = 4;

[[noreturn]] void refuse(const std::string& reason) {
  throw UnsupportedProblem("xformers: " + reason);
}

void check(const Problem& problem, const BackwardTile& tile) {
  if (problem.seqlen_q != problem.seqlen_k || problem.seqlen_q % tile.block != 0) {
    refuse(
        "of the backward kernels those for whole blocks are modelled: seqlen_q = seqlen_k, a multiple of " +
        std::to_string(tile.block) + ", got " + std::to_string(problem.seqlen_q) + " and " +
        std::to_string(problem.seqlen_k));
  }
  // From attention_backward_generic.cu: few keys and enough heads, and a head is one CTA's.
  constexpr std::int64_t kEnoughHeads = 256;
  if (problem.batch * problem.heads >= kEnoughHeads && problem.seqlen_k <= 2 * tile.block) {
    refuse("with 256 heads and sequences and up to " + std::to_string(2 * tile.block) +
           " keys the backward pass takes a CTA per head, which is not modelled");
  }
}

}  // namespace

int BackwardTile::stages() const {
  return std::min(kMostBackwardStages, slices());
}

BackwardLayout::BackwardLayout(const BackwardTile& tile) {
  constexpr int kPadding = 8;
  const int operand = tile.stages() * kSliceDepth * tile.block * kBytesPerElement;
  p_pitch = tile.block + kPadding;
  const int p_bytes = tile.block * p_pitch * kBytesPerElement;
  k = delta + tile.block * kBytesPerSum;
  p = k + operand;
  q = p;
  grad_o = p + p_bytes;
  second_grad_o = grad_o + operand;
  v = second_grad_o + operand;
  second_q = p + p_bytes;
  second_k = second_q + operand;
  rows = second_k;
  // The largest of the source's union is part3: dS, Q, and two epilogues of half the rows of a tile in fp32,
  // each as large as P.
  bytes = second_k + 2 * p_bytes;
}

SharedTile BackwardShape::cols_slice(int offset, const Affine& slice) const {
  return stage({offset, tile.block, kSliceDepth, type, tile.stages(), {}}, slice);
}

SharedTile BackwardShape::rows_slice(int offset, const Affine& slice) const {
  return stage({offset, kSliceDepth, tile.block, type, tile.stages(), {}}, slice);
}

SharedTile BackwardShape::p_cols(const Affine& slice) const {
  return stage(p_slices(tile.block, kSliceDepth, tile.slices(), kSliceDepth), slice);
}

SharedTile BackwardShape::p_rows(const Affine& slice) const {
  return stage(p_slices(kSliceDepth, tile.block, tile.slices(), kSliceDepth * layout.p_pitch), slice);
}

SharedTile BackwardShape::p_slices(int rows, int cols, int slices, int distance) const {
  SharedTile result{layout.p, rows, cols, type, slices, {}, layout.p_pitch};
  result.stage_pitch = distance * element_bytes(type);
  return result;
}

BackwardShape backward_shape(const Problem& problem, const GpuLimits& limits) {
  const auto tile = std::ranges::find(kTiles, problem.head_dim, &BackwardTile::block);
  if (tile == kTiles.end()) {
    refuse("the backward pass is modelled for head_dim 64 and 128, not " + std::to_string(problem.head_dim));
  }
  check(problem, *tile);
  BackwardShape shape{problem, *tile, BackwardLayout(*tile),
                      problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16};
  // From 9.0 on the figures are those of PyTorch's build, before those of xformers 0.0.20.
  shape.fast_math = limits.compute_capability_major < 9;
  if (shape.fast_math) {
    shape.tile.registers = shape.tile.registers_sm80;
  }
  if (shape.layout.bytes > limits.shared_bytes_per_cta) {
    refuse("the backward pass at head_dim " + std::to_string(problem.head_dim) + " needs " +
           std::to_string(shape.layout.bytes) + " bytes of shared memory per CTA; this GPU has " +
           std::to_string(limits.shared_bytes_per_cta) + ", and the kernel for it is not modelled");
  }
  return shape;
}

}  // namespace warpscope::kernels::xformers
