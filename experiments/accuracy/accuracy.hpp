// The accuracy table: how far the model is from reality, and how far it may be.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/accuracy/observation.hpp"
#include "experiments/data/error_statistics.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// A number of some kernel and the errors that are documented as its limit, as shares.
struct AccuracyTarget {
  const char* what;
  const char* number;  ///< key of Numbers
  const char* kernel;
  const char* gpu;
  std::optional<double> mean_limit;
  std::optional<double> worst_limit;
};

struct AccuracyRow {
  AccuracyTarget target;
  std::string source;
  ErrorStatistics errors;
  std::size_t failed = 0;  ///< points that could not be simulated

  bool met() const;
};

/// Simulates all observations and compares.
std::vector<AccuracyRow> measure_accuracy(const std::vector<Observation>& observations,
                                          const PoolOptions& workers);
bool all_met(const std::vector<AccuracyRow>& rows);

std::string accuracy_table(const std::vector<AccuracyRow>& rows);
nlohmann::ordered_json accuracy_json(const std::vector<AccuracyRow>& rows);

}  // namespace warpscope::experiments
