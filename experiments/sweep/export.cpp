#include "experiments/sweep/export.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "experiments/base/files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/base/printable.hpp"
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

// Outputs are written piece by piece: a sweep of many points must not need memory for all their results.
using Write = std::function<void(std::string_view text)>;

/// The rows as the file has them, in its order, with the columns of the model.
void write_csv(const SweepRows& rows, const FindOutcome& find, const Write& write) {
  write(fmt::format("{},{}\n", rows.file().header_text(), model_header()));
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    const Outcome outcome = outcome_of(rows.rows()[row], find);
    write(fmt::format("{},{}\n", rows.file().row_text(row),
                      outcome.fate == Fate::done
                          ? model_cells(result_from_json(nlohmann::json::parse(outcome.text)))
                          : error_cells(outcome.text)));
  }
}

/// `json` as an element of an array two levels down, each level by one space.
std::string indented(const Json& json) {
  std::string text = "\n  ";
  for (const char symbol : json.dump(1, ' ', false, Json::error_handler_t::replace)) {
    text += symbol;
    text += symbol == '\n' ? "  " : "";
  }
  return text;
}

/// The same with all metrics, see experiments/README.md.
void write_json(const SweepRows& rows, const FindOutcome& find, const Write& write) {
  write(fmt::format("{{\n \"model_version\": {},\n \"points\": [", Json(model_version()).dump()));
  for (std::size_t row = 0; row < rows.rows().size(); ++row) {
    write(row == 0 ? "" : ",");
    write(indented(point_json(rows, row, find)));
  }
  write(rows.rows().empty() ? "]\n}\n" : "\n ]\n}\n");
}

/// Collects pieces up to a size that is worth a system call.
class Buffered {
 public:
  explicit Buffered(Write write) : write_(std::move(write)) {}

  void add(std::string_view text) {
    constexpr std::size_t kEnough = std::size_t{1} << 20;
    buffer_ += text;
    if (buffer_.size() >= kEnough) {
      flush();
    }
  }
  void flush() {
    write_(buffer_);
    buffer_.clear();
  }

 private:
  Write write_;
  std::string buffer_;
};

void write_to(const std::string& path, const std::function<void(const Write&)>& produce) {
  std::optional<PendingFile> file;
  if (path != "-") {
    file.emplace(path);
  }
  Buffered buffer([&](std::string_view text) { file ? file->write(text) : print_output(text); });
  produce([&](std::string_view text) { buffer.add(text); });
  buffer.flush();
  if (file) {
    file->commit();
  }
}

SweepSummary summary(const SweepRows& rows, const FindOutcome& find) {
  SweepSummary result;
  for (const SweepRow& row : rows.rows()) {
    result.add(outcome_of(row, find).fate);
  }
  return result;
}

}  // namespace

void check_outputs(const SweepOutputs& outputs, std::span<const NamedFile> inputs,
                   std::span<const NamedFile> kept) {
  std::vector<NamedFile> written = {{"-o", outputs.csv}, {"--json", outputs.json}};
  written.insert(written.end(), kept.begin(), kept.end());
  check_apart(inputs, written);
  for (const std::string& output : {outputs.csv, outputs.json}) {
    if (names_file(output)) {
      check_writable(output);
    }
  }
}

SweepSummary write_outputs(const SweepOutputs& outputs, const SweepRows& rows, const FindOutcome& find) {
  write_to(outputs.csv, [&](const Write& write) { write_csv(rows, find, write); });
  if (!outputs.json.empty()) {
    write_to(outputs.json, [&](const Write& write) { write_json(rows, find, write); });
  }
  return summary(rows, find);
}

}  // namespace warpscope::experiments
