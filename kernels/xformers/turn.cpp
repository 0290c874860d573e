#include "kernels/xformers/turn.hpp"

namespace warpscope::kernels::xformers {
namespace {

constexpr int kLanes = 32;
/// experiments/reference/measured-h200/fences.csv: a fence takes a round trip to the L2 where nothing was
/// written since the last one, two behind a store.
constexpr int kFenceRoundTrips = 2;
constexpr int kSwapsToTake = 2;

}  // namespace

Turn::Turn(CtaMachine& machine)
    : m_(machine), lanes_(m_.fragment(1, kLanes, ElementType::fp32, Layout::row_per_warp, {})) {}

void Turn::take(const GlobalTile& word) const {
  swaps(word, kSwapsToTake);
}

void Turn::count(const GlobalTile& word) const {
  swaps(word, 1);
}

void Turn::fence(const GlobalTile& word) const {
  round_trips(word, kFenceRoundTrips);
}

void Turn::release(const GlobalTile& word) const {
  round_trips(word, kFenceRoundTrips);
}

void Turn::swaps(GlobalTile word, int count) const {
  word.atomic = true;
  round_trips(word, count);
}

void Turn::round_trips(const GlobalTile& word, int trips) const {
  for (int trip = 0; trip < trips; ++trip) {
    m_.guarded([&] {
      const RowVector value = m_.row_vector(lanes_);
      m_.load_rows(value, word);
      m_.apply(value, BinaryOp::multiply, value, 1.0F);
    });
  }
}

}  // namespace warpscope::kernels::xformers
