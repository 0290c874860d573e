// Nothing but the hardware decides when something happens: not how the host runs it.
#include <gtest/gtest.h>

#include "experiments/point/point.hpp"
#include "experiments/point/run.hpp"
#include "kernels/kernel.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::engine {
namespace {

struct Case {
  const char* gpu;
  const char* kernel;
  kernels::Problem problem;
};

class Causality : public testing::TestWithParam<Case> {
 protected:
  metrics::SimulationResult run(const gpu::SimulationOptions& how) const {
    const hw::HwConfig config = hw::load(GetParam().gpu, {}, experiments::config_directory()).config;
    gpu::SimulationOptions options = how;
    options.mode = gpu::Mode::detailed;
    const kernels::Kernel& kernel = kernels::find_kernel(GetParam().kernel);
    return gpu::simulate(config, kernel.build(GetParam().problem, experiments::limits_of(config)), options);
  }
  void expect_same(const gpu::SimulationOptions& how) const {
    const metrics::SimulationResult usual = run({});
    const metrics::SimulationResult other = run(how);
    EXPECT_EQ(other.cycles, usual.cycles);
    ASSERT_EQ(other.launches.size(), usual.launches.size());
    for (std::size_t i = 0; i < usual.launches.size(); ++i) {
      EXPECT_EQ(other.launches[i].metrics, usual.launches[i].metrics);
      EXPECT_EQ(other.launches[i].stall_warp_cycles, usual.launches[i].stall_warp_cycles);
    }
  }
};

TEST_P(Causality, WindowsOfHalfTheLengthChangeNothing) {
  expect_same({.window_divisor = 2});
}
TEST_P(Causality, WindowsOfAQuarterChangeNothing) {
  expect_same({.window_divisor = 4});
}
TEST_P(Causality, TheOrderOfSmsChangesNothing) {
  expect_same({.reverse_sms = true});
}
TEST_P(Causality, ThreadsChangeNothing) {
  expect_same({.threads = 3});
}

INSTANTIATE_TEST_SUITE_P(Points, Causality,
                         testing::Values(Case{"h200-sxm-141gb", "fa2", {1, 4, 4, 700, 700, 128, true}},
                                         Case{"a100-sxm4-80gb", "fa1", {1, 4, 4, 256, 256, 64, false}},
                                         Case{"h100-sxm5-80gb", "standard", {1, 2, 2, 256, 256, 64, false}}),
                         [](const auto& parameter) { return std::string(parameter.param.kernel); });

}  // namespace
}  // namespace warpscope::engine
