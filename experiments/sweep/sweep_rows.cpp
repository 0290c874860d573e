#include "experiments/sweep/sweep_rows.hpp"

#include <exception>

#include "experiments/batch/simulate_points.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

PointsFile read_points(const std::string& file, const ModelChoice& defaults) {
  if (!defaults.gpu.empty()) {
    // A GPU for all rows that is unknown is a mistake of the command, not of every row.
    hw::load(defaults.gpu, defaults.overrides, config_directory());
  }
  return {file, defaults};
}

}  // namespace

SweepRows::SweepRows(const std::string& file, const ModelChoice& defaults, PointSimulator& simulator)
    : file_(read_points(file, defaults)) {
  for (std::size_t row = 0; row < file_.size(); ++row) {
    try {
      rows_.push_back({simulator.keyed(file_.point(row)), {}});
    } catch (const std::exception& error) {
      rows_.push_back({{}, error.what()});
    }
  }
  inputs_.push_back({"--points", file});
  for (const std::filesystem::path& description : simulator.gpu_files()) {
    inputs_.push_back({"the GPU of a point", description});
  }
}

std::vector<KeyedPoint> SweepRows::points() const {
  std::vector<KeyedPoint> points;
  for (const SweepRow& row : rows_) {
    if (row.error.empty()) {
      points.push_back(row.point);
    }
  }
  return distinct_by_cost(points);
}

}  // namespace warpscope::experiments
