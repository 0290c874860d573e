#include "experiments/study/why_fa2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {

void run_why_fa2(const StudyOptions& options) {
  const ForwardReferences references(reference_directory());
  std::vector<GridPoint> grid = forward_grid(references);
  std::vector<LadderCase> ladder = ladder_cases();
  std::vector<Point> points = points_of(grid);
  std::ranges::move(points_of(ladder), std::back_inserter(points));
  run_study("why-fa2", options, points, [&](std::span<const StudyResult> results) {
    take_results(grid, results.first(grid.size()));
    take_results(ladder, results.subspan(grid.size()));
    StudyOutput output{grid_report(grid) + "\n" + ladder_report(ladder), grid_csv(grid), {}, {}, {}};
    output.json = {{"study", "why-fa2"}};
    output.json.update(ladder_json(ladder));
    output.json["grid"] = grid_json(grid);
    output.tables.push_back({"ladder.csv", ladder_csv(ladder)});
    for (const GridGpu& gpu : grid_gpus()) {
      output.pictures.push_back({fmt::format("speed-{}", gpu.name), speed_chart(gpu, grid)});
      output.pictures.push_back({fmt::format("hbm-bytes-{}", gpu.name), traffic_chart(gpu, grid)});
      output.pictures.push_back(
          {fmt::format("ladder-{}", gpu.name), ladder_chart(gpu, kernels::Pass::forward, ladder)});
    }
    for (const GridGpu& gpu : summary_gpus()) {
      output.pictures.push_back(
          {fmt::format("ladder-backward-{}", gpu.name), ladder_chart(gpu, kernels::Pass::backward, ladder)});
    }
    return output;
  });
}

}  // namespace warpscope::experiments
