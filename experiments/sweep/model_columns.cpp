#include "experiments/sweep/model_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/printable.hpp"
#include "experiments/csv/csv.hpp"

namespace warpscope::experiments {

std::string model_cells(const PointResult& result) {
  return fmt::format("{:.3f},{},{:.3f},{:.0f},{:.0f},", result.time_us, result.cycles, result.tflops,
                     result.read_bytes(), result.write_bytes());
}

std::string error_cells(const std::string& error) {
  return std::string(kModelColumns.size() - 1, ',') + csv_field(one_line(error));
}

std::string model_header() {
  return fmt::format("{}", fmt::join(kModelColumns, ","));
}

}  // namespace warpscope::experiments
