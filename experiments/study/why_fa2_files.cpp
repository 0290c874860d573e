// The points of why-fa2 as CSV and JSON.
#include <fmt/format.h>

#include "experiments/base/printable.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/study/why_fa2.hpp"

namespace warpscope::experiments {

std::string grid_csv(std::span<const GridPoint> points) {
  std::string text =
      "gpu,kernel,pass,dtype,batch,heads,seqlen,head_dim,causal,model_time_us,model_cycles,model_tflops,"
      "model_dram_read_bytes,model_dram_write_bytes,compulsory_bytes,limited_by,reference,reference_tflops,"
      "relative_error,model_error\n";
  for (const GridPoint& point : points) {
    const kernels::Problem& problem = point.point.problem;
    text +=
        fmt::format("{},{},fwd,fp16,{},{},{},{},{},", point.point.model.gpu, point.point.kernel,
                    problem.batch, problem.heads, problem.seqlen_q, problem.head_dim, problem.causal ? 1 : 0);
    text += point.error.empty()
                ? fmt::format("{:.3f},{},{:.3f},{},{},{},{},", point.time_us, point.cycles, point.tflops,
                              point.read_bytes, point.write_bytes, point.compulsory_bytes, point.limiter)
                : std::string(7, ',');
    text +=
        point.reference == nullptr
            ? std::string(",,")
            : fmt::format("{},{},", point.reference->source,
                          point.reference->tflops ? fmt::format("{:.2f}", *point.reference->tflops) : "OOM");
    text += fmt::format(
        "{},{}\n",
        point.has_error_against_reference() ? fmt::format("{:.4f}", point.relative_error()) : std::string(),
        csv_field(one_line(point.error)));
  }
  return text;
}

nlohmann::ordered_json grid_json(std::span<const GridPoint> points) {
  using Json = nlohmann::ordered_json;
  Json json = Json::array();
  for (const GridPoint& point : points) {
    const kernels::Problem& problem = point.point.problem;
    Json item = {{"gpu", point.point.model.gpu}, {"kernel", point.point.kernel}, {"pass", "fwd"},
                 {"batch", problem.batch},       {"heads", problem.heads},       {"seqlen", problem.seqlen_q},
                 {"head_dim", problem.head_dim}, {"causal", problem.causal}};
    if (point.error.empty()) {
      item["time_us"] = point.time_us;
      item["cycles"] = point.cycles;
      item["tflops"] = point.tflops;
      item["hbm_read_bytes"] = point.read_bytes;
      item["hbm_write_bytes"] = point.write_bytes;
      item["compulsory_bytes"] = point.compulsory_bytes;
      item["limited_by"] = point.limiter;
      item["busiest"] = {{"resource", point.busiest}, {"share", point.busiest_share}};
      item["stall_shares"] = Json::object();
      for (const auto& [reason, share] : point.stalls) {
        item["stall_shares"][reason] = share;
      }
    } else {
      item["error"] = point.error;
    }
    if (point.reference != nullptr) {
      item["reference"] = {{"source", point.reference->source},
                           {"tflops", point.reference->tflops ? Json(*point.reference->tflops) : Json()}};
    }
    if (point.has_error_against_reference()) {
      item["relative_error"] = point.relative_error();
    }
    json.push_back(std::move(item));
  }
  return json;
}

}  // namespace warpscope::experiments
