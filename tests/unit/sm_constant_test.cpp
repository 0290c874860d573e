// Parameters of a launch: lines that an SM reads for the first time.
#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr int kLatency = 20;
constexpr int kMiss = 30;
constexpr int kFirstMiss = 100;

hw::HwConfig constant_config() {
  hw::HwConfig config = test_config();
  config.sm.constant = {.latency_cycles = kLatency, .miss_cycles = kMiss, .first_miss_cycles = kFirstMiss};
  return config;
}

/// One ULDC after the other, each of a line.
Program operands(std::initializer_list<std::uint16_t> lines) {
  Program program;
  for (const std::uint16_t line : lines) {
    program.op(ULDC).immediate(line);
  }
  return program.exit();
}

/// What an operand of a launch's first instruction waits for: it is asked for while the instruction comes,
/// from whose arrival the bench counts.
std::int64_t first_wait(const hw::HwConfig& config) {
  return kFirstMiss - config.sm.icache.l1_fill_cycles;
}

TEST(SmConstant, OperandsWaitForTheirLineOnce) {
  const hw::HwConfig config = constant_config();
  const std::int64_t first = first_wait(config);
  EXPECT_EQ(exit_time(config, operands({0})), first + 1) << "the first line comes from beyond the caches";
  EXPECT_EQ(exit_time(config, operands({0, 0})), first + 2);
  EXPECT_EQ(exit_time(config, operands({0, 1})), first + kMiss + 2);
  EXPECT_EQ(exit_time(config, operands({0, 1, 0, 1})), first + kMiss + 4);
}

TEST(SmConstant, WarpsWaitForTheSameLine) {
  const hw::HwConfig config = constant_config();
  EXPECT_EQ(exit_time(config, operands({3}), 4), first_wait(config) + 1) << "one on each sub-core";
}

TEST(SmConstant, WaitsOfOperandsAreImcMisses) {
  CoreBench bench(constant_config(), one_program(operands({5}).build()));
  bench.run();
  EXPECT_EQ(bench.stalled(metrics::Stall::imc_miss), static_cast<std::uint64_t>(kFirstMiss));
}

TEST(SmConstant, LoadsGoOnAndTheirReadersWait) {
  CoreBench bench(constant_config(),
                  one_program(Program().op(LDC).writes(16).op(IADD3).writes(17).reads(16).exit().build()));
  EXPECT_EQ(bench.run(), kFirstMiss + kLatency + 1);
  EXPECT_EQ(bench.stalled(metrics::Stall::imc_miss), 0U);
}

TEST(SmConstant, LoadsAndOperandsKeepLinesOfTheirOwn) {
  const Program program = Program().op(LDC).writes(16).op(ULDC).exit();
  EXPECT_EQ(exit_time(constant_config(), program), 1 + kMiss + 1);
}

}  // namespace
}  // namespace warpscope::test
