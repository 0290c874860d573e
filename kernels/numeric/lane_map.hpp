// Which lanes of a CTA hold the elements of one row: the ground on which row reductions are exact or wrong.
#pragma once

#include "kernels/machine/tiles.hpp"

namespace warpscope::kernels {

/// The lanes that share a row are numbered 0 .. holders-1; `group` neighbours belong to one warp, so that
/// shuffles can reduce over them.
class LaneMap {
 public:
  /// Throws std::logic_error where the layout has no row vectors (operand_b, partial tiles,
  /// element_per_thread unless each row is one of all threads).
  LaneMap(Layout layout, WarpSplit split, int cols, ElementType type, int threads);

  int holders() const { return holders_; }
  int group() const { return group_; }
  int groups() const { return holders_ / group_; }
  /// True where the same lanes hold the same rows.
  bool shares_lanes_with(const LaneMap& other) const {
    return layout_ == other.layout_ && holders_ == other.holders_ && group_ == other.group_;
  }

  /// Which of the holders has column `col`.
  int holder_of(int col) const {
    if (layout_ == Layout::accumulator) {
      return (col / 16) % warps_ * 4 + (col % 8) / 2;
    }
    return (col / piece_) % holders_;
  }

 private:
  Layout layout_;
  int piece_ = 1;
  int warps_ = 1;
  int holders_ = 1;
  int group_ = 1;
};

}  // namespace warpscope::kernels
