#include "experiments/plot/csv_points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <set>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/data/number.hpp"
#include "model/base/nearest_name.hpp"

namespace warpscope::experiments {
namespace {

void require_column(const CsvTable& table, const std::string& flag, const std::string& name) {
  if (table.column(name) == CsvTable::kNoColumn) {
    const std::vector<std::string>& columns = table.header.fields;
    throw UsageError(fmt::format(
        "{}:{}: {} {}: no such column, nearest is {}; columns are {}", table.file, table.header.line, flag,
        in_quotes(name), base::nearest_name(name, columns, std::identity()), fmt::join(columns, ", ")));
  }
}

bool has_failed(const CsvTable& table, const CsvRecord& row) {
  const std::size_t column = table.column("model_error");
  return column != CsvTable::kNoColumn && !trimmed(row.fields[column]).empty();
}

double number_in(const CsvTable& table, const CsvRecord& row, const std::string& column) {
  const std::string text = cell(table, row, column);
  const std::optional<double> value = finite_number(text);
  if (!value) {
    throw UsageError(fmt::format("{}:{}: column {} {}: legal is a number", table.file, row.line,
                                 in_quotes(column), in_quotes(text)));
  }
  return *value;
}

}  // namespace

CsvPoints csv_points(const CsvTable& table, const ChartColumns& columns) {
  require_column(table, "--x", columns.x);
  require_column(table, "--y", columns.y);
  for (const std::string& column : columns.by) {
    require_column(table, "--by", column);
  }
  CsvPoints result;
  std::set<std::string> lines;
  std::map<std::pair<std::string, double>, std::size_t> rows_at;
  for (const CsvRecord& row : table.rows) {
    if (has_failed(table, row)) {
      ++result.failed_rows;
      continue;
    }
    std::string line;
    for (const std::string& column : columns.by) {
      line += line.empty() ? "" : ", ";
      line += line_label(column, cell(table, row, column));
    }
    const double x = number_in(table, row, columns.x);
    result.points.push_back({x, number_in(table, row, columns.y), line});
    lines.insert(line);
    ++rows_at[{line, x}];
  }
  result.lines = lines.size();
  for (const auto& [place, rows] : rows_at) {
    result.crowded += rows > 1 ? rows : 0;
  }
  if (result.points.empty()) {
    throw UsageError(fmt::format("{}: no row to draw; {} of {} have a model_error", table.file,
                                 result.failed_rows, table.rows.size()));
  }
  if (result.lines > kMostLines) {
    throw UsageError(fmt::format("{}: --by {}: {} lines would not be told apart; legal are up to {}",
                                 table.file, fmt::join(columns.by, ", "), result.lines, kMostLines));
  }
  return result;
}

}  // namespace warpscope::experiments
