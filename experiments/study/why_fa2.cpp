#include "experiments/study/why_fa2.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/store/model_version.hpp"

namespace warpscope::experiments {

void run_why_fa2(const StudyOptions& options) {
  const std::filesystem::path directory = options.directory;
  require_gnuplot();
  make_directory(directory);
  const ForwardReferences references(reference_directory());
  std::vector<GridPoint> points = forward_grid(references);
  ResultStore store(directory / "why-fa2.store",
                    options.resume ? ResultStore::Use::go_on : ResultStore::Use::fresh, model_version());
  run_grid(points, options.workers, store);

  const std::string report = grid_report(points);
  print_output(report);
  write_file(directory / "why-fa2.txt", report);
  write_file(directory / "why-fa2.csv", grid_csv(points));
  write_file(directory / "why-fa2.json", grid_json(points).dump(2) + '\n');
  for (const GridGpu& gpu : grid_gpus()) {
    draw(speed_chart(gpu, points), directory / fmt::format("speed-{}", gpu.name));
    draw(traffic_chart(gpu, points), directory / fmt::format("hbm-bytes-{}", gpu.name));
  }
  store.remove();
  print_output(fmt::format("\nWritten to {}: why-fa2.txt, .csv, .json; speed-*.svg, hbm-bytes-*.svg\n",
                           directory.string()));
}

}  // namespace warpscope::experiments
