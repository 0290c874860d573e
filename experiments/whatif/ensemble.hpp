// One point run several times, with CTAs that start a few cycles later each time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// Results of the same point. On hardware and in the model alike, the phases in which warps and CTAs meet
/// depend on cycles that nobody controls; what differs less than these results do is no difference.
struct Ensemble {
  Point point;                       ///< as the user named it
  std::vector<PointResult> members;  ///< the first is the point itself
  std::string error;                 ///< why there are no members

  const PointResult& itself() const { return members.front(); }
  double mean_time_us() const;
};

/// The point with CTAs that start later: by `phase` cycles behind the end of another one, and by `phase`
/// halves of the time that lies between two starts into an empty chip. Phase 0 is the point itself.
Point in_phase(Point point, int phase);

/// How many times a point of an ensemble is run.
inline constexpr int kMembers = 5;

/// Runs each point kMembers times, on worker processes. Throws what the loader of the GPU throws.
std::vector<Ensemble> run_ensembles(std::span<const Point> points, const PoolOptions& workers,
                                    const std::string& what);

/// By how much the mean time of `b` differs from that of `a`, as a share of it, and how sure that is.
struct Difference {
  double share = 0;       ///< negative: `b` is faster
  double plus_minus = 0;  ///< 19 in 20

  bool is_certain() const { return share > plus_minus || share < -plus_minus; }
};

/// Welch's t-interval of the difference of two means: what it is off by at most, 19 times in 20.
double plus_minus(const std::vector<double>& a, const std::vector<double>& b);

/// Of the mean times.
Difference difference(const Ensemble& a, const Ensemble& b);

}  // namespace warpscope::experiments
