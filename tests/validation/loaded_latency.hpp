// Measured rows of loaded latency, and the loops that the model runs for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/validation/memory_loop.hpp"

namespace warpscope::validation {

struct LoadedLatencyRow {
  std::string name;  ///< test, mode, tile, CTAs per SM, SMs, delay
  MemoryLoop loop;   ///< thinks as long as measured between the last datum and the next load
  double measured_latency_cycles = 0;  ///< read-out and barrier subtracted; 0: nothing is loaded
  double measured_period_cycles = 0;
  double moved_bytes_per_cycle = 0;  ///< measured, of the whole chip
  bool chosen_on = false;  ///< one half of the rows, on which parameters may be chosen; the other judges
};

/// The rows of loaded_latency.csv whose loop the model can run with these tests, with the pauses of `delays`.
/// Throws std::runtime_error where the file cannot be read.
std::vector<LoadedLatencyRow> load_loaded_latency(const std::filesystem::path& path,
                                                  const std::vector<int>& delays);

/// The rows of l2_loops.csv: the same loop over 16 MB that the L2 holds.
std::vector<LoadedLatencyRow> load_l2_loops(const std::filesystem::path& path,
                                            const std::vector<int>& delays);

}  // namespace warpscope::validation
