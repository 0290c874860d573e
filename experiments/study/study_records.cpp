#include "experiments/study/study_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/base/printable.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/point/point_json.hpp"

namespace warpscope::experiments {

Record study_record(const Point& point, const StudyResult& result, const Record& more) {
  const kernels::Problem& problem = point.problem;
  Record record = {
      {"gpu", point.model.gpu},       {"set", fmt::format("{}", fmt::join(point.model.overrides, " "))},
      {"kernel", point.kernel},       {"pass", text(problem.pass)},
      {"dtype", text(problem.dtype)}, {"batch", problem.batch},
      {"heads", problem.heads},       {"seqlen", problem.seqlen_q},
      {"head_dim", problem.head_dim}, {"causal", problem.causal ? 1 : 0}};
  const auto add = [&](const char* column, const Record& number) {
    record[column] = result.done() ? number : Record();
  };
  const PointResult& counted = result.result;
  add("model_time_us", counted.time_us);
  add("model_cycles", counted.cycles);
  add("model_tflops", counted.tflops);
  add("model_dram_read_bytes", static_cast<std::uint64_t>(counted.read_bytes()));
  add("model_dram_write_bytes", static_cast<std::uint64_t>(counted.write_bytes()));
  add("compulsory_bytes", counted.compulsory_bytes);
  add("limited_by", counted.limiter);
  add("busiest", counted.busiest);
  add("busiest_share", counted.busiest_share);
  add("tensor_pipe_share", tensor_share(counted));
  record.update(more);
  record["model_error"] = result.done() ? Record() : Record(result.error);
  return record;
}

std::string records_csv(std::span<const Record> records) {
  std::string text;
  const auto add_line = [&](const Record& record, const auto& cell) {
    const char* gap = "";
    for (const auto& [column, value] : record.items()) {
      text += gap;
      text += csv_field(cell(column, value));
      gap = ",";
    }
    text += '\n';
  };
  if (!records.empty()) {
    add_line(records.front(), [](const std::string& column, const Record&) { return column; });
  }
  for (const Record& record : records) {
    add_line(record, [](const std::string&, const Record& value) {
      return value.is_null()     ? std::string()
             : value.is_string() ? one_line(value.get<std::string>())
                                 : value.dump();
    });
  }
  return text;
}

nlohmann::ordered_json records_json(std::string_view study, std::span<const Record> records) {
  Record json = {{"study", study}, {"points", Record::array()}};
  for (const Record& record : records) {
    json["points"].push_back(record);
  }
  return json;
}

std::string missing_notes(std::span<const Point> points, std::span<const StudyResult> results) {
  std::string notes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!results[i].done()) {
      notes += fmt::format("  - not simulated: {}: {}\n", describe(points[i]), one_line(results[i].error));
    }
  }
  return notes;
}

double tensor_share(const PointResult& result) {
  constexpr double kPercent = 100;
  return result.cycles > 0
             ? result.metric("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active") / kPercent *
                   result.metric("sm__cycles_active.avg") / static_cast<double>(result.cycles)
             : 0;
}

double hbm_bytes(const PointResult& result) {
  return result.read_bytes() + result.write_bytes();
}

std::string length_label(std::int64_t seqlen) {
  constexpr std::int64_t kKilo = 1024;
  return seqlen < kKilo ? std::to_string(seqlen) : fmt::format("{}k", seqlen / kKilo);
}

}  // namespace warpscope::experiments
