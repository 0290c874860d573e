// Mean, bias and worst of relative errors.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

namespace warpscope::experiments {

/// Collects relative errors with the point that each belongs to.
class ErrorStatistics {
 public:
  void add(double error, const std::string& point) {
    ++count_;
    sum_ += error;
    absolute_sum_ += std::abs(error);
    if (count_ == 1 || std::abs(error) > std::abs(worst_)) {
      worst_ = error;
      worst_point_ = point;
    }
  }

  std::size_t count() const { return count_; }
  /// Mean of the absolute values, mean with signs, and the error that is largest either way; 0 if there are
  /// none.
  double mean() const { return count_ == 0 ? 0 : absolute_sum_ / static_cast<double>(count_); }
  double bias() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  double worst() const { return worst_; }
  const std::string& worst_point() const { return worst_point_; }

 private:
  std::size_t count_ = 0;
  double sum_ = 0;
  double absolute_sum_ = 0;
  double worst_ = 0;
  std::string worst_point_;
};

}  // namespace warpscope::experiments
