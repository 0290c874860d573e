// The rows of a points file, read as far as they can be.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiments/base/named_files.hpp"
#include "experiments/batch/point_simulator.hpp"
#include "experiments/sweep/points_file.hpp"

namespace warpscope::experiments {

/// A row is a point, or says why it is none.
struct SweepRow {
  KeyedPoint point;
  std::string error;  ///< empty if there is a point
};

/// All rows of a points file. Throws UsageError as PointsFile does, and where a GPU for all rows is unknown.
class SweepRows {
 public:
  SweepRows(const std::string& file, const ModelChoice& defaults, PointSimulator& simulator);

  const PointsFile& file() const { return file_; }
  std::span<const SweepRow> rows() const { return rows_; }
  /// What is to be simulated, each point once; see distinct_by_cost().
  std::vector<KeyedPoint> points() const;
  /// What was read for them: the points file and the descriptions of their GPUs.
  const std::vector<NamedFile>& inputs() const { return inputs_; }

 private:
  PointsFile file_;
  std::vector<SweepRow> rows_;
  std::vector<NamedFile> inputs_;
};

}  // namespace warpscope::experiments
