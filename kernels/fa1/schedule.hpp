// Which query steps a CTA runs against which key block: the trip counts and first rows of its loops.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fa1/config.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa1 {

/// One appearance of the key-block text in the program. CTA z of a head runs query steps z, z + num_splits,
/// ...; with a causal mask those from the block's diagonal on.
struct KeyBlock {
  int number = 0;        ///< of the key block; in the loop, of its first iteration
  bool first = false;    ///< nothing to merge with yet
  bool last = false;     ///< all rows are final
  bool repeats = false;  ///< stands in the loop over periods

  // Trip slots and symbols of the CTA classes.
  int exists_slot = 0;  ///< 1 where the CTA has query steps in this block
  int diagonal_slot =
      0;  ///< steps that no later block changes: causal rows within this block, all rows of the last
  int below_slot = 0;       ///< the other steps, whose output waits in scratch memory
  int diagonal_symbol = 0;  ///< first query step
  int below_symbol = 0;
  int parity_symbol = 0;  ///< number of diagonal steps: which of the two query buffers the others start with
};

/// Key blocks in order: the first, then `periods` times the blocks of one period in a loop, then the rest.
/// One period is the number of key blocks after which the assignment of query steps to CTAs repeats; it is 1
/// unless the mask is causal and num_splits does not divide the query steps of a block.
struct Schedule {
  KeyBlock first;
  std::vector<KeyBlock> period;
  std::vector<KeyBlock> rest;
  int periods_slot = 0;
  std::int64_t steps_per_period =
      0;  ///< how far first query steps move from one period to the next; 0 if not causal
  std::int32_t trips_per_period = 0;  ///< change of the trip count of below_slot
  std::vector<PlanClass> classes;     ///< one per split
};

/// `causal`: key blocks beyond the mask are skipped.
Schedule schedule(const Config& config, bool causal);

}  // namespace warpscope::kernels::fa1
