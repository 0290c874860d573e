#include "model/fast/progress.hpp"

#include <cmath>

namespace warpscope::fast {
namespace {

/// An L2 that holds this part of its capacity is full.
constexpr double kFull = 0.99;

/// Relative difference of two means below which a launch counts as steady.
constexpr double kSteady = 0.01;

/// Applies `use` to all pairs of numbers of two points.
template <typename Use>
void combine(LaunchProgress& a, const LaunchProgress& b, const Use& use) {
  use(a.time, b.time);
  use(a.work, b.work);
  use(a.l2_bytes, b.l2_bytes);
  for (std::size_t i = 0; i < a.stall_warp_cycles.size(); ++i) {
    use(a.stall_warp_cycles[i], b.stall_warp_cycles[i]);
  }
  for (std::size_t i = 0; i < a.pipe_busy_cycles.size(); ++i) {
    use(a.pipe_busy_cycles[i], b.pipe_busy_cycles[i]);
  }
  use(a.data_path_cycles, b.data_path_cycles);
  use(a.shared_load_wavefronts, b.shared_load_wavefronts);
  use(a.shared_store_wavefronts, b.shared_store_wavefronts);
  a.hbm.resize(b.hbm.size());
  for (std::size_t t = 0; t < b.hbm.size(); ++t) {
    use(a.hbm[t].read_bytes, b.hbm[t].read_bytes);
    use(a.hbm[t].write_bytes, b.hbm[t].write_bytes);
  }
}

}  // namespace

LaunchProgress between(const LaunchProgress& from, const LaunchProgress& to) {
  LaunchProgress part = to;
  combine(part, from, [](auto& value, const auto& earlier) { value -= earlier; });
  return part;
}

LaunchProgress& operator+=(LaunchProgress& sum, const LaunchProgress& part) {
  combine(sum, part, [](auto& value, const auto& more) { value += more; });
  return sum;
}

double pace(const LaunchProgress& part) {
  return static_cast<double>(part.time) / part.work;
}

bool stays_filled(double held, double growth, std::int64_t capacity) {
  const double full = kFull * static_cast<double>(capacity);
  return held >= full || held + growth <= full;
}

bool is_steady(std::span<const LaunchProgress> ends, std::size_t averaged, std::uint64_t parts_left,
               std::int64_t l2_capacity) {
  const std::size_t parts = 2 * averaged;
  if (ends.size() <= parts) {
    return false;
  }
  const LaunchProgress& begin = ends[ends.size() - 1 - parts];
  const LaunchProgress& middle = ends[ends.size() - 1 - averaged];
  const LaunchProgress& end = ends.back();
  const auto held = static_cast<double>(begin.l2_bytes);
  const double growth = static_cast<double>(end.l2_bytes - begin.l2_bytes) / static_cast<double>(parts);
  const double earlier = pace(between(begin, middle));
  return stays_filled(held, growth * static_cast<double>(parts + parts_left), l2_capacity) &&
         std::abs(pace(between(middle, end)) - earlier) <= kSteady * earlier;
}

}  // namespace warpscope::fast
