// The model on every microbenchmark that was measured: within the tolerance that its row states.
#include "tests/validation/microbenchmarks.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::validation {
namespace {

const std::string kSource = WARPSCOPE_SOURCE_DIR;
/// Rows as near as this count as right in what the test prints.
constexpr double kNear = 0.05;

double simulated_value(const hw::HwConfig& config, const Microbenchmark& benchmark) {
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.warm_l2 = benchmark.warm_l2;
  std::vector<std::int64_t> cycles;
  for (const metrics::LaunchResult& launch : gpu::simulate(config, benchmark.trace, options).launches) {
    cycles.push_back(launch.cycles);
  }
  return benchmark.evaluate(cycles);
}

class Microbenchmarks : public testing::TestWithParam<const char*> {};

TEST_P(Microbenchmarks, ModelAgreesWithMeasurement) {
  hw::HwConfig config = hw::load("h200-sxm-141gb", {}, kSource + "/hwconfigs").config;
  config.launch.boundary_cycles = 0;  // the hardware was timed by the clock inside the kernel
  int rows = 0;
  int near = 0;
  for (const MeasuredRow& row :
       load_measured_rows(kSource + "/tests/validation/data/microbenchmarks_h200.csv")) {
    if (row.group != GetParam()) {
      continue;
    }
    ++rows;
    const Microbenchmark benchmark = make_microbenchmark(row);
    trace::validate(benchmark.trace);
    const double model = simulated_value(config, benchmark);
    const double error = std::abs(model / row.measured - 1);
    near += error <= kNear ? 1 : 0;
    EXPECT_LE(error, row.tolerance) << row.id() << ": model " << model << ", measured " << row.measured << ' '
                                    << row.unit;
  }
  EXPECT_GT(rows, 0);
  fmt::print("{}: {} of {} rows within {:.0f} %\n", GetParam(), near, rows, 100 * kNear);
}

INSTANTIATE_TEST_SUITE_P(H200, Microbenchmarks,
                         testing::Values("op", "pair", "mix", "gemm", "bar", "icache", "cpasync", "red",
                                         "ctagap", "latency", "stream", "wgmma", "bulk"),
                         [](const auto& group) { return std::string(group.param); });

}  // namespace
}  // namespace warpscope::validation
