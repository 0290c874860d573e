#include "experiments/accuracy/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "experiments/base/output.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

constexpr const char* kH200 = "h200-sxm-141gb";
constexpr const char* kA100 = "a100-sxm4-80gb";
constexpr std::array kCounted = {"fa2", "fa2_torch", "fa1"};

struct Count {
  const char* what;
  const char* metric;
  double worst_limit;
};

constexpr std::array kCounts = {Count{"HMMA", "sm__inst_executed_pipe_tensor_op_hmma.sum", 0.01},
                                Count{"LDSM", "smsp__inst_executed_op_ldsm.sum", 0.01},
                                Count{"LDGSTS", "smsp__inst_executed_op_ldgsts.sum", 0.01},
                                Count{"MUFU", "sm__inst_executed_pipe_xu.sum", 0.01},
                                Count{"warp instructions", "sm__inst_executed.sum", 0.08}};

constexpr std::array kOthers = {
    AccuracyTarget{kHbmBytes, kHbmBytes, "fa2", kH200, std::nullopt, 0.08},
    AccuracyTarget{kHbmBytes, kHbmBytes, "fa2_torch", kH200, std::nullopt, std::nullopt},
    AccuracyTarget{kHbmBytes, kHbmBytes, "fa1", kH200, std::nullopt, 0.15},
    AccuracyTarget{kHbmBytes, kHbmBytes, "standard_eager", kH200, std::nullopt, 0.15},
    AccuracyTarget{kCycles, kCycles, "fa2", kH200, 0.05, 0.14},
    AccuracyTarget{kCycles, kCycles, "fa2_torch", kH200, 0.05, 0.14},
    AccuracyTarget{kCycles, kCycles, "fa1", kH200, 0.15, std::nullopt},
    // No limit: its matrix products run on other tensor instructions in reality.
    AccuracyTarget{kCycles, kCycles, "standard_eager", kH200, std::nullopt, std::nullopt},
    AccuracyTarget{kTflops, kTflops, "fa2", kA100, 0.05, 0.14},
    AccuracyTarget{kTflops, kTflops, "fa1", kA100, 0.15, std::nullopt},
    AccuracyTarget{kTflops, kTflops, "standard", kA100, 0.15, std::nullopt},
};

std::vector<AccuracyRow> empty_rows() {
  std::vector<AccuracyRow> rows;
  for (const Count& count : kCounts) {
    for (const char* kernel : kCounted) {
      rows.push_back({{count.what, count.metric, kernel, kH200, std::nullopt, count.worst_limit}, {}, {}, 0});
    }
  }
  for (const AccuracyTarget& target : kOthers) {
    rows.push_back({target, {}, {}, 0});
  }
  return rows;
}

/// Adds one simulated observation to the rows that it belongs to; `numbers` is empty where it failed.
void compare(const Observation& observation, const Numbers& numbers, std::vector<AccuracyRow>& rows) {
  for (AccuracyRow& row : rows) {
    const auto reference = observation.numbers.find(row.target.number);
    if (row.target.kernel != observation.point.kernel || row.target.gpu != observation.point.model.gpu ||
        reference == observation.numbers.end() || reference->second == 0) {
      continue;
    }
    row.source = observation.source;
    const auto model = numbers.find(row.target.number);
    if (model == numbers.end()) {
      ++row.failed;
    } else {
      row.errors.add(model->second / reference->second - 1, label(observation.point));
    }
  }
}

/// Empty, with a line on standard error, where the point could not be simulated.
Numbers numbers_of(const Point& point, const Outcome& outcome) {
  if (outcome.fate == Fate::done) {
    return model_numbers(result_from_json(nlohmann::json::parse(outcome.text)));
  }
  print_error(
      fmt::format("{} {} {}: {}", point.model.gpu, point.kernel, label(point), one_line(outcome.text)));
  return {};
}

}  // namespace

bool AccuracyRow::met() const {
  return failed == 0 && errors.count() > 0 && errors.mean() <= target.mean_limit.value_or(HUGE_VAL) &&
         std::abs(errors.worst()) <= target.worst_limit.value_or(HUGE_VAL);
}

bool all_met(const std::vector<AccuracyRow>& rows) {
  return std::ranges::all_of(rows, &AccuracyRow::met);
}

std::vector<AccuracyRow> measure_accuracy(const std::vector<Observation>& observations,
                                          const PoolOptions& workers) {
  PointSimulator simulator;
  std::vector<KeyedPoint> points;
  for (const Observation& observation : observations) {
    points.push_back(simulator.keyed(observation.point));
  }
  ResultStore store(model_version());
  WorkerPool pool([&](const std::string& task) { return simulator.simulate(task); }, workers);
  simulate_points(distinct_by_cost(points), store, pool, "validate");
  std::vector<Numbers> numbers;
  for (const KeyedPoint& point : points) {
    numbers.push_back(numbers_of(point.point, store.find(point.key).value()));
  }

  std::vector<AccuracyRow> rows = empty_rows();
  for (std::size_t i = 0; i < observations.size(); ++i) {
    compare(observations[i], numbers[i], rows);
  }
  // A kernel that never executes an instruction has no row for it: FlashAttention-1 copies without LDGSTS.
  std::erase_if(rows, [](const AccuracyRow& row) { return row.failed == 0 && row.errors.count() == 0; });
  return rows;
}

}  // namespace warpscope::experiments
