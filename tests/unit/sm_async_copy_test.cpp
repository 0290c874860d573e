// Groups of asynchronous copies and what waits for them.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// Three groups of one copy each, whose data arrives after latencies[i], then DEPBAR.LE `pending`.
std::int64_t groups_waited_for(std::uint16_t pending, std::array<int, 3> latencies) {
  Program program;
  for (std::int64_t i = 0; i < 3; ++i) {
    program.op(LDGSTS_128).global(0, i, 512).op(LDGDEPBAR);
  }
  program.op(DEPBAR_LE).immediate(pending).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(
      [&](const sm::MemoryRequest& request) { return latencies[static_cast<std::size_t>(request.offset)]; });
  return bench.run() - 1;
}

TEST(SmAsyncCopy, WaitsForAllButTheYoungestGroups) {
  const hw::HwConfig config = test_config();
  // A copy takes the data path for some cycles, the group's end behind it the next free one.
  const int step = config.sm.global.async_copy_lsu_cycles + 1;
  EXPECT_EQ(groups_waited_for(2, {100, 200, 300}), 100);
  ASSERT_EQ(step, 6);
  EXPECT_EQ(groups_waited_for(1, {100, 202, 300}), 208) << "6 + 202";
  EXPECT_EQ(groups_waited_for(1, {209, 202, 300}), 209);
  EXPECT_EQ(groups_waited_for(0, {100, 200, 300}), 312) << "12 + 300";
  EXPECT_EQ(groups_waited_for(0, {100, 200, 299}), 311) << "12 + 299";
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
  bench.answer([](const sm::MemoryRequest& request) { return request.offset == 0 ? 150 : 800; });
  EXPECT_EQ(bench.run(), 150 + 1);
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
       {std::array{100, 403, 408}, {100, 402, 407}, {408, 100, 408}, {407, 100, 407}}) {
    CoreBench bench(config, one_program(program.build()));
    bench.answer([first = first, second = second](const sm::MemoryRequest& request) {
      return request.offset == 0 ? first : second;
    });
    EXPECT_EQ(bench.run(), 1 + arrival);
  }
}

// Measured: copy_path.csv.
TEST(SmAsyncCopy, DataTakeTheDataPathAsTheyArrive) {
  hw::HwConfig config = test_config();
  Program program;
  program.op(LDGSTS_128).global(0, 0, 512).stall(15).op(NOP).stall(15).op(NOP).stall(10);
  program.op(LDSM_X4).shared(512, 4).stall(1).sets(1).exit().waits_for(1);
  const auto end = [&](int fill_cycles, std::int32_t arrival) {
    config.sm.global.async_copy_fill_cycles = fill_cycles;
    CoreBench bench(config, one_program(program.build()));
    bench.answer([&](const sm::MemoryRequest&) { return arrival; });
    return bench.run();
  };
  const std::int64_t alone = end(0, 40);
  EXPECT_EQ(end(3, 40), alone + 3) << "they come as the LDSM would be served";
  EXPECT_EQ(end(3, 38), alone + 1) << "and here two cycles before";
  EXPECT_EQ(end(3, 30), alone) << "long before";
  EXPECT_EQ(end(3, 60), alone) << "and behind it";
}

/// When all but `pending` of twelve groups have arrived, each of one copy, as told by `answer`.
std::int64_t of_twelve_groups(std::uint16_t pending, const CoreBench::Answer& answer) {
  Program program;
  for (std::int64_t i = 0; i < 12; ++i) {
    program.op(LDGSTS_128).global(0, i, 512).op(LDGDEPBAR);
  }
  program.op(DEPBAR_LE).immediate(pending).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(answer);
  return bench.run() - 1;
}

// An SM tells eight groups apart; of more the two oldest become one, which no wait takes apart.
TEST(SmAsyncCopy, WaitsForTheRightGroupsWhereThereAreMoreThanItTellsApart) {
  static_assert(sm::kAsyncGroups == 8);
  for (std::uint16_t pending = 0; pending <= trace::kMostPendingGroups; ++pending) {
    for (int late = 0; late < 12; ++late) {
      // One group comes late, at 2000; the others at 1000, six cycles apart.
      const auto answer = [&](const sm::MemoryRequest& request) {
        const auto group = static_cast<std::int32_t>(request.offset);
        return (group == late ? 2000 : 1000) - 6 * group;
      };
      EXPECT_EQ(of_twelve_groups(pending, answer), late < 12 - pending ? 2000 : 1000)
          << pending << " " << late;
    }
  }
}

}  // namespace
}  // namespace warpscope::test
