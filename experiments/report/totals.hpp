// A run with several launches as one: metrics, traffic and stalls over all of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/point/run.hpp"

namespace warpscope::experiments {

/// HBM bytes of one tensor over the whole run beside its compulsory minimum.
struct TensorRow {
  std::string tensor;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t compulsory_bytes = 0;
  std::uint64_t l2_read_bytes = 0;
  std::uint64_t l2_read_hit_bytes = 0;
  std::uint64_t l2_write_bytes = 0;
};

using StallCycles = std::array<std::uint64_t, metrics::kStallReasons>;

/// Sums of metrics that add up (.sum and cycle counts), means weighted by cycles of all others.
std::map<std::string, double> total_metrics(const metrics::SimulationResult& result);
/// In the order of the trace's tensors; behind them what else crossed HBM.
std::vector<TensorRow> tensor_rows(const Run& run);
StallCycles total_stalls(const metrics::SimulationResult& result);
std::uint64_t sum(const StallCycles& stalls);
/// Indices of the reasons that took any cycles, the longest first.
std::vector<std::size_t> longest_first(const StallCycles& stalls);

/// Value of a metric, or 0 where the model did not report it.
double value(const std::map<std::string, double>& metrics, const std::string& name);

}  // namespace warpscope::experiments
