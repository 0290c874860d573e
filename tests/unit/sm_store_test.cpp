// Stores and reductions to global memory: the buffers that hide them, and what waits behind these.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

Program repeated(trace::Opcode opcode, int count, std::uint32_t bytes) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(opcode).global(0, 0, bytes);
  }
  return program;
}

/// When the exit behind `count` stores issues: with the last one's way out of the queue.
std::int64_t store_time(int count, std::int32_t answer_cycles) {
  CoreBench bench(test_config(), one_program(repeated(STG_128, count, 512).exit().build()));
  bench.answer(answer_cycles);
  return bench.run();
}

/// When each of `count` stores leaves that take the data path for four cycles, where eight are held until the
/// L2 has taken them.
std::vector<std::int64_t> leave_times(int count, std::int32_t answer_cycles) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < count; ++i) {
    const std::int64_t next = i == 0 ? 0 : times.back() + 4;
    times.push_back(i < 8 ? next : std::max(next, times[static_cast<std::size_t>(i) - 8] + answer_cycles));
  }
  return times;
}

TEST(SmStore, DoesNotWaitForTheMemory) {
  EXPECT_EQ(store_time(1, 700), 1);
  EXPECT_EQ(store_time(4, 700), 4 * 3);
}

TEST(SmStore, BufferHoldsWhatTheL2HasNotTaken) {
  ASSERT_EQ(test_config().sm.global.store_buffer_bytes, 8 * 512);
  for (const std::int32_t answer : {20, 31, 32, 33, 100, 700}) {
    for (int count = 2; count < 30; ++count) {
      EXPECT_EQ(store_time(count, answer), leave_times(count, answer).back()) << count << " " << answer;
    }
  }
}

TEST(SmStore, LargerThanTheBufferWaitsUntilItIsEmpty) {
  hw::HwConfig config = test_config();
  config.sm.global.store_buffer_bytes = 256;
  CoreBench bench(config, one_program(repeated(STG_128, 3, 512).exit().build()));
  bench.answer(100);
  EXPECT_EQ(bench.run(), 200);
}

TEST(SmStore, RoomComesWithWhicheverIsTakenFirst) {
  CoreBench bench(test_config(), one_program(repeated(STG_128, 9, 512).exit().build()));
  int asked = 0;
  bench.answer([&](const sm::MemoryRequest&) { return asked++ == 5 ? 60 : 500; });
  EXPECT_EQ(bench.run(), 5 * 4 + 60);
}

TEST(SmStore, LoadsOfTheSameSubCoreWaitBehindAFullBuffer) {
  const hw::HwConfig config = test_config();
  Program program = repeated(STG_128, 20, 512);
  program.op(LDS_32).writes(1).shared(128, 1).exit().reads(1);
  CoreBench bench(config, one_program(program.build()));
  bench.answer(100);
  const int latency = config.sm.shared.base_latency_cycles + 128 / config.sm.shared.sub_core_bytes_per_clk;
  EXPECT_EQ(bench.run(), leave_times(20, 100).back() + 4 + latency);
}

// 20 loads are on their way for 2000 cycles; the stores behind them leave as if there were none.
TEST(SmStore, DoesNotWaitForLoadsOnTheirWay) {
  Program program = repeated(LDG_32, 20, 128);
  for (int i = 0; i < 8; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  CoreBench bench(test_config(), one_program(program.exit().build()));
  bench.answer(2000);
  EXPECT_EQ(bench.run(), 20 * 2 + 7 * 4);
}

TEST(SmStore, ReductionsGoOnAtTheRateThatTheSmSustains) {
  hw::HwConfig config = test_config();
  ASSERT_EQ(config.sm.global.reduce_interval_cycles, 3);
  ASSERT_EQ(config.sm.global.reduce_sustained_cycles, 5);
  config.sm.global.reduce_buffer_entries = 4;
  CoreBench bench(config, one_program(repeated(RED_ADD_F32, 12, 128).exit().build()));
  bench.answer(50);
  const std::int64_t end = bench.run();
  ASSERT_EQ(bench.accesses().size(), 12U);
  // Four fill the buffer three cycles apart, and go on five apart; the others follow them 50 cycles later.
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> sent;
  for (std::size_t i = 0; i < 12; ++i) {
    const std::int64_t next = i == 0 ? 0 : left.back() + 3;
    left.push_back(i < 4 ? next : std::max(next, sent[i - 4] + 50));
    sent.push_back(i == 0 ? 0 : std::max(left.back(), sent.back() + 5));
    EXPECT_EQ(bench.accesses()[i].time, sent.back()) << i;
  }
  EXPECT_EQ(sent[3], 15);
  EXPECT_EQ(sent[4], 50);
  EXPECT_EQ(end, left.back()) << "the last one has left the queue";
}

TEST(SmStore, EachLineOfAReductionTakesItsOwnTime) {
  hw::HwConfig config = test_config();
  ASSERT_EQ(config.sm.global.reduce_sustained_cycles, 5);
  config.sm.global.reduce_buffer_entries = 20;
  config.sm.global.reduce_whole_entries = 10;
  CoreBench bench(config, one_program(repeated(RED_ADD_F32, 16, 512).exit().build()));
  bench.answer(400);
  bench.run();
  ASSERT_EQ(bench.accesses().size(), 16U);
  // Four lines each, 20 cycles of the port. As 10 of 20 entries hold a whole one each, as many as 20 + 3 * 10
  // lines may be there, those of 12; the next waits for an answer.
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(bench.accesses()[i].time, 20 * static_cast<std::int64_t>(i)) << i;
  }
  EXPECT_EQ(bench.accesses()[12].time, 400);
  EXPECT_EQ(bench.accesses()[13].time, 420);
}

// Room comes for one at a time, and to whoever has waited longest.
TEST(SmStore, SubCoresTakeTurnsWhereTheyWaitForRoom) {
  constexpr int kEach = 16;
  for (const trace::Opcode opcode : {RED_ADD_F32, STG_128}) {
    hw::HwConfig config = test_config();
    config.sm.global.reduce_buffer_entries = 4;
    ASSERT_EQ(config.sm.global.store_buffer_bytes, 8 * 512);
    std::array<int, 4> sent{};
    std::vector<trace::WarpProgram> warps;
    for (std::size_t warp = 0; warp < sent.size(); ++warp) {
      Program program;
      for (int i = 0; i < kEach; ++i) {
        program.op(opcode).global(0, static_cast<std::int64_t>(warp) << 20, 512);
      }
      warps.push_back(program.exit().build());
    }
    CoreBench bench(config, one_warp_each(std::move(warps)));
    bench.answer(100);
    bench.run();
    for (const CoreBench::Access& access : bench.accesses()) {
      ++sent[static_cast<std::size_t>(access.request.asked.offset >> 20)];
      const auto [least, most] = std::ranges::minmax(sent);
      EXPECT_LE(most - least, 1) << access.time << " " << trace::info(opcode).name;
    }
    EXPECT_EQ(sent, (std::array<int, 4>{kEach, kEach, kEach, kEach}));
  }
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
