// Loads from global memory as an SM sees them: latency, the grid of arrivals, shares of bandwidth.
#include <gtest/gtest.h>

#include <utility>

#include "tests/support/loads_arrive.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using memory::kPortUnits;

TEST(SmGlobalLoad, TakesTheLatencyOfTheMemory) {
  Program program;
  program.op(LDG_128).writes(4, 4).global(0, 4096, 512).exit().reads(7);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 433, .l2_port_units = 0, .dram_port_units = 0});
  EXPECT_EQ(bench.run(), 432) << "the nearest cycle of the arrival grid";
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].time, 0);
  EXPECT_EQ(bench.accesses()[0].request.offset, 4096);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 512U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::read);
}

TEST(SmGlobalLoad, ArrivesOnTheNearestCycleOfTheGrid) {
  static_assert(sm::kArrivalGrid == 16);
  for (const auto& [latency, arrival] :
       {std::pair{400, 400}, {401, 400}, {407, 400}, {408, 416}, {415, 416}, {416, 416}}) {
    EXPECT_EQ(loads_arrive(1, memory::Response{.latency_cycles = latency}), arrival) << latency;
  }
}

// The grid is one of absolute time: a load that leaves five cycles later arrives where the grid says.
TEST(SmGlobalLoad, GridDoesNotMoveWithTheRequest) {
  Program program;
  program.op(NOP).stall(5).op(LDG_32).sets(0).global(0, 0, 128).exit().waits_for(0);
  for (const auto& [latency, arrival] : {std::pair{400, 400}, {402, 400}, {403, 416}}) {
    CoreBench bench(test_config(), one_program(program.build()));
    bench.answer(memory::Response{.latency_cycles = latency});
    EXPECT_EQ(bench.run(), arrival) << latency;
    EXPECT_EQ(bench.accesses()[0].time, 5);
  }
}

TEST(SmGlobalLoad, ScoreboardIsHeldUntilTheDataIsThere) {
  Program program;
  program.op(LDG_32).sets(3).global(0, 0, 128).op(NOP).stall(1).exit().waits_for(3);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 300, .l2_port_units = 0, .dram_port_units = 0});
  EXPECT_EQ(bench.run(), 304);
  EXPECT_EQ(bench.stalled(metrics::Stall::long_scoreboard), 302U);
}

// Contiguous bytes take the passes that they need; lanes whose words lie in one bank take one each.
TEST(SmGlobalLoad, HoldsTheDataPathForItsWavefronts) {
  for (const auto& [wavefronts, cycles] : {std::pair{0, 8}, {4, 8}, {32, 32}}) {
    trace::MemoryOperand operand;
    operand.tensor = 0;
    operand.bytes = 1024;
    operand.wavefronts = static_cast<std::uint16_t>(wavefronts);
    Program program;
    program.op(LDG_16).sets(1).memory(operand).op(LDS_32).holds(0).shared(128, 1).exit().waits_for(0);
    CoreBench bench(test_config(), one_program(program.build()));
    EXPECT_EQ(bench.run(), cycles + 1) << wavefronts;
    EXPECT_EQ(bench.core().counters().data_path_cycles, cycles + 1);
    EXPECT_EQ(bench.accesses()[0].request.bytes, 1024U);
  }
}

TEST(SmGlobalLoad, NarrowerShareOfL2AndHbmDecides) {
  const auto arrival = [](int latency, int l2_cycles, int hbm_cycles) {
    return loads_arrive(5, memory::Response{.latency_cycles = latency,
                                            .l2_port_units = l2_cycles * kPortUnits,
                                            .dram_port_units = hbm_cycles * kPortUnits});
  };
  // 5 x 10 + 102 is the last cycle but one that is rounded up to 160, 5 x 31 + 101 lies on the grid.
  EXPECT_EQ(arrival(102, 10, 0), 160);
  EXPECT_EQ(arrival(101, 10, 0), 144);
  EXPECT_EQ(arrival(102, 10, 7), 160);
  EXPECT_EQ(arrival(101, 10, 7), 144);
  EXPECT_EQ(arrival(109, 10, 31), 272);
  EXPECT_EQ(arrival(108, 10, 31), 256);
}

TEST(SmGlobalLoad, ItsOwnPortLimitsAnSmLikeItsShares) {
  memory::Response response{.latency_cycles = 102};
  response.sm_port_units = 10 * kPortUnits;
  EXPECT_EQ(loads_arrive(5, response), 160);
  response.latency_cycles = 101;
  EXPECT_EQ(loads_arrive(5, response), 144);
}

TEST(SmGlobalLoad, BurstsMayBeAheadOfTheSharesButNotOfThePort) {
  const auto arrival = [](int latency, int slack_cycles, int port_cycles) {
    memory::Response response{.latency_cycles = latency,
                              .l2_port_units = 10 * kPortUnits,
                              .dram_port_units = 10 * kPortUnits,
                              .l2_slack_units = slack_cycles * kPortUnits,
                              .dram_slack_units = slack_cycles * kPortUnits};
    response.sm_port_units = port_cycles * kPortUnits;
    return loads_arrive(5, response);
  };
  EXPECT_EQ(arrival(106, 20, 0), 144) << "5 x 10 - 20 + 106";
  EXPECT_EQ(arrival(105, 20, 0), 128);
  EXPECT_EQ(arrival(104, 1000, 0), 112) << "the last one leaves in cycle 8";
  EXPECT_EQ(arrival(102, 1000, 10), 160);
}

TEST(SmGlobalLoad, FractionsOfAPortCycleAddUpBeforeRounding) {
  memory::Response response{.latency_cycles = 104, .l2_port_units = 5 * kPortUnits / 2 + 1};
  EXPECT_EQ(loads_arrive(6, response), 128) << "6 x 2.5 cycles and 6/64, rounded up once to 16: 120";
  response.latency_cycles = 103;
  EXPECT_EQ(loads_arrive(6, response), 112) << "16 + 103";
}

TEST(SmGlobalLoad, BytesBeyondTheSegmentAreNotAskedFor) {
  Program program;
  program.op(LDG_128).global(0, 900, 512).op(LDG_128).writes(1).global(0, 1024, 512).exit().reads(1);
  CoreBench bench(test_config(), one_program(program.build()), 1, {tensor("short", 1000)});
  bench.answer(memory::Response{.latency_cycles = 500, .l2_port_units = 0, .dram_port_units = 0});
  const std::int64_t end = bench.run();
  ASSERT_EQ(bench.accesses().size(), 1U) << "the second load lies outside altogether";
  EXPECT_EQ(bench.accesses()[0].request.bytes, 100U);
  EXPECT_LT(end, 20);
}

TEST(SmGlobalLoad, SpillsComeFromTheL1) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(LDL).writes(1).global(0, 0, 128).exit().reads(1);
  CoreBench bench(config, one_program(program.build()), 1,
                  {tensor("spill", 4096, 1, trace::TensorKind::local)});
  EXPECT_EQ(bench.run(), config.sm.global.l1_latency_cycles);
  EXPECT_TRUE(bench.accesses().empty());
}

}  // namespace
}  // namespace warpscope::test
