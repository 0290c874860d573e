// Global memory as an SM sees it: latency, shares of bandwidth, asynchronous copies, stores.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using memory::kPortUnits;

TEST(SmGlobalLoad, TakesTheLatencyOfTheMemory) {
  Program program;
  program.op(LDG_128).writes(4, 4).global(0, 4096, 512).exit().reads(7);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 433, .l2_port_units = 0, .dram_port_units = 0});
  EXPECT_EQ(bench.run(), 433);
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].time, 0);
  EXPECT_EQ(bench.accesses()[0].request.offset, 4096);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 512U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::read);
}

TEST(SmGlobalLoad, ScoreboardIsHeldUntilTheDataIsThere) {
  Program program;
  program.op(LDG_32).sets(3).global(0, 0, 128).op(NOP).stall(1).exit().waits_for(3);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 300, .l2_port_units = 0, .dram_port_units = 0});
  EXPECT_EQ(bench.run(), 300);
  EXPECT_EQ(bench.stalled(metrics::Stall::long_scoreboard), 298U);
}

TEST(SmGlobalLoad, NarrowerShareOfL2AndHbmDecides) {
  for (const auto& [l2_cycles, hbm_cycles] : {std::pair{10, 0}, {10, 7}, {10, 31}}) {
    Program program;
    for (std::uint16_t i = 0; i < 5; ++i) {
      program.op(LDG_32).writes(i).global(0, 0, 128);
    }
    program.exit().reads(4);
    CoreBench bench(test_config(), one_program(program.build()));
    bench.answer(memory::Response{.latency_cycles = 100,
                                  .l2_port_units = l2_cycles * kPortUnits,
                                  .dram_port_units = hbm_cycles * kPortUnits});
    EXPECT_EQ(bench.run(), 5 * std::max(l2_cycles, hbm_cycles) + 100);
  }
}

TEST(SmGlobalLoad, FractionsOfAPortCycleAddUpBeforeRounding) {
  Program program;
  for (std::uint16_t i = 0; i < 6; ++i) {
    program.op(LDG_32).writes(i).global(0, 0, 128);
  }
  program.exit().reads(5);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(
      memory::Response{.latency_cycles = 100, .l2_port_units = 5 * kPortUnits / 2 + 1, .dram_port_units = 0});
  EXPECT_EQ(bench.run(), 16 + 100) << "6 x 2.5 cycles and 6/64, rounded up once";
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

/// Three groups of one copy each, whose data arrives after latencies[i], then DEPBAR.LE `pending`.
std::int64_t groups_waited_for(std::uint16_t pending, std::array<int, 3> latencies) {
  Program program;
  for (std::int64_t i = 0; i < 3; ++i) {
    program.op(LDGSTS_128).global(0, i, 512).op(LDGDEPBAR);
  }
  program.op(DEPBAR_LE).immediate(pending).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer([&](const sm::MemoryRequest& request) {
    return memory::Response{latencies[static_cast<std::size_t>(request.offset)], 0, 0};
  });
  return bench.run() - 1;
}

TEST(SmAsyncCopy, WaitsForAllButTheYoungestGroups) {
  const hw::HwConfig config = test_config();
  // A copy takes the data path for some cycles, the group's end behind it the next free one.
  const int step = config.sm.global.async_copy_lsu_cycles + 1;
  EXPECT_EQ(groups_waited_for(2, {100, 200, 300}), 100);
  EXPECT_EQ(groups_waited_for(1, {100, 200, 300}), step + 200);
  EXPECT_EQ(groups_waited_for(0, {100, 200, 300}), 2 * step + 300);
}

TEST(SmAsyncCopy, WaitsForOlderGroupsEvenIfTheyArriveLater) {
  EXPECT_EQ(groups_waited_for(2, {900, 200, 300}), 900);
  EXPECT_EQ(groups_waited_for(1, {900, 200, 300}), 900);
  EXPECT_EQ(groups_waited_for(0, {900, 200, 300}), 900);
}

TEST(SmAsyncCopy, NoGroupsToWaitForCostsNothing) {
  Program none;
  none.op(DEPBAR_LE).exit();
  EXPECT_EQ(exit_time(test_config(), none), 1);
  EXPECT_LT(groups_waited_for(3, {500, 500, 500}), 20);
}

TEST(SmAsyncCopy, CopiesBehindTheLastGroupAreNotWaitedFor) {
  Program program;
  program.op(LDGSTS_128).global(0, 0, 512).op(LDGDEPBAR).op(LDGSTS_128).global(0, 1, 512);
  program.op(DEPBAR_LE).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer([](const sm::MemoryRequest& request) {
    return memory::Response{request.offset == 0 ? 150 : 800, 0, 0};
  });
  EXPECT_EQ(bench.run(), 151);
}

TEST(SmAsyncCopy, GroupArrivesWithItsLastCopy) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(LDGSTS_128)
      .global(0, 0, 512)
      .op(LDGSTS_128)
      .global(0, 1, 512)
      .op(LDGDEPBAR)
      .op(DEPBAR_LE)
      .exit();
  for (const auto& [first, second] : {std::pair{100, 400}, {400, 100}}) {
    CoreBench bench(config, one_program(program.build()));
    bench.answer([first = first, second = second](const sm::MemoryRequest& request) {
      return memory::Response{request.offset == 0 ? first : second, 0, 0};
    });
    EXPECT_EQ(bench.run(), 1 + std::max(first, second + config.sm.global.async_copy_lsu_cycles));
  }
}

