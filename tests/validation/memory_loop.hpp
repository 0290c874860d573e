// The loop with which the loaded latency of memory was measured, as a trace
// (experiments/reference/measured-h200/loaded_latency.md).
#pragma once

#include <cstdint>

#include "model/hw/hw_config.hpp"

namespace warpscope::validation {

enum class Stores : std::uint8_t { none, in_place, elsewhere };

/// A CTA of four warps repeats: barrier; load a tile, 16 bytes per thread and load; wait; barrier; store a
/// tile of the same size; compute for a while. It walks its own region, and starts at a random phase.
struct MemoryLoop {
  int tile_bytes = 4096;
  bool loads = true;
  Stores stores = Stores::none;
  int ctas_per_sm = 1;
  int sms = 1;
  std::int64_t footprint_bytes =
      0;                 ///< all CTAs together go round in so many bytes; 0: each byte is touched once
  bool shared = false;   ///< all CTAs go through one region together
  int think_cycles = 0;  ///< of an iteration, from that barrier to the next load
};

struct LoopTimes {
  double latency_cycles = 0;  ///< from the first load of a warp until it has all of its data
  double barrier_cycles =
      0;                     ///< from the first load until the barrier behind them lets go, read-out included
  double period_cycles = 0;  ///< of an iteration
};

/// Runs it in detailed mode on a chip whose L2 is full of clean lines, or of dirty ones where the loop
/// stores. Means over the middle half of the launch, less what the loop costs without memory.
LoopTimes run_memory_loop(const hw::HwConfig& config, const MemoryLoop& loop);

}  // namespace warpscope::validation
