// What a launch left in the counters of its units.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/l2_slice.hpp"
#include "model/metrics/moved_bytes.hpp"
#include "model/metrics/result.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::gpu {

/// What a launch left in the counters of its units.
struct LaunchCounts {
  sim::Cycles cycles = 0;
  double cycles_deviation = 0;  ///< standard deviation of `cycles`, where they come of a sample
  metrics::Occupancy occupancy;
  sm::SmCounters counters;              ///< sum over SMs
  sm::OpcodeCounts issued_by_opcode{};  ///< likewise
  std::uint64_t instructions = 0;       ///< executed by the kernel
  std::uint64_t stepped = 0;            ///< of these, stepped one by one
  std::uint64_t sm_active_cycles = 0;   ///< sum over SMs of cycles with a resident CTA
  double sm_clock_mhz = 0;
  std::vector<metrics::MovedBytes> tensors;  ///< what moved of each
  std::uint64_t code_bytes = 0;              ///< read from HBM: instructions
  std::uint64_t earlier_bytes = 0;           ///< written to HBM, but dirty before the launch
};

}  // namespace warpscope::gpu
