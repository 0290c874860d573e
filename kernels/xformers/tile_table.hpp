// Tile sizes of the memory-efficient attention kernels, and what lies where in their shared memory.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"
#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels::xformers {

inline constexpr int kWarpTile = 32;    ///< rows and columns of a product that a warp computes
inline constexpr int kSliceDepth = 32;  ///< of a product between two barriers (ThreadK)
inline constexpr int kMostStages = 4;   ///< of copies (kStages)

/// One instantiation of AttentionKernel.
struct ForwardTile {
  int queries = 0;   ///< per CTA (kQueriesPerBlock)
  int keys = 0;      ///< per step (kKeysPerBlock)
  int head_dim = 0;  ///< the largest (kMaxK); 0: any, and the output waits in memory between key blocks
  std::uint32_t registers = 0;

  bool keeps_output() const { return head_dim > 0; }
  int warps() const { return queries * keys / (kWarpTile * kWarpTile); }
  WarpSplit split() const { return {queries / kWarpTile, keys / kWarpTile, 1}; }
  /// Columns of O that one product computes.
  int output_cols() const { return keys; }
  /// Slices of Q and K that have room beside each other: all there are, or as many as the source has stages.
  int score_stages() const { return keeps_output() ? head_dim / kSliceDepth : kMostStages; }
  /// Of these, how many are under way before the first is multiplied.
  int score_copies_ahead() const { return keeps_output() ? score_stages() : score_stages() - 1; }
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
ForwardTile forward_tile(const Problem& problem);

}  // namespace warpscope::kernels::xformers
