// The points of hbm-traffic and the laws that they are held against.
#include <fmt/format.h>

#include <cmath>

#include "experiments/study/hbm_traffic.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kBytesPerElement = 2;

/// What the L2 may hold of written data changes with its capacity.
std::vector<std::string> l2_overrides(const hw::L2& l2, double factor) {
  const auto scaled = [&](std::int64_t bytes) { return std::llround(static_cast<double>(bytes) * factor); };
  return {fmt::format("l2.capacity_bytes={}", scaled(l2.capacity_bytes)),
          fmt::format("l2.dirty_bytes={}", scaled(l2.dirty_bytes))};
}

TrafficPoint traffic_point(const GridGpu& gpu, const hw::HwConfig& config, Method method, int head_dim,
                           int seqlen, double l2_factor) {
  TrafficPoint point{&gpu, method, l2_factor, 0, 0, {}, {}};
  point.l2_bytes = static_cast<double>(config.l2.capacity_bytes) * l2_factor;
  point.shared_bytes = config.sm.shared.bytes;
  point.point = grid_point(gpu.name, gpu.kernels[static_cast<std::size_t>(method)], head_dim, false, seqlen);
  if (l2_factor != 1) {
    point.point.model.overrides = l2_overrides(config.l2, l2_factor);
  }
  return point;
}

/// Scores of all heads.
double scores(const TrafficPoint& point) {
  const kernels::Problem& problem = point.point.problem;
  return static_cast<double>(problem.batch * problem.heads * problem.seqlen_q * problem.seqlen_k);
}

}  // namespace

std::vector<TrafficPoint> traffic_points() {
  std::vector<TrafficPoint> points;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    const hw::HwConfig config = hw::load(std::string(gpu.name), {}, config_directory()).config;
    for (const int head_dim : kGridHeadDims) {
      for (std::size_t m = 0; m < kMethods; ++m) {
        for (const int seqlen : kGridSeqlens) {
          points.push_back(traffic_point(gpu, config, static_cast<Method>(m), head_dim, seqlen, 1));
        }
        for (const double factor : kL2Factors) {
          if (factor != 1) {
            points.push_back(traffic_point(gpu, config, static_cast<Method>(m), head_dim, kL2Seqlen, factor));
          }
        }
      }
    }
  }
  return points;
}

double square_law_bytes(const TrafficPoint& point) {
  return kBytesPerElement * scores(point);
}

double flash_law_bytes(const TrafficPoint& point) {
  const auto head_dim = static_cast<double>(point.point.problem.head_dim);
  const double shared_elements = point.shared_bytes / kBytesPerElement;
  return kBytesPerElement * scores(point) * head_dim * head_dim / shared_elements;
}

double input_bytes(const TrafficPoint& point) {
  const kernels::Problem& problem = point.point.problem;
  const std::int64_t rows =
      problem.batch * (problem.heads * problem.seqlen_q + 2 * problem.heads_kv * problem.seqlen_k);
  return kBytesPerElement * static_cast<double>(rows * problem.head_dim);
}

}  // namespace warpscope::experiments
