// The points of parallelism, and how their CTAs fill the GPU.
#include <algorithm>
#include <cmath>

#include "experiments/study/parallelism.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {

std::vector<ParallelPoint> parallel_points() {
  std::vector<ParallelPoint> points;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    const int sm_count = hw::load(std::string(gpu.name), {}, config_directory()).config.gpu.sm_count;
    for (const int head_dim : kGridHeadDims) {
      for (const int seqlen : kParallelismSeqlens) {
        for (const Method method : {Method::fa1, Method::fa2}) {
          for (const int batch_heads : kBatchHeads) {
            ParallelPoint point{&gpu, sm_count, method, {}, {}};
            point.point.model.gpu = gpu.name;
            point.point.kernel = gpu.kernels[static_cast<std::size_t>(method)];
            kernels::Problem& problem = point.point.problem;
            problem.heads = problem.heads_kv = batch_heads;
            problem.seqlen_q = problem.seqlen_k = seqlen;
            problem.head_dim = head_dim;
            points.push_back(std::move(point));
          }
        }
      }
    }
  }
  return points;
}

Filling filling(const ParallelPoint& point) {
  constexpr double kWarpLanes = 32;
  const PointResult& result = point.outcome.result;
  const auto metric = [&](const char* name) { return result.metric(name); };
  Filling filling;
  filling.ctas = metric("launch__grid_size");
  filling.waves = metric("launch__waves_per_multiprocessor");
  const double elapsed = static_cast<double>(result.cycles);
  const double active = metric("sm__cycles_active.avg");
  const double warps_per_cta = metric("launch__block_size") / kWarpLanes;
  if (elapsed <= 0 || warps_per_cta <= 0 || filling.waves <= 0) {
    return filling;
  }
  filling.busy_sms = point.sm_count * active / elapsed;
  const double slots = filling.ctas / filling.waves / point.sm_count;
  const double resident_ctas =
      metric("sm__warps_active.avg.per_cycle_active") * active / elapsed / warps_per_cta;
  filling.idle_slots = 1 - resident_ctas / slots;
  filling.last_wave = 1 - filling.waves / std::ceil(filling.waves);
  return filling;
}

}  // namespace warpscope::experiments
