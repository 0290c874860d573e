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

/// A copy in two halves, with work between them: a load and a store, or cp.async and nothing.
struct TileTransfer {
  SharedTile target;
  Fragment rows;  ///< that the tile passes through on its way
  bool async = false;

  void start(CtaMachine& machine, const GlobalTile& source) const;
  void finish(CtaMachine& machine) const;
};

}  // namespace warpscope::kernels::variants
