// Many points on many workers, their results in a store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// The points with different keys, most expensive first: with these at the end, one worker would still be
/// busy when the others are done. The order depends on nothing but the points.
std::vector<KeyedPoint> distinct_by_cost(std::span<const KeyedPoint> points);

/// Simulates those of `points`, all of different keys, that the store does not know, or whose process died
/// the last time. Shows progress under the name `what`. Throws Interrupted that says what is kept where this
/// process was asked to end.
void simulate_points(std::span<const KeyedPoint> points, ResultStore& store, Workers& workers,
                     const std::string& what);

}  // namespace warpscope::experiments
