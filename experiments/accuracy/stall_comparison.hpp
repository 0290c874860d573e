// Stall reasons of the model beside those that Nsight Compute counted.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/accuracy/observation.hpp"
#include "experiments/data/error_statistics.hpp"

namespace warpscope::experiments {

/// One reason of one kernel, in warps that wait for it per issued instruction.
struct StallRow {
  std::string kernel;   ///< "fa1", or "fa1 bwd"
  std::string source;   ///< of Observation
  std::string reason;   ///< "sum": all of them
  double measured = 0;  ///< mean over the points
  double model = 0;
  ErrorStatistics differences;  ///< model less measured; shares of the measured one for "sum"
};

/// Of kernels whose calls are one launch each; points that could not be simulated are left out.
std::vector<StallRow> compare_stalls(const std::vector<Observation>& observations,
                                     const std::vector<Numbers>& numbers);

std::string stall_table(const std::vector<StallRow>& rows);
nlohmann::ordered_json stall_json(const std::vector<StallRow>& rows);

}  // namespace warpscope::experiments
