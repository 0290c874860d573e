// Signals of the GPU in a VCD file, and the time of the kernel beside them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/gpu/simulate.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"
#include "tests/support/vcd_reader.hpp"

namespace warpscope::gpu {
namespace {

/// What is traced of `trace` on the GPU of tests.
test::Vcd vcd_of(const trace::Trace& trace, metrics::SimulationResult& result) {
  // Tests run at the same time.
  const std::string file =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_test.vcd";
  SimulationOptions options;
  options.mode = Mode::detailed;
  options.vcd_file = file;
  result = simulate(test::test_config(), trace, options);
  std::ifstream stream(file);
  test::Vcd vcd = test::read_vcd(stream);
  std::filesystem::remove(file);
  return vcd;
}

/// Each of 5 CTAs loads 4 KB and writes them elsewhere.
trace::Trace copies() {
  test::Program program;
  for (std::int64_t i = 0; i < 8; ++i) {
    program.op(trace::Opcode::LDG_128).writes(1, 4).global(0, 512 * i, 512);
    program.op(trace::Opcode::STG_128).reads(1, 4).global(1, 512 * i, 512);
  }
  program.exit();
  const trace::Launch launch = test::one_program(program.build(), 1, 5);
  return {{test::tensor("a", 1 << 12), test::tensor("b", 1 << 12, 1, trace::TensorKind::output)},
          {launch, launch}};
}

TEST(Vcd, HasASignalForEveryPartOfTheChip) {
  metrics::SimulationResult result;
  const test::Vcd vcd = vcd_of(copies(), result);
  EXPECT_EQ(vcd.timescale, "1 fs");
  for (const char* signal :
       {"gpu.sm0.resident_ctas", "gpu.sm2.instructions_per_cycle", "gpu.sm1.requests_in_flight",
        "gpu.dispatcher.dispatched_ctas", "gpu.dispatcher.free_slots", "gpu.dispatcher.active_sms",
        "gpu.l2.requests_in_flight", "gpu.l2.read_bytes_per_cycle", "gpu.l2.hit_bytes_per_cycle",
        "gpu.l2.write_bytes_per_cycle", "gpu.hbm.read_gb_per_s", "gpu.hbm.write_gb_per_s"}) {
    EXPECT_TRUE(vcd.signals.contains(signal)) << signal;
  }
  EXPECT_EQ(vcd.signals.size(), 3U * 3 + 3 + 4 + 2);
  EXPECT_TRUE(vcd.times_rise);
}

TEST(Vcd, AreasUnderRatesAreWhatMoved) {
  metrics::SimulationResult result;
  const test::Vcd vcd = vcd_of(copies(), result);
  const double cycle = 1e6;  // femtoseconds at 1 GHz
  double l2_read = 0;
  double l2_write = 0;
  double hbm_read = 0;
  double instructions = 0;
  for (const metrics::LaunchResult& launch : result.launches) {
    for (const metrics::TensorTraffic& tensor : launch.traffic) {
      l2_read += static_cast<double>(tensor.l2_read_bytes);
      l2_write += static_cast<double>(tensor.l2_write_bytes);
      hbm_read += static_cast<double>(tensor.dram_read_bytes);
    }
    instructions += launch.metrics.at("sm__inst_executed.sum");
  }
  EXPECT_EQ(instructions, 2 * 5 * 17);
  EXPECT_EQ(l2_read, 2 * 5 * 4096);
  EXPECT_NEAR(vcd.area("gpu.l2.read_bytes_per_cycle") / cycle, l2_read, 1e-3 * l2_read);
  EXPECT_NEAR(vcd.area("gpu.l2.write_bytes_per_cycle") / cycle, l2_write, 1e-3 * l2_write);
  EXPECT_NEAR(vcd.area("gpu.hbm.read_gb_per_s") / cycle, hbm_read, 1e-3 * hbm_read)
      << "a GB/s is a byte per ns";
  double issued = 0;
  for (const char* sm : {"gpu.sm0", "gpu.sm1", "gpu.sm2"}) {
    issued += vcd.area(std::string(sm) + ".instructions_per_cycle") / cycle;
  }
  EXPECT_NEAR(issued, instructions, 1e-3 * instructions);
}

TEST(Vcd, LaunchesFollowOneAnotherInTime) {
  metrics::SimulationResult result;
  const test::Vcd vcd = vcd_of(copies(), result);
  const double second_us = result.launches[0].time_us + 2.0;  // behind the gap of the description
  const auto& resident = vcd.signals.at("gpu.sm0.resident_ctas");
  std::vector<double> starts;
  for (const auto& [time, value] : resident) {
    if (value == 2) {
      starts.push_back(static_cast<double>(time) / 1e9);
    }
  }
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0], 0);
  EXPECT_NEAR(starts[1], second_us, 1e-6);
}

TEST(Vcd, ChangesNoNumber) {
  metrics::SimulationResult traced;
  vcd_of(copies(), traced);
  const metrics::SimulationResult plain = simulate(test::test_config(), copies(), {.mode = Mode::detailed});
  EXPECT_EQ(traced.cycles, plain.cycles);
  EXPECT_EQ(traced.launches[0].metrics, plain.launches[0].metrics);
}

TEST(Vcd, IsOfDetailedModeAndHasItsSuffix) {
  SimulationOptions options;
  options.vcd_file = "out.vcd";
  EXPECT_THROW(simulate(test::test_config(), copies(), options), std::invalid_argument);
  options.mode = Mode::detailed;
  options.vcd_file = "out";
  EXPECT_THROW(simulate(test::test_config(), copies(), options), std::invalid_argument);
}

}  // namespace
}  // namespace warpscope::gpu
