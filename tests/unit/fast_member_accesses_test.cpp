// Addresses of CTAs that keep step with a simulated one, and what a loop touches per iteration.
#include "model/fast/member_accesses.hpp"

#include <gtest/gtest.h>

#include "model/fast/loop_footprint.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// An L2 at whose partitions SMs lie by turns.
hw::L2 l2_of(int partitions) {
  hw::L2 l2;
  l2.partitions = partitions;
  l2.partition_sms = 1;
  return l2;
}

/// CTAs (4..8, 0, 0), of which (6, 0, 0) is simulated.
fast::SlotMembers five_ctas(const trace::Launch& launch) {
  fast::SlotMembers members;
  for (std::uint32_t x = 4; x < 9; ++x) {
    members.ctas.push_back({launch.classes.data(), {x, 0, 0}, true});
  }
  members.representative = 2;
  return members;
}

TEST(MemberAccesses, CtasOfOneAddressFormARun) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  operand.offset.per_block = {1000, 0, 0};
  operand.offset.block_divisor = {2, 1, 1};
  const trace::Trace trace{{tensor("t", 1 << 20)}, {one_program(Program().exit().build())}};
  const std::vector<trace::MemoryOperand> operands = {operand};
  // SMs 10 to 14, by turns in two partitions.
  fast::MemberAccesses accesses(trace, operands, 1, {10, 5}, l2_of(2));
  accesses.install(0, five_ctas(trace.launches[0]));
  const fast::MemberRuns& runs = accesses.runs(0, 0, 0);  // 4 5 | 6 7 | 8
  EXPECT_EQ(runs.members, 5U);
  EXPECT_EQ(runs.own.members, 2U);
  EXPECT_EQ(runs.own.distance, (sm::Address{0, 0}));
  EXPECT_EQ(runs.own.partitions, 3U);
  ASSERT_EQ(runs.others.size(), 2U);
  EXPECT_EQ(runs.others[0].members, 2U);
  EXPECT_EQ(runs.others[0].distance, (sm::Address{0, -1000}));
  EXPECT_EQ(runs.others[1].members, 1U);
  EXPECT_EQ(runs.others[1].distance, (sm::Address{0, 1000}));
  EXPECT_EQ(runs.others[1].partitions, 1U);
  EXPECT_FALSE(runs.whole_sectors);
}

TEST(MemberAccesses, CtasOfOneAddressNeedNotBeNeighbours) {
  trace::MemoryOperand rows;
  rows.tensor = 0;
  rows.bytes = 512;
  rows.offset.per_block = {1024, 0, 0};
  trace::MemoryOperand columns = rows;
  columns.offset.per_block = {0, 2048, 0};
  trace::MemoryOperand more_columns = columns;
  more_columns.offset.offset = 512;
  trace::Launch launch = one_program(Program().exit().build());
  const trace::Trace trace{{tensor("t", 1 << 20)}, {launch}};
  const std::vector<trace::MemoryOperand> operands = {rows, columns, more_columns};
  fast::MemberAccesses accesses(trace, operands, 1, {0, 5}, l2_of(2));
  fast::SlotMembers members;
  for (std::uint32_t i = 0; i < 6; ++i) {
    members.ctas.push_back({launch.classes.data(), {i % 2, i / 2, 0}, true});
  }
  members.representative = 3;
  accesses.install(0, members);
  EXPECT_EQ(accesses.runs(0, 0, 0).own.members, 3U);
  EXPECT_EQ(accesses.runs(0, 0, 0).own.partitions, 2U) << "SMs 1, 3 and 5";
  ASSERT_EQ(accesses.runs(0, 0, 0).others.size(), 1U);
  EXPECT_EQ(accesses.runs(0, 0, 0).others[0].members, 3U);
  EXPECT_TRUE(accesses.runs(0, 0, 0).whole_sectors);
  EXPECT_EQ(accesses.runs(0, 1, 0).others.size(), 2U);
  EXPECT_EQ(&accesses.runs(0, 1, 0), &accesses.runs(0, 2, 0)) << "the two vary alike from CTA to CTA";
}

/// CTAs that take turns at tiles find the address of each in a table of their class.
TEST(MemberAccesses, TablesSayWhereCtasAreInEachTurn) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  operand.offset.symbol = 0;
  operand.offset.per_symbol = 1024;
  operand.offset.symbol_table = true;
  trace::Launch launch = one_program(Program().exit().build());
  launch.classes.resize(2, launch.classes[0]);
  launch.classes[0].symbols = {0, 5};
  launch.classes[1].symbols = {0, 3};
  const trace::Trace trace{{tensor("t", 1 << 20)}, {launch}};
  const std::vector<trace::MemoryOperand> operands = {operand};
  fast::MemberAccesses accesses(trace, operands, 1, {0, 2}, l2_of(1));
  fast::SlotMembers members;
  for (const trace::CtaClass& cta_class : trace.launches[0].classes) {
    members.ctas.push_back({&cta_class, {}, true});
  }
  accesses.install(0, members);
  EXPECT_EQ(accesses.runs(0, 0, 0, 0).own.members, 2U);
  EXPECT_EQ(accesses.runs(0, 0, 0, 1).own.members, 1U);
  ASSERT_EQ(accesses.runs(0, 0, 0, 1).others.size(), 1U);
  EXPECT_EQ(accesses.runs(0, 0, 0, 1).others[0].distance, (sm::Address{0, -2048}));
  EXPECT_NE(accesses.runs(0, 0, 0, 0).number, accesses.runs(0, 0, 0, 1).number);
}

