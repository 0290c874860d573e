// The points of a study as records: one list for CSV and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

/// Columns of a record by name, in order.
using Record = nlohmann::ordered_json;

/// What every study tells of a point; `more` are the columns of its own. Without a result the numbers are
/// null.
Record study_record(const Point& point, const StudyResult& result, const Record& more);
/// A header and a row for each record, all of which have the same columns; null is empty.
std::string records_csv(std::span<const Record> records);
nlohmann::ordered_json records_json(std::string_view study, std::span<const Record> records);

/// "  - not simulated: fa1 ... : reason" for each point without a result.
std::string missing_notes(std::span<const Point> points, std::span<const StudyResult> results);

/// Share of all cycles of all SMs in which the tensor pipes worked, 0 to 1; as counted.
double tensor_share(const PointResult& result);
/// HBM bytes read and written.
double hbm_bytes(const PointResult& result);
/// "512", "4k".
std::string length_label(std::int64_t seqlen);

}  // namespace warpscope::experiments
