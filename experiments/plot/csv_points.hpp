// Points of a chart from the columns of a CSV file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "experiments/plot/xy_chart.hpp"

namespace warpscope::experiments {

/// Names of columns.
struct ChartColumns {
  std::string x;
  std::string y;
  std::vector<std::string> by;  ///< rows that are equal in these are one line
};

struct CsvPoints {
  std::vector<XyPoint> points;
  std::size_t failed_rows = 0;  ///< left out: their column model_error says why there is no number
  std::size_t lines = 0;
  std::size_t crowded = 0;  ///< points whose line has another one at the same x
};

/// Throws UsageError "file:line: ..." for a column that is not there, with the nearest name, for a cell that
/// is no number, and where there is no row to draw or more than kMostLines lines.
CsvPoints csv_points(const CsvTable& table, const ChartColumns& columns);

}  // namespace warpscope::experiments
