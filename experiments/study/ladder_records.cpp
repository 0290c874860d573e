// The ladder as JSON and CSV.
#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {
namespace {

constexpr std::string_view kStallMetric = "smsp__average_warps_issue_stalled_";

Record hbm_traffic(const PointResult& result) {
  Record tensors = Record::array();
  for (const TensorRow& row : result.traffic) {
    if (row.read_bytes + row.write_bytes > 0) {
      tensors.push_back(
          {{"tensor", row.tensor}, {"read_bytes", row.read_bytes}, {"write_bytes", row.write_bytes}});
    }
  }
  return tensors;
}

// Warps per issue by reason, as Nsight Compute has them.
Record stalls(const PointResult& result) {
  Record reasons = Record::object();
  for (const auto& [metric, warps] : result.metrics) {
    const std::size_t begin = kStallMetric.size();
    if (metric.starts_with(kStallMetric)) {
      reasons[metric.substr(begin, metric.find("_per_issue", begin) - begin)] = warps;
    }
  }
  return reasons;
}

void add_counts(Record& record, const LadderCase& of) {
  const PointResult& result = of.result();
  record["time_us"] = result.time_us;
  record["tflops"] = result.tflops;
  record["shared_wavefronts"] = result.metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
  record["barriers"] = result.metric("smsp__inst_executed_op_barrier.sum");
  record["non_matmul_per_score"] = non_matmul_per_score(of);
  record["tensor_share"] = tensor_share(result);
  record["resident_warps"] = result.metric("sm__warps_active.avg.per_cycle_active");
  record["waves"] = result.metric("launch__waves_per_multiprocessor");
  record["limiter"] = result.limiter;
  record["hbm_traffic"] = hbm_traffic(result);
  record["stalls"] = stalls(result);
}

Record record_of(std::span<const LadderCase> cases, const LadderCase& of) {
  const kernels::Problem& problem = of.point.problem;
  Record record = {{"gpu", of.point.model.gpu},
                   {"pass", text(problem.pass)},
                   {"head_dim", problem.head_dim},
                   {"causal", problem.causal},
                   {"seqlen", problem.seqlen_q},
                   {"batch", problem.batch},
                   {"heads", problem.heads},
                   {"series", name(of.series)},
                   {"variant", of.variant},
                   {"change", of.change},
                   {"label", of.label},
                   {"same_as", of.same_as.empty() ? Record() : Record(of.same_as)},
                   {"error", of.done() ? Record() : Record(of.phases.front().error)}};
  const std::optional<Speedup> gained = speedup(cases, of);
  record["speedup"] = gained ? Record(gained->factor) : Record();
  record["speedup_deviation"] = gained && gained->plus_minus ? Record(*gained->plus_minus) : Record();
  if (of.done()) {
    add_counts(record, of);
  }
  return record;
}

}  // namespace

nlohmann::ordered_json ladder_json(std::span<const LadderCase> cases) {
  Record json = {{"title", "Why FlashAttention-2 wins: one change at a time"},
                 {"sentences", ladder_sentences(cases)},
                 {"rungs", Record::array()},
                 {"points", Record::array()}};
  for (const kernels::Pass pass : kLadderPasses) {
    for (const LadderStep& step : ladder_steps(pass)) {
      json["rungs"].push_back({{"pass", text(pass)},
                               {"variant", step.variant.empty() ? "standard" : step.variant},
                               {"label", step.label},
                               {"change", step.description},
                               {"relieves", step.relieves}});
    }
  }
  for (const LadderCase& of : cases) {
    json["points"].push_back(record_of(cases, of));
  }
  return json;
}

std::string ladder_csv(std::span<const LadderCase> cases) {
  std::vector<Record> records;
  for (const LadderCase& of : cases) {
    const std::optional<Speedup> gained = speedup(cases, of);
    Record more = {
        {"series", name(of.series)},
        {"change", of.change},
        {"speedup", gained ? Record(gained->factor) : Record()},
        {"speedup_plus_minus", gained && gained->plus_minus ? Record(*gained->plus_minus) : Record()}};
    Record counts = {{"time_us", 0},
                     {"tflops", 0},
                     {"shared_wavefronts", Record()},
                     {"barriers", Record()},
                     {"non_matmul_per_score", Record()},
                     {"resident_warps", Record()},
                     {"waves", Record()}};
    if (of.done()) {
      add_counts(counts, of);
    }
    for (const char* column :
         {"shared_wavefronts", "barriers", "non_matmul_per_score", "resident_warps", "waves"}) {
      more[column] = counts[column];
    }
    records.push_back(study_record(of.point, of.phases.front(), more));
  }
  return records_csv(records);
}

}  // namespace warpscope::experiments
