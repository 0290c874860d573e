// The accuracy table: how far the model is from reality, and how far it may be.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/accuracy/observation.hpp"
#include "experiments/data/error_statistics.hpp"

namespace warpscope::experiments {

/// A number of some kernel and the errors that are documented as its limit, as shares.
struct AccuracyTarget {
  const char* what;
  const char* number;  ///< key of Numbers
  const char* kernel;
  const char* source;  ///< of Observation
  std::optional<double> mean_limit;
  std::optional<double> worst_limit;
  kernels::Pass pass = kernels::Pass::forward;
  /// Something of the kernel was counted in the very launches that it is compared with here.
  bool in_sample = false;
};

struct AccuracyRow {
  AccuracyTarget target;
  std::string gpu;
  ErrorStatistics errors;
  std::size_t failed = 0;  ///< points that could not be simulated

  bool met() const;
};

/// Compares the model's numbers, one set for each observation, with what was observed.
std::vector<AccuracyRow> compare_numbers(const std::vector<Observation>& observations,
                                         const std::vector<Numbers>& numbers);
bool all_met(const std::vector<AccuracyRow>& rows);

std::string accuracy_table(const std::vector<AccuracyRow>& rows);
nlohmann::ordered_json accuracy_json(const std::vector<AccuracyRow>& rows);

}  // namespace warpscope::experiments
