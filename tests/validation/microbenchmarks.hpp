// Microbenchmarks as traces: each mirrors a row that was measured on hardware.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::validation {

/// One measured row; data/README.md says what the columns mean.
struct MeasuredRow {
  std::string group;
  std::string name;
  std::string other;
  int warps = 0;
  int n = 0;
  double measured = 0;
  std::string unit;
  double tolerance = 0;  ///< accepted relative difference between model and measurement
  std::string note;

  std::string id() const;
};

/// Rows of a CSV file. Throws std::invalid_argument naming file and line of a malformed row.
std::vector<MeasuredRow> load_measured_rows(const std::filesystem::path& path);

/// What to run for a row, and how its value follows from the cycles of the launches.
struct Microbenchmark {
  trace::Trace trace;
  bool warm_l2 = false;
  std::function<double(const std::vector<std::int64_t>& cycles)> evaluate;
};

/// Throws std::invalid_argument for a row of no known group.
Microbenchmark make_microbenchmark(const MeasuredRow& row);

}  // namespace warpscope::validation
