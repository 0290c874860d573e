#include "experiments/study/why_fa2.hpp"

#include <fmt/format.h>

namespace warpscope::experiments {

void run_why_fa2(const StudyOptions& options) {
  const ForwardReferences references(reference_directory());
  std::vector<GridPoint> grid = forward_grid(references);
  run_study("why-fa2", options, points_of(grid), [&](std::span<const StudyResult> results) {
    take_results(grid, results);
    StudyOutput output{grid_report(grid), grid_csv(grid), grid_json(grid), {}};
    for (const GridGpu& gpu : grid_gpus()) {
      output.pictures.push_back({fmt::format("speed-{}", gpu.name), speed_chart(gpu, grid)});
      output.pictures.push_back({fmt::format("hbm-bytes-{}", gpu.name), traffic_chart(gpu, grid)});
    }
    return output;
  });
}

}  // namespace warpscope::experiments
