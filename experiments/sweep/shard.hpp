// A share of a sweep, for machines that cannot talk to one another.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiments/batch/point_simulator.hpp"

namespace warpscope::experiments {

/// Number `index` of `count` shares, from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

/// From "2/8". Throws UsageError that says what is legal.
Shard read_shard(const std::string& text);

/// The points that a shard has to simulate: every point is in one shard, and since `points` come most
/// expensive first all have about the same work.
std::vector<KeyedPoint> share_of(const Shard& shard, std::span<const KeyedPoint> points);

}  // namespace warpscope::experiments
