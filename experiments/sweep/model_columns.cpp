#include "experiments/sweep/model_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/printable.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/report/totals.hpp"

namespace warpscope::experiments {

std::string model_cells(const Run& run) {
  const auto metrics = total_metrics(run.result);
  return fmt::format("{:.3f},{},{:.3f},{:.0f},{:.0f},", run.result.time_us, run.result.cycles, tflops(run),
                     value(metrics, "dram__bytes_read.sum"), value(metrics, "dram__bytes_write.sum"));
}

std::string error_cells(const std::string& error) {
  return std::string(kModelColumns.size() - 1, ',') + csv_field(one_line(error));
}

std::string model_header() {
  return fmt::format("{}", fmt::join(kModelColumns, ","));
}

}  // namespace warpscope::experiments
