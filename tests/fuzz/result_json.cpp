// Results and points as JSON, as stores and workers have them: what is read is what is written, and fits a
// table.
#include "experiments/csv/csv.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/sweep/model_columns.hpp"
#include "tests/fuzz/targets.hpp"

namespace warpscope::fuzz {
namespace {

using namespace experiments;
using Json = nlohmann::json;

/// Damage is reported by the JSON library itself; callers say of which file.
template <typename Check>
bool taken(const Check& check) {
  try {
    check();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

bool result_json(std::string_view input) {
  const Json json = Json::parse(input, nullptr, /*allow_exceptions=*/false);
  const bool result = taken([&] {
    const PointResult read = result_from_json(json);
    require(to_json(result_from_json(to_json(read))) == to_json(read), "a result changes on its way");
    const CsvTable table = parse_csv(model_header() + '\n' + model_cells(read), "cells");
    require(table.rows.size() == 1, "the cells of a result are no row");
  });
  const bool point = taken([&] {
    const Point read = point_from_json(json);
    require(to_json(point_from_json(to_json(read))) == to_json(read), "a point changes on its way");
  });
  return result || point;
}

}  // namespace warpscope::fuzz
