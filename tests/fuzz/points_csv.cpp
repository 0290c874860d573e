// Files of points: every row is a point that survives its way to a worker, or says why not.
#include <algorithm>

#include "experiments/base/usage_error.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/sweep/points_file.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

using namespace experiments;

/// The cells of a table mean the same once they are written anew.
void check_csv(std::string_view input) {
  const CsvTable table = parse_csv(input, "fuzz");
  std::string text;
  const auto add = [&](const CsvRecord& record) {
    text += 'n';  // a column of its own, as a row of nothing but a blank cell would be a blank line
    for (const std::string& field : record.fields) {
      text += ',' + csv_field(field);
    }
    text += '\n';
  };
  if (table.column("n") != CsvTable::kNoColumn) {
    return;
  }
  add(table.header);
  std::ranges::for_each(table.rows, add);
  const CsvTable again = parse_csv(text, "written");
  require(again.rows.size() == table.rows.size(), "a row is lost");
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::vector<std::string>& fields = again.rows[row].fields;
    require(std::equal(fields.begin() + 1, fields.end(), table.rows[row].fields.begin(),
                       table.rows[row].fields.end()),
            "a row reads otherwise");
  }
}

void check_row(const PointsFile& file, std::size_t row) {
  try {
    const Point point = file.point(row);
    require(to_json(point_from_json(to_json(point))) == to_json(point), "a point changes on its way");
    require_one_line(describe(point));
  } catch (const UsageError& error) {
    require_one_line(error.what());
  }
}

}  // namespace

bool points_csv(std::string_view input) {
  static const ScratchFolder folder;
  try {
    check_csv(input);
    const PointsFile file(folder.only("points.csv", input).string(), {"a100-sxm4-80gb", {}, {}});
    for (std::size_t row = 0; row < file.size(); ++row) {
      check_row(file, row);
    }
  } catch (const UsageError& error) {
    require_one_line(error.what());
    return false;
  }
  return true;
}

}  // namespace warpscope::fuzz
