// The turns that CTAs take at dQ: a lock, a counter and fences.
#pragma once

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::xformers {

/// The machine has no locks and no fences. What they cost is a word that all warps load and wait for, as they
/// do in the kernel at the barrier behind the one thread that asks. Locks are taken to be free: on an H200 a
/// CTA sleeps once per step (counters.csv), which is what a free lock costs.
class Turn {
 public:
  explicit Turn(CtaMachine& machine);

  /// Swaps until it reads its own number. The swap that takes the lock reads 0, so that only the second ends
  /// the loop.
  void take(const GlobalTile& word) const;
  /// How many have added.
  void count(const GlobalTile& word) const;
  /// Until the L2 has what was written.
  void fence(const GlobalTile& word) const;
  /// The store that releases the lock has a fence in front of it.
  void release(const GlobalTile& word) const;

 private:
  void swaps(GlobalTile word, int count) const;
  void round_trips(const GlobalTile& word, int trips) const;

  CtaMachine& m_;
  Fragment lanes_;  ///< names the lane that holds the word
};

}  // namespace warpscope::kernels::xformers
