// Whose turn it is among the sub-cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// A time, for how long a sub-core has waited until then, a bit that first_of() sets, and the sub-core in one
/// number: the least comes first. Who it will be can hardly be predicted, so it is found without branches.
enum class Turn : std::int64_t {};
using Turns = std::array<Turn, kMaxSubCores>;

constexpr int kSubCoreBits = 2;
static_assert(kMaxSubCores == 1 << kSubCoreBits);
constexpr int kPlaceBits = kSubCoreBits + 1;  ///< with that bit, which stands above the sub-core
constexpr int kWaitBits = 16;
/// Who has waited longer than so many cycles is not told from one who has waited so long.
constexpr std::int64_t kMostWaited = (1 << kWaitBits) - 1;

constexpr Turn turn_of(std::size_t sub_core, std::int32_t time, std::int32_t waits_since) {
  const std::int64_t waited = std::clamp<std::int64_t>(std::int64_t{time} - waits_since, 0, kMostWaited);
  return Turn{(std::int64_t{time} << kWaitBits | (kMostWaited - waited)) << kPlaceBits |
              static_cast<std::int64_t>(sub_core)};
}
constexpr std::int32_t time_of(Turn turn) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(turn) >> (kWaitBits + kPlaceBits));
}
constexpr std::size_t sub_core_of(Turn turn) {
  return static_cast<std::size_t>(turn) % kMaxSubCores;
}
/// The earliest; of equal times that of the sub-core that has waited longest, and of equals the next one
/// behind `last`, which came last, round and round (measured, loop_clocks.md).
constexpr Turn first_of(const Turns& turns, std::size_t last) {
  const auto behind_last = [&](std::size_t sub_core) {
    const std::int64_t is_past = sub_core <= last ? 1 : 0;
    return static_cast<std::int64_t>(turns[sub_core]) | is_past << kSubCoreBits;
  };
  return Turn{std::min(std::min(behind_last(0), behind_last(1)), std::min(behind_last(2), behind_last(3)))};
}

}  // namespace warpscope::sm
