#include "experiments/batch/simulate_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/base/interruption.hpp"
#include "experiments/base/progress.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/point/run.hpp"

namespace warpscope::experiments {
namespace {

/// Longest first; nothing but the order follows from it.
double rough_work(const kernels::Problem& problem) {
  const auto [rows, cols, depth] = problem.matrix;
  return credited_flops(problem) + 2.0 * static_cast<double>(problem.batch) * static_cast<double>(rows) *
                                       static_cast<double>(cols) * static_cast<double>(depth + 1);
}

bool is_missing(const KeyedPoint& point, ResultStore& store) {
  const std::optional<Outcome> known = store.find(point.key);
  return !known || known->fate == Fate::died;
}

}  // namespace

std::vector<KeyedPoint> distinct_by_cost(std::span<const KeyedPoint> points) {
  std::set<std::string_view> keys;
  std::vector<KeyedPoint> result;
  for (const KeyedPoint& point : points) {
    if (keys.insert(point.key).second) {
      result.push_back(point);
    }
  }
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [](const KeyedPoint& point) { return rough_work(point.point.problem); });
  return result;
}

void simulate_points(std::span<const KeyedPoint> points, ResultStore& store, Workers& workers,
                     const std::string& what) {
  std::vector<const KeyedPoint*> missing;
  std::vector<Task> tasks;
  for (const KeyedPoint& point : points) {
    if (is_missing(point, store)) {
      missing.push_back(&point);
      tasks.push_back(PointSimulator::task(point));
    }
  }
  Progress progress(what, points.size(), points.size() - missing.size());
  std::size_t done = points.size() - missing.size();
  const TaskDone keep = [&](std::size_t task, const Outcome& outcome) {
    store.put(missing[task]->key, to_json(missing[task]->point).dump(), outcome);
    done += outcome.fate == Fate::died ? 0 : 1;
    progress.advance();
  };
  try {
    run_tasks(tasks, workers, keep);
  } catch (const Interrupted& interrupted) {
    throw Interrupted(interrupted.signal(),
                      store.is_in_place()
                          ? fmt::format("{}: {} of {} points are done and safe in {}; go on with --resume",
                                        interrupted.what(), done, points.size(), store.file().string())
                          : interrupted.what());
  }
}

}  // namespace warpscope::experiments
