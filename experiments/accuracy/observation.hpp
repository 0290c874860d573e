// What was measured or published about a point, to hold the model against.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/store/point_result.hpp"

namespace warpscope::experiments {

/// Numbers by name: Nsight Compute metrics, and these.
using Numbers = std::map<std::string, double>;
inline constexpr const char* kCycles = "cycles";
inline constexpr const char* kTflops = "TFLOP/s";
inline constexpr const char* kHbmBytes = "HBM bytes";

struct Observation {
  Point point;
  std::string source;  ///< "counters.csv", "Fig. 5"
  Numbers numbers;
};

/// Forward passes of counters.csv, launches of a call added up, and the bars of the paper's Figure 5.
/// `directory` holds the reference data. Throws UsageError where a file is damaged or missing.
std::vector<Observation> all_observations(const std::filesystem::path& directory);

/// The model's numbers, from the result of a point.
Numbers model_numbers(const PointResult& result);

/// "d 64 causal, 512 tokens".
std::string label(const Point& point);

}  // namespace warpscope::experiments
