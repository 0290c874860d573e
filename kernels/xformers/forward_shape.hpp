// What the CTAs of a forward launch have in common, and how the number of their key blocks differs.
#pragma once

#include "kernels/machine/plan.hpp"
#include "kernels/xformers/tile_table.hpp"

namespace warpscope::kernels::xformers {

/// Tensors of the plan, in this order; the last is there where the output waits in memory.
enum Tensor : int { kQ, kK, kV, kO, kLse, kAccumulator };

/// Trip slots of a CTA.
enum Slot : int {
  kWholeBlocks,  ///< key blocks in the loop: all that nothing cuts, or those between the first and the last
  kMasks,        ///< masks that the last key block takes
  kSliceExists,  ///< and behind it: 1 where slice 0, 1, ... of the last key block holds keys
  kOnlyBlock = kSliceExists + kMostStages,  ///< 1 where there is one key block
  kSeveralBlocks,                           ///< 1 where there are more
  kRollingSlices,                           ///< of Q and K that are multiplied while others are copied
};
/// Symbols of a CTA.
enum Symbol : int { kLastBlock };

struct ForwardShape {
  ForwardShape(const Problem& problem, const ForwardTile& tile);

  Problem problem;
  ForwardTile tile;
  SharedLayout layout;
  ElementType type;
  /// The mask or the end of the keys cuts the last key block of a CTA.
  bool cuts_last_block = false;
  int fewest_slices = 0;  ///< of 32 keys, that the last key block of any CTA has

  std::int64_t query_blocks() const;
  int score_slices() const;  ///< of Q and K
  int value_blocks() const;  ///< products that O takes side by side
  /// Keys that the queries of block `block` see.
  std::int64_t visible_keys(std::int64_t block) const;
};

/// Grid and classes of the launch.
void add_grid(LaunchPlan& launch, const ForwardShape& shape);

}  // namespace warpscope::kernels::xformers
