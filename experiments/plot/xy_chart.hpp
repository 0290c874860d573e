// A chart of numbers over numbers, whatever they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "experiments/plot/line_chart.hpp"

namespace warpscope::experiments {

/// More lines than this would not be told apart.
inline constexpr std::size_t kMostLines = 8;

struct XyPoint {
  double x = 0;
  double y = 0;
  std::string line;  ///< name of the line that it belongs to
};

/// True for numbers above 0 that span more than a factor of 8 and lie like powers: the middle one nearer to
/// the geometric mean of the outer ones than to their arithmetic mean.
bool is_like_powers(std::span<const double> numbers);

/// What a value is called in the name of a line: numbers with what they are, "heads 4", words as they are.
std::string line_label(const std::string& name, const std::string& value);

/// One panel with a line for each name, in the order in which they come; the x axis is logarithmic where
/// is_like_powers() says so, the y axis is linear. At most kMostLines names.
LineChart xy_chart(const std::string& title, const std::string& x_label, const std::string& y_label,
                   std::span<const XyPoint> points, const std::string& subtitle);

}  // namespace warpscope::experiments
