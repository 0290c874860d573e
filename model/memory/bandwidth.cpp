#include "model/memory/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/memory/transaction.hpp"

namespace warpscope::memory {
namespace {

std::int64_t units_per_one(double per_clk) {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(kPortUnits * kShareScale) / per_clk));
}

}  // namespace

double hbm_efficiency(const hw::Hbm& hbm, double write_fraction) {
  const double w = std::clamp(write_fraction, 0.0, 1.0);
  const double read_cost = 1 / hbm.read_efficiency;
  const double write_cost = 1 / hbm.write_efficiency;
  const double linear = read_cost + (write_cost - read_cost) * w;
  const double turnaround = 1 / hbm.mixed_efficiency - (read_cost + write_cost) / 2;
  // Never beyond the peak, whatever parabola three odd points give.
  return 1 / std::max(1.0, linear + 4 * turnaround * w * (1 - w));
}

BandwidthShare bandwidth_share(const hw::HwConfig& config, double sm_clock_mhz, int active_sms,
                               double write_fraction, double utilisation) {
  const double sms = std::max(active_sms, 1);
  const double port = config.l2.sm_bytes_per_clk;
  const double l2 = std::min(config.l2.bytes_per_clk / sms, port);
  const double hbm_bytes_per_clk =
      config.hbm.peak_gb_per_s * 1e3 / sm_clock_mhz * hbm_efficiency(config.hbm, write_fraction);
  // Below one SM's part of the chip there is nobody left to take from.
  const double in_use = std::clamp(utilisation, 1 / sms, 1.0);
  const double dram = std::min(hbm_bytes_per_clk / sms / in_use, port);
  return {.port_units_per_byte = units_per_one(port),
          .l2_units_per_byte = units_per_one(l2),
          .l2_units_per_line = units_per_one(config.l2.lines_per_clk / sms),
          .dram_read_units_per_byte = units_per_one(dram),
          .dram_write_units_per_byte = units_per_one(dram)};
}

std::int64_t sm_cycles(double ns, double sm_clock_mhz) {
  return std::llround(ns * sm_clock_mhz / 1e3);
}

std::int32_t hbm_wait_cycles(const hw::Hbm& hbm, double sm_clock_mhz, double utilisation,
                             double write_fraction) {
  struct Point {
    double utilisation;
    double wait_ns;
  };
  const std::array<Point, 4> curve = {Point{0, 0}, Point{0.25, hbm.wait_quarter_ns},
                                      Point{0.5, hbm.wait_half_ns},
                                      Point{std::max(0.5, hbm.mixed_efficiency), hbm.wait_full_ns}};
  double wait_ns = hbm.wait_full_ns;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const Point& low = curve[i - 1];
    const Point& high = curve[i];
    if (utilisation < high.utilisation) {
      wait_ns = low.wait_ns + (high.wait_ns - low.wait_ns) * (utilisation - low.utilisation) /
                                  (high.utilisation - low.utilisation);
      break;
    }
  }
  const double mix = 4 * write_fraction * (1 - write_fraction);
  return static_cast<std::int32_t>(sm_cycles(hbm.page_wait_ns + wait_ns * mix, sm_clock_mhz));
}

std::int32_t port_units(std::int64_t amount, std::int64_t units_per_one) {
  // For the bytes of one access it is far below the most; a burst that takes longer has no end anyway.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(kMost, (amount * units_per_one + kShareScale - 1) / kShareScale));
}

}  // namespace warpscope::memory
