#include "experiments/whatif/ensemble.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>

#include "experiments/batch/simulate_points.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/workers/worker_pool.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

namespace statistics = boost::math::statistics;

std::vector<double> times_us(const Ensemble& ensemble) {
  std::vector<double> times;
  for (const PointResult& member : ensemble.members) {
    times.push_back(member.time_us);
  }
  return times;
}

}  // namespace

Point in_phase(Point point, int phase) {
  if (phase > 0) {
    const hw::HwConfig config = hw::load(point.model.gpu, point.model.overrides, config_directory()).config;
    const int turnaround = config.sm.issue.cta_turnaround_cycles + phase;
    point.model.overrides.push_back(fmt::format("sm.issue.cta_turnaround_cycles={}", turnaround));
    point.model.overrides.push_back(
        fmt::format("launch.burst_cta_per_clk={}", config.launch.burst_cta_per_clk / (1 + 0.5 * phase)));
  }
  return point;
}

double Ensemble::mean_time_us() const {
  return statistics::mean(times_us(*this));
}

std::vector<Ensemble> run_ensembles(std::span<const Point> points, const PoolOptions& workers,
                                    const std::string& what) {
  PointSimulator simulator;
  std::vector<KeyedPoint> keyed;
  for (const Point& point : points) {
    for (int phase = 0; phase < kMembers; ++phase) {
      keyed.push_back(simulator.keyed(in_phase(point, phase)));
    }
  }
  ResultStore store(model_version());
  WorkerPool pool([&](const std::string& task) { return simulator.simulate(task); }, workers);
  simulate_points(distinct_by_cost(keyed), store, pool, what);

  std::vector<Ensemble> ensembles;
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (i % kMembers == 0) {
      ensembles.push_back({points[i / kMembers], {}, {}});
    }
    Ensemble& ensemble = ensembles.back();
    const Outcome outcome = store.find(keyed[i].key).value();
    if (outcome.fate == Fate::done) {
      ensemble.members.push_back(result_from_json(nlohmann::json::parse(outcome.text)));
    } else {
      ensemble.error = outcome.text;
    }
  }
  for (Ensemble& ensemble : ensembles) {
    if (!ensemble.error.empty()) {
      ensemble.members.clear();
    }
  }
  return ensembles;
}

double plus_minus(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kOutside = 0.05;
  const auto of_mean = [](const std::vector<double>& values) {  // variance
    return statistics::sample_variance(values) / static_cast<double>(values.size());
  };
  const double variance_a = of_mean(a);
  const double variance_b = of_mean(b);
  const double variance = variance_a + variance_b;
  if (variance <= 0) {
    return 0;
  }
  const double freedom = variance * variance /
                         (variance_a * variance_a / static_cast<double>(a.size() - 1) +
                          variance_b * variance_b / static_cast<double>(b.size() - 1));
  const boost::math::students_t distribution(freedom);
  return boost::math::quantile(boost::math::complement(distribution, kOutside / 2)) * std::sqrt(variance);
}

Difference difference(const Ensemble& a, const Ensemble& b) {
  const double mean_a = a.mean_time_us();
  return {b.mean_time_us() / mean_a - 1, plus_minus(times_us(a), times_us(b)) / mean_a};
}

}  // namespace warpscope::experiments
