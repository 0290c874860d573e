// Whose turn it is among the sub-cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// A time, for how long a sub-core has waited until then, and the sub-core in one number: the least comes
/// first, of equal times that of the sub-core that has waited longest, and of equals the first one's.
/// Who it will be can hardly be predicted, so it is found without branches.
enum class Turn : std::int64_t {};
using Turns = std::array<Turn, kMaxSubCores>;

constexpr int kSubCoreBits = 2;
static_assert(kMaxSubCores == 1 << kSubCoreBits);
constexpr int kWaitBits = 16;
/// Who has waited longer than so many cycles is not told from one who has waited so long.
constexpr std::int64_t kMostWaited = (1 << kWaitBits) - 1;

constexpr Turn turn_of(std::size_t sub_core, std::int32_t time, std::int32_t waits_since) {
  const std::int64_t waited = std::clamp<std::int64_t>(std::int64_t{time} - waits_since, 0, kMostWaited);
  return Turn{(std::int64_t{time} << kWaitBits | (kMostWaited - waited)) * kMaxSubCores +
              static_cast<std::int64_t>(sub_core)};
}
constexpr std::int32_t time_of(Turn turn) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(turn) >> (kWaitBits + kSubCoreBits));
}
constexpr std::size_t sub_core_of(Turn turn) {
  return static_cast<std::size_t>(turn) % kMaxSubCores;
}
constexpr Turn first_of(const Turns& turns) {
  return std::min(std::min(turns[0], turns[1]), std::min(turns[2], turns[3]));
}

}  // namespace warpscope::sm
