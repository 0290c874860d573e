// Which query blocks and key blocks a CTA of the forward pass visits: its loops, and their trip counts.
#pragma once

#include <functional>

#include "kernels/fa2/forward_program.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// A block of queries, for which key blocks are visited from the last to the first.
struct QueryBlock {
  Affine number;
  Affine last_key_block;
  Affine last_keys;    ///< first row of this block in K and V
  int first_slot = 0;  ///< trip slots: this one and has_more_than(1), ... behind it
  Trips main_loop{0};
};

/// One visit of a key block.
struct KeyStep {
  Affine block;
  Affine first_key;  ///< its first row in K and V
  Iteration iteration = kSteady;
  /// Runs its argument where another key block follows.
  std::function<void(const std::function<void()>&)> if_more;
};

/// Runs `body` for each query block of the CTA.
void walk_query_blocks(CtaMachine& machine, const ForwardShape& shape,
                       const std::function<void(const QueryBlock&)>& body);
/// Runs `body` for each key block of the query block.
void walk_key_blocks(CtaMachine& machine, const ForwardShape& shape, const QueryBlock& queries,
                     const std::function<void(const KeyStep&)>& body);

/// Whether the scores of this step pass the mask.
bool is_masked(const ForwardShape& shape, const KeyStep& step);

/// Fills in the grid and the classes of the CTAs: program 0 walks, program 1 is for CTAs without keys. Where
/// the keys are divided, programs 2 and 3 do the same for the last block of queries; where sequences have
/// their own lengths, program 2 is for CTAs beyond them.
void add_grid(LaunchPlan& launch, const ForwardShape& shape);

}  // namespace warpscope::kernels::fa2
