// Tile sizes of the backward pass of memory-efficient attention, and what lies where in its shared memory.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/machine/tiles.hpp"
#include "kernels/xformers/tile_table.hpp"

namespace warpscope::kernels::xformers {

/// Tensors of the backward plan, in this order.
enum BackwardTensor : int {
  kBackQ,
  kBackK,
  kBackV,
  kBackO,
  kBackGradO,
  kBackLse,
  kDelta,     ///< sum over the row of dO * O, for each query
  kGradQSum,  ///< dQ in fp32, to which key blocks add in turn
  kGradQ,
  kGradK,
  kGradV,
};

/// One instantiation of AttentionBackwardKernel that keeps dK and dV in registers and copies ahead
/// (kPreload). Queries and keys of a block are as many as the head dimension, so that all five products are
/// of one shape.
struct BackwardTile {
  int block = 0;  ///< queries, keys and columns
  std::uint32_t registers = 0;
  std::uint32_t registers_sm80 = 0;  ///< of the build for GPUs before 9.0

  int warps() const { return block * block / (kWarpTile * kWarpTile); }
  WarpSplit split() const { return {block / kWarpTile, block / kWarpTile, 1}; }
  int slices() const { return block / kSliceDepth; }  ///< of the inner dimension of a product
  int stages() const;                                 ///< slices that have room beside each other
  int ahead() const { return stages() == slices() ? slices() : stages() - 1; }
  bool keeps_k() const { return stages() == slices(); }  ///< K stays in shared memory from query to query
};

/// Bytes from the start of shared memory. Products take turns in one place behind delta and K.
struct BackwardLayout {
  explicit BackwardLayout(const BackwardTile& tile);

  int delta = 0;
  int k = 0;        ///< for the scores
  int q = 0;        ///< for the scores of the next step, in the place of P
  int p = 0;        ///< P, then dS
  int p_pitch = 0;  ///< elements: rows are padded against bank conflicts
  int grad_o = 0;   ///< for dV
  int second_grad_o = 0;
  int v = 0;
  int second_q = 0;  ///< for dK
  int second_k = 0;  ///< for dQ
  int rows = 0;      ///< dQ on its way to memory as whole rows, in place of the second K
  int bytes = 0;     ///< of all
};

struct BackwardShape {
  Problem problem;
  BackwardTile tile;
  BackwardLayout layout;
  ElementType type;
  bool fast_math = false;  ///< exponentials as xformers compiles them, not as PyTorch does

  /// A slice of columns of an operand, and of rows.
  SharedTile cols_slice(int offset, const Affine& slice) const;
  SharedTile rows_slice(int offset, const Affine& slice) const;
  SharedTile p() const { return p_slices(tile.block, tile.block, 1, 0); }
  SharedTile p_cols(const Affine& slice) const;
  SharedTile p_rows(const Affine& slice) const;

  int blocks() const { return static_cast<int>(problem.seqlen_q / tile.block); }

 private:
  /// Parts of P, `distance` elements from one to the next.
  SharedTile p_slices(int rows, int cols, int slices, int distance) const;
};

/// Throws UnsupportedProblem with the reason where no kernel is modelled.
BackwardShape backward_shape(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::xformers
