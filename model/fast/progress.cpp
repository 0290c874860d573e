#include "model/fast/progress.hpp"

#include <cmath>
#include <utility>

namespace warpscope::fast {

LaunchProgress between(const LaunchProgress& from, const LaunchProgress& to) {
  LaunchProgress part = to;
  part.time -= from.time;
  part.work -= from.work;
  part.l2_bytes -= from.l2_bytes;
  part.counted.subtract(from.counted);
  for (std::size_t t = 0; t < part.hbm.size(); ++t) {
    part.hbm[t].read_bytes -= from.hbm[t].read_bytes;
    part.hbm[t].write_bytes -= from.hbm[t].write_bytes;
  }
  return part;
}

double pace(const LaunchProgress& part) {
  return static_cast<double>(part.time) / part.work;
}

bool are_even(double a, double b) {
  return std::abs(b - a) <= kSteady * a;
}

bool stays_filled(double held, double growth, std::int64_t capacity) {
  const double full = (1 - kSteady) * static_cast<double>(capacity);
  return held >= full || held + growth <= full;
}

void LastParts::add(LaunchProgress end) {
  if (complete()) {
    ends_.erase(ends_.begin());
  }
  ends_.push_back(std::move(end));
}

bool LastParts::is_steady(double repeats, std::int64_t l2_capacity) const {
  const auto growth = static_cast<double>(all().l2_bytes) * (1 + repeats);
  return stays_filled(static_cast<double>(ends_.front().l2_bytes), growth, l2_capacity) &&
         are_even(pace(earlier()), pace(later()));
}

bool LastParts::moves_as_much() const {
  const auto moved = [](const LaunchProgress& part) {
    std::uint64_t bytes = 0;
    for (const HbmBytes& tensor : part.hbm) {
      bytes += tensor.read_bytes + tensor.write_bytes;
    }
    return static_cast<double>(bytes) / part.work;
  };
  return are_even(moved(earlier()), moved(later()));
}

}  // namespace warpscope::fast
