// Whose turn it is among the sub-cores.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// A time and a sub-core in one number: the least comes first, and of equal times that of the first sub-core.
/// Who it will be can hardly be predicted, so it is found without branches.
enum class Turn : std::int64_t {};
using Turns = std::array<Turn, kMaxSubCores>;

constexpr Turn turn_of(std::size_t sub_core, std::int32_t time) {
  return Turn{std::int64_t{time} * kMaxSubCores + static_cast<std::int64_t>(sub_core)};
}
constexpr std::int32_t time_of(Turn turn) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(turn) >> 2);
}
constexpr std::size_t sub_core_of(Turn turn) {
  return static_cast<std::size_t>(turn) % kMaxSubCores;
}
static_assert(kMaxSubCores == 4);

constexpr Turn first_of(const Turns& turns) {
  return std::min(std::min(turns[0], turns[1]), std::min(turns[2], turns[3]));
}

}  // namespace warpscope::sm