/// When the exit behind `count` stores issues: with the last one's way out of the queue.
std::int64_t store_time(int count, int port_cycles) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{
      .latency_cycles = 700, .l2_port_units = port_cycles * kPortUnits, .dram_port_units = 0});
  return bench.run();
}

TEST(SmStore, DoesNotWaitForTheMemory) {
  // 512 bytes take the data path for four cycles.
  EXPECT_EQ(store_time(1, 0), 1);
  EXPECT_EQ(store_time(4, 0), 4 * 3);
}

TEST(SmStore, BufferHidesTheBacklogUntilItIsFull) {
  const int buffer_stores = test_config().sm.global.store_buffer_bytes / 512;
  ASSERT_EQ(buffer_stores, 8);
  // Store n may leave when all but eight of the stores before it have gone through the port, ten cycles each.
  for (int count = 2; count < 30; ++count) {
    const int last = count - 1;
    EXPECT_EQ(store_time(count, 10), std::max(4 * last, 10 * (last - buffer_stores))) << count;
  }
}

TEST(SmStore, LoadsOfTheSameSubCoreWaitBehindAFullBuffer) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.op(LDS_32).writes(1).shared(128, 1).exit().reads(1);
  const hw::HwConfig config = test_config();
  CoreBench bench(config, one_program(program.build()));
  bench.answer(
      memory::Response{.latency_cycles = 700, .l2_port_units = 10 * kPortUnits, .dram_port_units = 0});
  const int latency = config.sm.shared.base_latency_cycles + 128 / config.sm.shared.sub_core_bytes_per_clk;
  EXPECT_EQ(bench.run(), 10 * (20 - 8) + latency);
}

TEST(SmStore, KindsOfRequestsAreTold) {
  Program program;
  program.op(STG_32).global(0, 0, 128).op(RED_ADD_F32).global(0, 0, 128).op(LDG_32).global(0, 0, 128).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.run();
  ASSERT_EQ(bench.accesses().size(), 3U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::write);
  EXPECT_EQ(bench.accesses()[1].request.kind, memory::AccessKind::reduce);
  EXPECT_EQ(bench.accesses()[2].request.kind, memory::AccessKind::read);
}

}  // namespace
}  // namespace warpscope::test
