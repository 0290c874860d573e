#include "experiments/study/forward_grid.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/progress.hpp"
#include "experiments/base/worker_pool.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::json;

constexpr int kTokens = 16384;
constexpr int kHiddenSize = 2048;

Point grid_point(const GridGpu& gpu, Method method, int head_dim, bool causal, int seqlen) {
  Point point;
  point.model.gpu = gpu.name;
  point.kernel = gpu.kernels[static_cast<std::size_t>(method)];
  point.problem.batch = kTokens / seqlen;
  point.problem.heads = point.problem.heads_kv = kHiddenSize / head_dim;
  point.problem.seqlen_q = point.problem.seqlen_k = seqlen;
  point.problem.head_dim = head_dim;
  point.problem.causal = causal;
  return point;
}

/// What the study needs of a run, as a worker hands it over.
Json summary_json(const Run& run) {
  const Utilisation busy = utilisation(run);
  const Resource resource = busiest(busy);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t compulsory = 0;
  for (const TensorRow& row : tensor_rows(run)) {
    read += row.read_bytes;
    written += row.write_bytes;
    compulsory += row.compulsory_bytes;
  }
  Json json = {{"time_us", run.result.time_us},
               {"cycles", run.result.cycles},
               {"tflops", tflops(run)},
               {"read_bytes", read},
               {"write_bytes", written},
               {"compulsory_bytes", compulsory},
               {"limiter", limiter_name(busy)},
               {"busiest", name(resource)},
               {"busiest_share", busy[static_cast<std::size_t>(resource)]},
               {"stalls", Json::array()}};
  const StallCycles stalls = total_stalls(run.result);
  const double total = std::max(1.0, static_cast<double>(sum(stalls)));
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    json["stalls"].push_back(
        {metrics::name(static_cast<metrics::Stall>(i)), static_cast<double>(stalls[i]) / total});
  }
  return json;
}

void take_summary(GridPoint& point, const Json& json) {
  json.at("time_us").get_to(point.time_us);
  json.at("cycles").get_to(point.cycles);
  json.at("tflops").get_to(point.tflops);
  json.at("read_bytes").get_to(point.read_bytes);
  json.at("write_bytes").get_to(point.write_bytes);
  json.at("compulsory_bytes").get_to(point.compulsory_bytes);
  json.at("limiter").get_to(point.limiter);
  json.at("busiest").get_to(point.busiest);
  json.at("busiest_share").get_to(point.busiest_share);
  json.at("stalls").get_to(point.stalls);
  std::ranges::stable_sort(point.stalls, [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

std::string_view name(Method method) {
  static constexpr std::array<std::string_view, kMethods> kNames = {"standard", "FA1", "FA2"};
  return kNames[static_cast<std::size_t>(method)];
}

std::span<const GridGpu> grid_gpus() {
  // The measurements on H200 are of PyTorch's eager sequence, the paper's bars of its benchmark's.
  static constexpr std::array kGpus = {
      GridGpu{"a100-sxm4-80gb", "A100 SXM4 80 GB", {"standard", "fa1", "fa2"}, "published"},
      GridGpu{"h100-sxm5-80gb", "H100 SXM5 80 GB", {"standard", "fa1", "fa2"}, ""},
      GridGpu{"h200-sxm-141gb", "H200 SXM 141 GB", {"standard_eager", "fa1", "fa2"}, "measured"},
  };
  return kGpus;
}

std::vector<GridPoint> forward_grid(const ForwardReferences& references) {
  std::vector<GridPoint> points;
  for (const GridGpu& gpu : grid_gpus()) {
    for (const int head_dim : kGridHeadDims) {
      for (const bool causal : {false, true}) {
        for (const int seqlen : kGridSeqlens) {
          for (std::size_t m = 0; m < kMethods; ++m) {
            GridPoint point;
            point.gpu = &gpu;
            point.method = static_cast<Method>(m);
            point.point = grid_point(gpu, point.method, head_dim, causal, seqlen);
            point.reference =
                references.find({std::string(gpu.name), point.point.kernel, head_dim, causal, seqlen});
            points.push_back(std::move(point));
          }
        }
      }
    }
  }
  return points;
}

void run_grid(std::vector<GridPoint>& points, int workers, Journal& journal) {
  std::vector<std::size_t> unknown;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < points.size(); ++i) {
    keys.push_back(journal_key(points[i].point));
    if (const std::string* known = journal.find(keys.back())) {
      take_summary(points[i], Json::parse(*known));
    } else {
      unknown.push_back(i);
    }
  }
  journal.open();
  Progress progress("study", unknown.size());
  const auto job = [&](std::size_t task) {
    return summary_json(run_point(points[unknown[task]].point)).dump();
  };
  const auto done = [&](std::size_t task, const JobOutcome& outcome) {
    GridPoint& point = points[unknown[task]];
    if (outcome.ok) {
      take_summary(point, Json::parse(outcome.text));
      journal.add(keys[unknown[task]], outcome.text);
    } else {
      point.error = outcome.text;
    }
    progress.advance();
  };
  run_in_processes(unknown.size(), workers, job, done);
}

}  // namespace warpscope::experiments
