// Times of attention on a H200, measured.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "kernels/kernel.hpp"

namespace warpscope::experiments {

/// A point of the paper's grid: 16384 tokens in all, hidden size 2048, fp16.
struct MeasuredKey {
  std::string implementation;  ///< as the files name it: "fa2", "standard_eager", ...
  kernels::Pass pass = kernels::Pass::forward;
  int head_dim = 64;
  bool causal = false;
  int seqlen = 512;
};
bool operator<(const MeasuredKey& a, const MeasuredKey& b);

/// The files `measured-h200/time_*.csv` of the reference data.
class MeasuredTimes {
 public:
  /// Throws UsageError where a file is damaged or missing.
  explicit MeasuredTimes(const std::filesystem::path& directory);
  /// Median of back-to-back calls, in microseconds; forward and backward together are the sum of the two, as
  /// in the paper. Nothing where nobody measured it.
  std::optional<double> time_us(const MeasuredKey& key) const;

 private:
  std::map<MeasuredKey, double> times_us_;
};

}  // namespace warpscope::experiments
