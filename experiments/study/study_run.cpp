#include "experiments/study/study_run.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/files.hpp"
#include "experiments/base/output.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/page/study_page.hpp"
#include "experiments/plot/gnuplot.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

std::vector<StudyResult> simulate(std::span<const Point> points, const PoolOptions& workers,
                                  ResultStore& store) {
  PointSimulator simulator;
  std::vector<KeyedPoint> keyed;
  for (const Point& point : points) {
    keyed.push_back(simulator.keyed(point));
  }
  WorkerPool pool([&](const std::string& task) { return simulator.simulate(task); }, workers);
  simulate_points(distinct_by_cost(keyed), store, pool, "study");
  std::vector<StudyResult> results;
  for (const KeyedPoint& point : keyed) {
    const Outcome outcome = store.find(point.key).value();
    if (outcome.fate == Fate::done) {
      results.push_back({"", result_from_json(nlohmann::json::parse(outcome.text))});
    } else {
      results.push_back({outcome.text, {}});
    }
  }
  return results;
}

}  // namespace

void run_study(std::string_view name, const StudyOptions& options, std::span<const Point> points,
               const MakeOutput& make_output) {
  const std::filesystem::path directory = options.directory;
  require_gnuplot();
  make_directory(directory);
  ResultStore store(directory / fmt::format("{}.store", name),
                    options.resume ? ResultStore::Use::go_on : ResultStore::Use::fresh, model_version());
  const StudyOutput output = make_output(simulate(points, options.workers, store));

  print_output(output.report);
  write_file(directory / fmt::format("{}.txt", name), output.report);
  write_file(directory / fmt::format("{}.csv", name), output.csv);
  write_file(directory / fmt::format("{}.json", name), output.json.dump(2) + '\n');
  const std::string page = html(study_page(name, output));
  write_file(directory / fmt::format("{}.html", name), page);
  if (!options.report.empty()) {
    write_file(options.report, names_page(options.report) ? page : output.report);
  }
  std::string pictures;
  for (const TextFile& table : output.tables) {
    write_file(directory / table.name, table.text);
    pictures += fmt::format("{}{}", pictures.empty() ? "" : ", ", table.name);
  }
  for (const Picture& picture : output.pictures) {
    std::visit([&](const auto& chart) { draw(chart, directory / picture.name); }, picture.chart);
    pictures += fmt::format("{}{}.svg", pictures.empty() ? "" : ", ", picture.name);
  }
  store.remove();
  print_output(
      fmt::format("\nWritten to {}: {}.html, .txt, .csv, .json; {}\n", directory.string(), name, pictures));
}

}  // namespace warpscope::experiments
