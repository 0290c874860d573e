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
  EXPECT_EQ(bench.run(), 432) << "the nearest cycle of the arrival grid";
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].time, 0);
  EXPECT_EQ(bench.accesses()[0].request.offset, 4096);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 512U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::read);
}

/// When `count` loads have arrived that are answered with `response`, all of one warp.
std::int64_t loads_arrive(int count, const memory::Response& response) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(LDG_32).writes(static_cast<std::uint16_t>(i)).global(0, 0, 128);
  }
  program.exit();
  for (int i = 0; i < count; i += 3) {
    program.reads(static_cast<std::uint16_t>(i), static_cast<std::uint8_t>(std::min(3, count - i)));
  }
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(response);
  return bench.run();
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
    EXPECT_EQ(bench.core().counters().data_path_cycles, static_cast<std::uint64_t>(cycles + 1));
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

/// When `count` loads that read `bytes` each from HBM have arrived; the mean wait for a page is 1600 cycles.
std::int64_t burst_arrives(int count, std::int32_t bytes) {
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = bytes;
  response.page_wait_cycles = 1600;
  return loads_arrive(count, response);
}

// The last of n pages takes H(n) = 1 + 1/2 + ... + 1/n mean waits. Loads leave two cycles apart.
TEST(SmPageWait, GrowsAsTheHarmonicNumberOfPagesOfABurst) {
  ASSERT_EQ(test_config().hbm.page_bytes, 1024);
  EXPECT_EQ(burst_arrives(1, 0), 96) << "hits do not wait for pages";
  EXPECT_EQ(burst_arrives(1, 1024), 1696) << "100 + 1600";
  EXPECT_EQ(burst_arrives(2, 1024), 2496) << "2 + 100 + 2400";
  EXPECT_EQ(burst_arrives(3, 1024), 3040) << "4 + 100 + 2933";
  EXPECT_EQ(burst_arrives(4, 1024), 3440) << "6 + 100 + 3333";
}

TEST(SmPageWait, BytesOfABurstAddUpToWholePages) {
  EXPECT_EQ(burst_arrives(1, 32), burst_arrives(1, 1024)) << "at least one page";
  EXPECT_EQ(burst_arrives(1, 1535), burst_arrives(1, 1024)) << "rounded to the nearest";
  EXPECT_EQ(burst_arrives(1, 1536), 2496) << "100 + 2400";
  EXPECT_EQ(burst_arrives(4, 512), 2512) << "6 + 100 + 2400";
}

TEST(SmPageWait, GrowsNoMoreBeyond64Pages) {
  EXPECT_EQ(burst_arrives(1, 64 * 1024), 7696) << "100 + 1600 x 4.7439";
  EXPECT_EQ(burst_arrives(1, 65 * 1024), 7696);
  EXPECT_EQ(burst_arrives(1, 1 << 20), 7696);
}

TEST(SmPageWait, BurstEndsWhenAllItsDataIsThere) {
  Program program;
  program.op(LDG_32).sets(0).global(0, 0, 128).op(LDG_32).sets(0).global(0, 0, 128);
  program.op(LDG_32).waits_for(0).sets(0).global(0, 0, 128).exit().waits_for(0);
  CoreBench bench(test_config(), one_program(program.build()));
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = 1024;
  response.page_wait_cycles = 1600;
  bench.answer(response);
  EXPECT_EQ(bench.run(), 2496 + 1696) << "one page again";
  EXPECT_EQ(bench.accesses()[2].time, 2496);
}

TEST(SmPageWait, BurstsOfCtasAreTheirOwn) {
  Program program;
  program.op(LDG_32).writes(0).global(0, 0, 128).exit().reads(0);
  CoreBench bench(test_config(), one_program(program.build(), 1, 4), 4);
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = 1024;
  response.page_wait_cycles = 1600;
  bench.answer(response);
  EXPECT_EQ(bench.run(), 1696);
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
  EXPECT_EQ(groups_waited_for(2, {100, 200, 300}), 96);
  ASSERT_EQ(step, 6);
  EXPECT_EQ(groups_waited_for(1, {100, 202, 300}), 208) << "6 + 202";
  EXPECT_EQ(groups_waited_for(1, {100, 210, 300}), 224) << "6 + 210";
  EXPECT_EQ(groups_waited_for(1, {100, 209, 300}), 208) << "6 + 209";
  EXPECT_EQ(groups_waited_for(0, {100, 200, 300}), 320) << "12 + 300";
  EXPECT_EQ(groups_waited_for(0, {100, 200, 299}), 304) << "12 + 299";
}

TEST(SmAsyncCopy, WaitsForOlderGroupsEvenIfTheyArriveLater) {
  EXPECT_EQ(groups_waited_for(2, {900, 200, 300}), 896);
  EXPECT_EQ(groups_waited_for(1, {900, 200, 300}), 896);
  EXPECT_EQ(groups_waited_for(0, {900, 200, 300}), 896);
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
  EXPECT_EQ(bench.run(), 144 + 1);
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
  ASSERT_EQ(config.sm.global.async_copy_lsu_cycles, 5) << "by which the second one leaves later";
  for (const auto& [first, second, arrival] :
       {std::array{100, 403, 416}, {100, 402, 400}, {408, 100, 416}, {407, 100, 400}}) {
    CoreBench bench(config, one_program(program.build()));
    bench.answer([first = first, second = second](const sm::MemoryRequest& request) {
      return memory::Response{request.offset == 0 ? first : second, 0, 0};
    });
    EXPECT_EQ(bench.run(), 1 + arrival);
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

// 20 loads keep the L2 port busy for 2000 cycles; the stores behind them leave as if there were none.
TEST(SmStore, DoesNotWaitForTheBacklogOfLoads) {
  const auto last_store = [](int load_port_cycles) {
    Program program;
    for (std::uint16_t i = 0; i < 20; ++i) {
      program.op(LDG_32).global(0, 0, 128);
    }
    for (int i = 0; i < 10; ++i) {
      program.op(STG_128).global(0, 0, 512);
    }
    program.exit();
    CoreBench bench(test_config(), one_program(program.build()));
    bench.answer([&](const sm::MemoryRequest& request) {
      const bool load = request.kind == memory::AccessKind::read;
      return memory::Response{.latency_cycles = 100,
                              .l2_port_units = (load ? load_port_cycles : 4) * kPortUnits};
    });
    return bench.run();
  };
  EXPECT_EQ(last_store(100), last_store(0));
  EXPECT_EQ(last_store(100), 20 * 2 + 9 * 4);
}

TEST(SmStore, LoadsWaitForTheBacklogOfStores) {
  Program program;
  for (int i = 0; i < 4; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.op(LDG_32).writes(1).global(0, 0, 128).exit().reads(1);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 102, .l2_port_units = 10 * kPortUnits});
  EXPECT_EQ(bench.run(), 160) << "5 x 10 + 102";
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
