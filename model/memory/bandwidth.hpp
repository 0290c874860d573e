// How the chip's bandwidth is divided: every SM with work gets an equal share of what the memory sustains.
#pragma once

#include <cstdint>

#include "model/hw/hw_config.hpp"

namespace warpscope::memory {

/// Port time per byte (per line looked up) for one SM, in 1/kPortUnits cycles scaled by kShareScale.
struct BandwidthShare {
  std::int64_t port_units_per_byte = 0;
  std::int64_t l2_units_per_byte = 0;
  std::int64_t l2_units_per_line = 0;
  std::int64_t dram_read_units_per_byte = 0;
  std::int64_t dram_write_units_per_byte = 0;

  bool operator==(const BandwidthShare&) const = default;
};

inline constexpr std::int64_t kShareScale = 1 << 16;

/// Fraction of peak that HBM sustains when `write_fraction` of the bytes are writes. The three points of the
/// configuration (reads only, equal mix, writes only) are joined by the parabola of cost per byte through
/// them: bus turnarounds are most frequent at an equal mix.
double hbm_efficiency(const hw::Hbm& hbm, double write_fraction);

/// Shares while `active_sms` SMs have work, `write_fraction` of the HBM traffic are writes and `utilisation`
/// of what HBM sustains is in use. What others leave unused is there for an SM that bursts: its share grows
/// as 1 / utilisation.
BandwidthShare bandwidth_share(const hw::HwConfig& config, double sm_clock_mhz, int active_sms,
                               double write_fraction, double utilisation = 1);

/// A time in SM cycles, rounded.
std::int64_t sm_cycles(double ns, double sm_clock_mhz);

/// Mean wait for one HBM page, in SM cycles, at `utilisation` of peak bandwidth: what row activation and
/// refresh cost an idle memory, plus the queue behind traffic, measured with half the bytes written. Reads
/// alone hardly wait below saturation, so the queue scales with how mixed the traffic is.
std::int32_t hbm_wait_cycles(const hw::Hbm& hbm, double sm_clock_mhz, double utilisation,
                             double write_fraction);

/// Port time of `amount` bytes or lines, rounded up.
std::int32_t port_units(std::int64_t amount, std::int64_t units_per_one);

}  // namespace warpscope::memory