TEST(MemberAccesses, SpillsHaveASegmentPerSlotOfEachSm) {
  trace::Tensor spills = tensor("spills", 4096);
  spills.kind = trace::TensorKind::local;
  const trace::Trace trace{{spills}, {one_program(Program().exit().build())}};
  const std::vector<trace::MemoryOperand> operands = {
      {.tensor = 0, .segment = {}, .offset = {}, .bytes = 128}};
  fast::MemberAccesses accesses(trace, operands, 3, {0, 5}, l2_of(1));
  accesses.install(1, five_ctas(trace.launches[0]));
  const fast::MemberRuns& runs = accesses.runs(1, 0, 0);
  ASSERT_EQ(runs.others.size(), 4U);
  EXPECT_EQ(runs.others[0].distance.segment, 3) << "the simulated SM is the first of the five";
  EXPECT_EQ(runs.others[3].distance.segment, 12);
}

TEST(MemberAccesses, SpillsOfTheOthersAreLookedUpOnceUntilForgotten) {
  trace::Tensor spills = tensor("spills", 4096);
  spills.kind = trace::TensorKind::local;
  const trace::Trace trace{{spills}, {one_program(Program().exit().build())}};
  const std::vector<trace::MemoryOperand> operands = {
      {.tensor = 0, .segment = {}, .offset = {}, .bytes = 128}};
  fast::MemberAccesses accesses(trace, operands, 1, {0, 5}, l2_of(2));
  accesses.install(0, five_ctas(trace.launches[0]));
  EXPECT_EQ(accesses.runs(0, 0, 256).others.size(), 4U);
  const fast::MemberRuns& again = accesses.runs(0, 0, 256);
  EXPECT_TRUE(again.others.empty());
  EXPECT_EQ(again.own.members, 5U) << "all count";
  EXPECT_EQ(again.own.partitions, 3U);
  EXPECT_EQ(accesses.runs(0, 0, 384).others.size(), 4U) << "another register";
  for (const std::int64_t outside : {std::int64_t{-4096}, std::int64_t{1} << 47}) {
    EXPECT_EQ(accesses.runs(0, 0, outside).others.size(), 4U) << "wherever the trace says";
  }
  accesses.forget_spills();
  EXPECT_EQ(accesses.runs(0, 0, 256).others.size(), 4U);
}

TEST(LoopFootprint, JoinsTheAdjacentAccessesOfTheWarps) {
  trace::MemoryOperand tile;
  tile.tensor = 0;
  tile.bytes = 512;
  tile.offset.per_warp = 1024;
  tile.offset.per_iteration = {8192, 0, 0};
  trace::MemoryOperand upper = tile;
  upper.offset.offset = 512;
  trace::MemoryOperand apart = tile;
  apart.offset.offset = 1 << 20;
  Program program;
  program.begin_loop(0)
      .op(LDG_128)
      .memory(tile)
      .op(LDG_128)
      .memory(upper)
      .op(LDG_128)
      .memory(apart)
      .end_loop();
  const trace::Trace trace{{tensor("t", 1 << 24)},
                           {one_program(program.exit().build_controlled(), 4, 1, {10})}};
  const trace::Launch& launch = trace.launches[0];
  const hw::HwConfig config = test_config();
  const sm::DecodedLaunch decoded = sm::decode(config, trace, launch);
  std::vector<sm::SentRequest> sent;
  sm::SmCore core(config, trace, decoded, 1, sent);
  const sm::ResidentCta cta{launch.classes.data(), {0, 0, 0}, true};
  core.install(0, cta, 0);
  fast::MemberAccesses accesses(trace, decoded.memory_operands, 1, {0, 5}, l2_of(1));
  accesses.install(0, {.ctas = {cta}, .representative = 0});
  const int loop = fast::innermost_loop(decoded, 0);
  ASSERT_EQ(loop, 0);
  const std::vector<fast::Stretch> stretches =
      fast::loop_footprint(core, decoded, std::vector<int>(4, loop), 0, accesses);
  ASSERT_EQ(stretches.size(), 5U) << "one tile of all warps, and four pieces apart";
  EXPECT_EQ(stretches[0].begin.offset, 0);
  EXPECT_EQ(stretches[0].bytes, 4096);
  EXPECT_EQ(stretches[0].step.offset, 8192);
  EXPECT_EQ(stretches[1].begin.offset, 1 << 20);
  EXPECT_EQ(stretches[1].bytes, 512);
}

}  // namespace
}  // namespace warpscope::test
