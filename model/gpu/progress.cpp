#include "model/gpu/progress.hpp"

namespace warpscope::gpu {
namespace {

/// An L2 that holds this part of its capacity is full.
constexpr double kFull = 0.99;

/// Applies `use` to all pairs of numbers of two points.
template <typename Use>
void combine(Progress& a, const Progress& b, const Use& use) {
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

Progress between(const Progress& from, const Progress& to) {
  Progress part = to;
  combine(part, from, [](auto& value, const auto& earlier) { value -= earlier; });
  return part;
}

Progress& operator+=(Progress& sum, const Progress& part) {
  combine(sum, part, [](auto& value, const auto& more) { value += more; });
  return sum;
}

double pace(const Progress& part) {
  return static_cast<double>(part.time) / part.work;
}

bool stays_filled(double held, double growth, std::int64_t capacity) {
  const double full = kFull * static_cast<double>(capacity);
  return held >= full || held + growth <= full;
}

}  // namespace warpscope::gpu
