// How far a launch has come, and whether it goes on as before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::fast {

/// Bytes of one tensor that crossed the pins of HBM.
struct HbmBytes {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// What a launch has done up to the end of a window.
struct LaunchProgress {
  sim::Cycles time = 0;
  double work = 0;            ///< in instructions, or whatever goes on evenly
  std::int64_t l2_bytes = 0;  ///< taken in the L2
  sm::SmCounters counted;     ///< by all SMs
  std::vector<HbmBytes> hbm;  ///< by tensor
};

/// What has been done from one point to another.
LaunchProgress between(const LaunchProgress& from, const LaunchProgress& to);

/// What two means differ by less than this part goes on evenly: iterations, passes and waves alike. Twice as
/// much makes the standard kernels a sixth faster, and a launch of ten waves 8 % too short.
inline constexpr double kSteady = 0.01;

/// Whether two positive numbers do.
bool are_even(double a, double b);

/// Cycles per work in a part of a launch.
double pace(const LaunchProgress& part);

/// Whether an L2 that holds `held` bytes of `capacity` stays as full as it is, empty or full, while it grows
/// by `growth`: it writes nothing back before it is full.
bool stays_filled(double held, double growth, std::int64_t capacity);

/// A part takes at least so long: ends jitter, and waits at full queues settle over the first three of them.
inline constexpr sim::Cycles kPartCycles = 16384;

/// Ends of parts of a launch, of which the last are compared with as many before them.
class LastParts {
 public:
  /// Compares so many with so many.
  explicit LastParts(std::size_t averaged) : averaged_(averaged) {}
  /// Whether a part that ends `now` is long enough.
  bool may_end(sim::Cycles now) const { return now - (ends_.empty() ? 0 : ends_.back().time) >= kPartCycles; }
  /// Takes the next end.
  void add(LaunchProgress end);
  void clear() { ends_.clear(); }
  /// Whether all parts are there, without which nothing of what follows may be asked.
  bool complete() const { return ends_.size() == 2 * averaged_ + 1; }
  /// Whether the later ones took as long for their work, and the L2 stays as full as it is where all of them
  /// are repeated so often.
  bool is_steady(double repeats, std::int64_t l2_capacity) const;
  /// Whether they moved as many bytes across HBM for their work.
  bool moves_as_much() const;
  LaunchProgress earlier() const { return between(ends_.front(), ends_[averaged_]); }
  LaunchProgress later() const { return between(ends_[averaged_], ends_.back()); }
  LaunchProgress all() const { return between(ends_.front(), ends_.back()); }

 private:
  std::size_t averaged_;
  std::vector<LaunchProgress> ends_;
};

}  // namespace warpscope::fast
