// The points of a sweep, as a CSV file lists them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "experiments/point/point.hpp"

namespace warpscope::experiments {

/// A points file whose columns are all there. Rows are read one by one, so that a bad one harms no other.
class PointsFile {
 public:
  /// Throws UsageError with file and line where the file as a whole cannot be used: bad CSV, a column that is
  /// missing or named in two ways, or one that the sweep itself adds.
  PointsFile(const std::string& file, const ModelChoice& defaults);

  std::size_t size() const { return table_.rows.size(); }
  /// The point of a row. Throws UsageError `column 'value': what is legal`.
  Point point(std::size_t row) const;
  /// Header and rows as the file has them.
  const std::string& header_text() const { return table_.header.text; }
  const std::string& row_text(std::size_t row) const { return table_.rows[row].text; }
  /// Line of the file where a row begins.
  std::size_t line(std::size_t row) const { return table_.rows[row].line; }
  /// Names of the columns and what a row has in them.
  std::vector<std::pair<std::string, std::string>> fields(std::size_t row) const;

 private:
  /// Column of a field under its name or its other name; kNoColumn if absent.
  std::size_t column_of(std::string_view field) const;
  void check_columns() const;

  CsvTable table_;
  ModelChoice defaults_;
};

}  // namespace warpscope::experiments
