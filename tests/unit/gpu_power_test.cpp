// Energy of launches, and the clock that the power limit leaves.
#include "model/gpu/power.hpp"

#include <gtest/gtest.h>

#include "model/trace/opcode.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::test {
namespace {

using trace::Opcode;

TEST(LaunchEnergy, CountsInstructionsWavefrontsAndBytes) {
  hw::Energy energy;
  energy.ffma_pj = 3;
  energy.wgmma_pj_per_flop = 0.5;
  energy.fmul_pj = 5;
  energy.local_wavefront_pj = 7;
  energy.shared_load_pj = 11;
  energy.shared_load_wavefront_pj = 13;
  energy.l2_read_pj_per_byte = 17;
  energy.hbm_write_pj_per_byte = 19;
  gpu::LaunchCounts counts;
  const auto issue = [&](Opcode opcode, std::uint64_t times) {
    counts.issued_by_opcode[static_cast<std::size_t>(opcode)] = times;
  };
  issue(Opcode::FFMA, 100);
  issue(Opcode::FADD, 200);
  issue(Opcode::LDL_128, 10);
  issue(Opcode::LDSM_X4, 20);
  issue(Opcode::HGMMA_64X128X16_F32, 2);
  issue(Opcode::UMOV, 1000);  // not measured
  counts.counters.shared_load_wavefronts = 80;
  counts.tensors.resize(2);
  counts.tensors[0].l2_read = 64;
  counts.tensors[1].l2_read = 32;
  counts.tensors[1].hbm_write = 128;
  const metrics::Energy of_launch = gpu::launch_energy(energy, counts);
  const double core_pj = 100 * 3 + 200 * 5 + 10 * 4 * 7 + 20 * 11 + 80 * 13 + 96 * 17 + 2 * 65536 * 0.5;
  EXPECT_DOUBLE_EQ(of_launch.core_j, core_pj * 1e-12);
  EXPECT_DOUBLE_EQ(of_launch.hbm_j, 128 * 19 * 1e-12);
}

hw::Power power(double limit_w, double static_w, double voltage_slope, double voltage_floor) {
  return {.limit_w = limit_w,
          .static_w = static_w,
          .voltage_slope = voltage_slope,
          .voltage_floor = voltage_floor,
          .energy = {}};
}

TEST(RelativeVoltage, FallsToItsFloorAndStaysThere) {
  const hw::Power falling = power(0, 0, 1, 0.8);
  EXPECT_DOUBLE_EQ(gpu::relative_voltage(falling, 1), 1);
  EXPECT_NEAR((1 - gpu::relative_voltage(falling, 0.999)) / 0.001, 1, 0.002);
  EXPECT_NEAR(gpu::relative_voltage(falling, 0.8), 0.85, 1e-12);
  EXPECT_NEAR(gpu::relative_voltage(falling, 0.6), 0.8, 1e-12);
  EXPECT_NEAR(gpu::relative_voltage(falling, 0.3), 0.8, 1e-12);
  EXPECT_DOUBLE_EQ(gpu::relative_voltage(power(0, 0, 0, 0.8), 0.5), 1);
}

/// Launches of 1000 us each that take 0.1 J of the GPU and 0.02 J of HBM.
metrics::SimulationResult launches(int count) {
  metrics::SimulationResult result;
  for (int i = 0; i < count; ++i) {
    metrics::LaunchResult launch;
    launch.cycles = 800000;
    launch.sm_clock_mhz = 800;
    launch.time_us = 1000;
    launch.energy = {.core_j = 0.1, .hbm_j = 0.02};
    result.launches.push_back(launch);
    result.time_us += 1000;
  }
  return result;
}

hw::HwConfig limited_to(double watts) {
  hw::HwConfig config = test_config();
  config.launch.overhead_us = 0;
  config.power = power(watts, 20, 0, 1);
  return config;
}

TEST(SettleClock, LeavesItBelowTheLimit) {
  metrics::SimulationResult result = launches(2);
  gpu::settle_clock(limited_to(141), result);
  EXPECT_DOUBLE_EQ(result.power_w, 140);
  EXPECT_FALSE(result.is_power_limited);
  EXPECT_DOUBLE_EQ(result.time_us, 2000);
  EXPECT_DOUBLE_EQ(result.launches[0].sm_clock_mhz, 800);
}

TEST(SettleClock, LowersItUntilPowerIsAtTheLimit) {
  metrics::SimulationResult result = launches(1);
  gpu::settle_clock(limited_to(100), result);  // 20 W + 120 W x 2 / 3
  EXPECT_TRUE(result.is_power_limited);
  EXPECT_NEAR(result.power_w, 100, 1e-6);
  EXPECT_NEAR(result.launches[0].sm_clock_mhz, 800 * 2 / 3.0, 1e-6);
  EXPECT_NEAR(result.time_us, 1500, 1e-6);
  EXPECT_EQ(result.launches[0].cycles, 800000);
}

TEST(SettleClock, LowersItLessWhereTheVoltageFallsToo) {
  hw::HwConfig config = limited_to(100);
  config.power.voltage_slope = 1;
  config.power.voltage_floor = 0.8;
  metrics::SimulationResult result = launches(1);
  gpu::settle_clock(config, result);
  const double share = result.launches[0].sm_clock_mhz / 800;
  const double volts = gpu::relative_voltage(config.power, share);
  EXPECT_GT(share, 0.75);
  EXPECT_NEAR(20 + (100 * volts * volts + 20) * share, 100, 1e-6);
}

TEST(SettleClock, CountsGapsAsTimeWithoutLoad) {
  hw::HwConfig config = limited_to(1000);
  config.launch.overhead_us = 500;
  metrics::SimulationResult result = launches(2);
  gpu::settle_clock(config, result);
  EXPECT_DOUBLE_EQ(result.power_w, 20 + 0.24 / 3000e-6);
}

TEST(SettleClock, DoesNothingWhereTheLimitIsNotKnown) {
  metrics::SimulationResult result = launches(1);
  gpu::settle_clock(limited_to(0), result);
  EXPECT_EQ(result.power_w, 0);
  EXPECT_DOUBLE_EQ(result.launches[0].sm_clock_mhz, 800);
}

}  // namespace
}  // namespace warpscope::test
