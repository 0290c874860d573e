#include "kernels/numeric/lane_map.hpp"

#include <algorithm>
#include <stdexcept>

namespace warpscope::kernels {

namespace {

constexpr int kWarpLanes = 32;
constexpr int kQuad = 4;

// Elements that a thread holds side by side.
int piece_of(Layout layout, ElementType type) {
  switch (layout) {
    case Layout::linear:
    case Layout::row_per_cta:
      return 16 / element_bytes(type);
    case Layout::linear_quads:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

LaneMap::LaneMap(Layout layout, WarpSplit split, int cols, ElementType type, int threads) : layout_(layout) {
  switch (layout) {
    case Layout::accumulator:
      if (split.k != 1) {
        throw std::logic_error("a row vector of partial tiles has no meaning");
      }
      warps_ = split.n;
      holders_ = split.n * kQuad;
      group_ = kQuad;
      return;
    case Layout::row_per_warp:
      holders_ = row_lanes(cols);
      group_ = holders_;
      return;
    case Layout::row_per_cta:
      piece_ = piece_of(layout, type);
      holders_ = threads;
      group_ = kWarpLanes;
      return;
    case Layout::linear:
    case Layout::linear_quads:
      piece_ = piece_of(layout, type);
      holders_ = std::min(threads, std::max(1, cols / piece_));
      group_ = std::min(kWarpLanes, holders_);
      return;
    case Layout::element_per_thread:
      if (cols % threads != 0) {
        break;
      }
      holders_ = threads;
      group_ = kWarpLanes;
      return;
    case Layout::operand_b:
      break;
  }
  throw std::logic_error("this layout has no row vectors");
}

}  // namespace warpscope::kernels
