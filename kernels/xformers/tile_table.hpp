// Tile sizes of the memory-efficient attention kernels, and what lies where in their shared memory.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels::xformers {

inline constexpr int kWarpTile = 32;    ///< rows and columns of a product that a warp computes
inline constexpr int kSliceDepth = 32;  ///< of a product between two barriers (ThreadK)

/// One instantiation of AttentionKernel whose output stays in registers.
struct ForwardTile {
  int queries = 0;   ///< per CTA (kQueriesPerBlock)
  int keys = 0;      ///< per step (kKeysPerBlock)
  int head_dim = 0;  ///< the largest (kMaxK); columns of the output
  std::uint32_t registers = 0;

  int warps() const { return queries * keys / (kWarpTile * kWarpTile); }
  WarpSplit split() const { return {queries / kWarpTile, keys / kWarpTile, 1}; }
  /// Slices of Q and K that have room beside each other: all there are.
  int query_slices() const { return head_dim / kSliceDepth; }
  int key_slices() const { return keys / kSliceDepth; }
};

/// Bytes from the start of shared memory. Q and K, then P and V, then the output take turns in one place.
struct SharedLayout {
  explicit SharedLayout(const ForwardTile& tile);

  int previous_max = 0;  ///< m_prime: of each row before the key block
  int sum = 0;           ///< s_prime
  int max = 0;           ///< mi
  int rescale = 0;       ///< out_rescale: what the output so far is multiplied with
  int partial_sums = 0;  ///< of each row and column of warps (addition_storage)
  int q = 0;
  int k = 0;
  int probability_pitch = 0;  ///< elements: rows are padded against bank conflicts
  int probabilities = 0;
  int v = 0;
  int output = 0;
  int bytes = 0;  ///< of all
};

/// The instantiation that the launch code picks for half precision on compute capability 8.0 and above.
/// Throws UnsupportedProblem where it is one that is not modelled.
ForwardTile forward_tile(const Problem& problem);

}  // namespace warpscope::kernels::xformers
