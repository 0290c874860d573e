// Tiles on their way to shared memory, by cp.async or through registers.
#pragma once

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::variants {

/// Copies of one CTA. What was fetched is visible behind arrive() and a barrier.
struct TileCopies {
  CtaMachine& machine;
  bool async = true;  ///< cp.async; else a load and a store, and no waiting

  void fetch(const SharedTile& target, const GlobalTile& source) const;
  /// Ends a group of copies.
  void commit() const;
  /// Waits for all copies of this thread.
  void arrive() const;
};

}  // namespace warpscope::kernels::variants
