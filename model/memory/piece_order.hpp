// The total order of the pieces of one window.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/piece.hpp"

namespace warpscope::memory {

/// Sorts pieces that come by SM and number by their times, which lie within one window: as their counts tell
/// where each goes, none is compared with another.
class PieceOrder {
 public:
  void clear() { pieces_.clear(); }
  /// `piece` must stay where it is until the order is no longer needed.
  void add(Piece& piece) { pieces_.push_back(&piece); }
  /// All pieces added since clear(), in the order of goes_before().
  const std::vector<Piece*>& sorted();

 private:
  std::vector<Piece*> pieces_;
  std::vector<Piece*> sorted_;
  std::vector<std::uint32_t> places_;  ///< by time: where the next piece goes
};

}  // namespace warpscope::memory
