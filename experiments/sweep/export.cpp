#include "experiments/sweep/export.hpp"

#include <fmt/format.h>

#include "experiments/base/files.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/sweep/model_columns.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

Outcome outcome_of(const SweepRow& row, const FindOutcome& find) {
  return row.error.empty() ? find(row.point.key) : Outcome{Fate::refused, row.error};
}

Json point_json(const SweepRows& rows, std::size_t index, const FindOutcome& find) {
  const SweepRow& row = rows.rows()[index];
  Json json = {{"row", Json::object()}};
  for (const auto& [column, text] : rows.file().fields(index)) {
    json["row"][column] = text;
  }
  if (row.error.empty()) {
    json["point"] = to_json(row.point.point);
  }
  const Outcome outcome = outcome_of(row, find);
  if (outcome.fate == Fate::done) {
    json["result"] = nlohmann::json::parse(outcome.text);
  } else {
    json["error"] = one_line(outcome.text);
  }
  return json;
}

}  // namespace

std::string sweep_csv(const SweepRows& rows, const FindOutcome& find) {
  std::string text = fmt::format("{},{}\n", rows.file().header_text(), model_header());
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    const Outcome outcome = outcome_of(rows.rows()[row], find);
    text += fmt::format("{},{}\n", rows.file().row_text(row),
                        outcome.fate == Fate::done
                            ? model_cells(result_from_json(nlohmann::json::parse(outcome.text)))
                            : error_cells(outcome.text));
  }
  return text;
}

std::string sweep_json(const SweepRows& rows, const FindOutcome& find) {
  Json json = {{"model_version", model_version()}, {"points", Json::array()}};
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    json["points"].push_back(point_json(rows, row, find));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

SweepSummary summary(const SweepRows& rows, const FindOutcome& find) {
  SweepSummary result{rows.rows().size(), 0};
  for (const SweepRow& row : rows.rows()) {
    result.failed += outcome_of(row, find).fate == Fate::done ? 0 : 1;
  }
  return result;
}

void check_writable(const SweepOutputs& outputs) {
  // Each is open for a moment only: a sweep that is killed leaves its store and nothing else.
  static_cast<void>(PendingFile(outputs.csv));
  if (!outputs.json.empty() && outputs.json != "-") {
    static_cast<void>(PendingFile(outputs.json));
  }
}

void check_apart(const SweepOutputs& outputs, const std::string& store) {
  for (const std::string& output : {outputs.csv, outputs.json}) {
    if (!output.empty() && place_of(output) == place_of(store)) {
      throw UsageError(fmt::format("{}: is named as an output and as a store; name two files", output));
    }
  }
}

SweepSummary write_outputs(const SweepOutputs& outputs, const SweepRows& rows, const FindOutcome& find) {
  write_file(outputs.csv, sweep_csv(rows, find));
  if (outputs.json == "-") {
    fmt::print("{}", sweep_json(rows, find));
  } else if (!outputs.json.empty()) {
    write_file(outputs.json, sweep_json(rows, find));
  }
  return summary(rows, find);
}

}  // namespace warpscope::experiments
