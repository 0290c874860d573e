#include "experiments/study/forward_grid.hpp"

#include <algorithm>

namespace warpscope::experiments {
namespace {

constexpr int kTokens = 16384;
constexpr int kHiddenSize = 2048;

}  // namespace

Point grid_point(std::string_view gpu, std::string_view kernel, int head_dim, bool causal, int seqlen) {
  Point point;
  point.model.gpu = gpu;
  point.kernel = kernel;
  point.problem.batch = kTokens / seqlen;
  point.problem.heads = point.problem.heads_kv = kHiddenSize / head_dim;
  point.problem.seqlen_q = point.problem.seqlen_k = seqlen;
  point.problem.head_dim = head_dim;
  point.problem.causal = causal;
  return point;
}

std::string_view name(Method method) {
  static constexpr std::array<std::string_view, kMethods> kNames = {"standard", "FA1", "FA2"};
  return kNames[static_cast<std::size_t>(method)];
}

std::string colour(Method method) {
  static constexpr std::array<const char*, kMethods> kColours = {"#7d8597", "#e8893a", "#1f6fa8"};
  return kColours[static_cast<std::size_t>(method)];
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
            point.point = grid_point(gpu.name, gpu.kernels[m], head_dim, causal, seqlen);
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

void take_result(GridPoint& point, const PointResult& result) {
  point.time_us = result.time_us;
  point.cycles = result.cycles;
  point.tflops = result.tflops;
  point.read_bytes = static_cast<std::uint64_t>(result.read_bytes());
  point.write_bytes = static_cast<std::uint64_t>(result.write_bytes());
  point.compulsory_bytes = result.compulsory_bytes;
  point.limiter = result.limiter;
  point.busiest = result.busiest;
  point.busiest_share = result.busiest_share;
  point.stalls = result.stalls;
  std::ranges::stable_sort(point.stalls, [](const auto& a, const auto& b) { return a.second > b.second; });
}

std::vector<Point> points_of(std::span<const GridPoint> grid) {
  std::vector<Point> points;
  for (const GridPoint& point : grid) {
    points.push_back(point.point);
  }
  return points;
}

void take_results(std::vector<GridPoint>& grid, std::span<const StudyResult> results) {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid[i].error = results[i].error;
    if (results[i].done()) {
      take_result(grid[i], results[i].result);
    }
  }
}

}  // namespace warpscope::experiments
