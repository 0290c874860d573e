// CTAs that are not simulated: what their text says that they access, and when they do.
#include "model/fast/unsimulated_ctas.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/fast/echo.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

trace::MemoryOperand row_of_cta(std::int64_t offset) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  operand.offset.offset = offset;
  operand.offset.per_block = {65536, 0, 0};
  operand.offset.per_iteration = {4096, 0, 0};
  operand.offset.per_warp = 512;
  return operand;
}

/// Two warps; ten instructions, then `trips` iterations of ten more that begin with a load, then a store.
trace::Trace loads_in_loop(std::vector<std::uint32_t> trips_of_class) {
  trace::MemoryOperand out = row_of_cta(0);
  out.tensor = 1;
  out.offset.per_iteration = {};
  Program program;
  program.op(FFMA, 10).begin_loop(0).op(LDG_128).writes(1, 4).memory(row_of_cta(0)).op(FFMA, 8).end_loop();
  program.op(STG_128).memory(out).exit();
  trace::Launch launch = one_program(program.build(), 2, 1, {0});
  launch.classes.resize(trips_of_class.size(), launch.classes[0]);
  for (std::size_t c = 0; c < trips_of_class.size(); ++c) {
    launch.classes[c].trip_counts = {trips_of_class[c]};
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(c));
  }
  launch.grid = {static_cast<std::uint32_t>(trips_of_class.size()), 1, 1};
  return {{tensor("in", 1 << 20), tensor("out", 1 << 20)}, {launch}};
}

TEST(CtaOutline, JoinsWhatTheWarpsAccessSideBySide) {
  const trace::Trace trace = loads_in_loop({3});
  const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, trace.launches[0]);
  const auto outline = fast::outline_of(trace, decoded, trace.launches[0].classes[0]);
  ASSERT_TRUE(outline.has_value());
  using Kind = fast::OutlineStep::Kind;
  ASSERT_EQ(outline->size(), 5U);
  EXPECT_EQ((*outline)[0].instructions, 20U);
  EXPECT_TRUE((*outline)[0].accesses.empty());
  EXPECT_EQ((*outline)[1].kind, Kind::loop_begins);
  EXPECT_EQ((*outline)[1].other, 3U);
  EXPECT_EQ((*outline)[2].instructions, 20U);
  ASSERT_EQ((*outline)[2].accesses.size(), 1U);
  EXPECT_EQ((*outline)[2].accesses[0].bytes, 1024);
  EXPECT_EQ((*outline)[3].kind, Kind::loop_ends);
  EXPECT_EQ((*outline)[3].other, 1U);
  EXPECT_EQ((*outline)[4].instructions, 4U);
  ASSERT_EQ((*outline)[4].accesses.size(), 1U);
  EXPECT_EQ((*outline)[4].accesses[0].kind, memory::AccessKind::write);
}

TEST(CtaOutline, IsNoneWhereWarpsGoThroughOtherLoops) {
  trace::Launch launch = one_program(Program().begin_loop(0).op(FFMA).end_loop().exit().build(), 2, 1, {3});
  launch.programs.push_back(Program().op(FFMA).exit().build());
  launch.classes[0].program_of_warp = {0, 1};
  const trace::Trace trace{{}, {launch}};
  const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, launch);
  EXPECT_FALSE(fast::outline_of(trace, decoded, launch.classes[0]).has_value());
  EXPECT_FALSE(fast::UnsimulatedCtas::of(test_config(), trace, launch, 1).has_value());
}

TEST(CtaOutline, CutsLongText) {
  Program program;
  program.op(FFMA, 200).op(LDG_128).writes(1, 4).memory(row_of_cta(0)).op(FFMA, 80).exit();
  const trace::Launch launch = one_program(program.build(), 2, 1, {});
  const trace::Trace trace{{tensor("in", 1 << 20)}, {launch}};
  const sm::DecodedLaunch decoded = sm::decode(test_config(), trace, launch);
  const auto outline = fast::outline_of(trace, decoded, launch.classes[0]);
  ASSERT_TRUE(outline.has_value());
  ASSERT_EQ(outline->size(), 3U);
  EXPECT_EQ((*outline)[0].instructions, 256U);
  EXPECT_TRUE((*outline)[0].accesses.empty())
      << "the CTA does not come to the load within its first 128 instructions";
  EXPECT_EQ((*outline)[1].accesses.size(), 1U);
  EXPECT_EQ((*outline)[2].instructions, 2U * (282 - 256));
}

class UnsimulatedCtas : public testing::Test {
 protected:
  UnsimulatedCtas() { memory_.begin_launch(config_.clock.max_mhz, false); }

  /// So many instructions of a CTA later, one in two cycles.
  std::vector<fast::FreeSlot> advance(std::int64_t instructions) {
    ctas_->observe(static_cast<double>(instructions), static_cast<double>(2 * instructions));
    now_ += 2 * instructions;
    return ctas_->advance(now_, memory_);
  }
  std::uint64_t read() const { return memory_.traffic()[0].l2_read; }

  hw::HwConfig config_ = test_config();
  trace::Trace trace_ = loads_in_loop({3, 1, 0});
  memory::MemorySystem memory_{config_, {{1, 1 << 20}, {1, 1 << 20}}};
  std::optional<fast::UnsimulatedCtas> ctas_ =
      fast::UnsimulatedCtas::of(config_, trace_, trace_.launches[0], 1);
  std::int64_t now_ = 0;
};

TEST_F(UnsimulatedCtas, AccessWhatTheirTextSaysAtItsPace) {
  ctas_->begin(0, {.sm = 3, .slot = 0, .for_instructions = 0});
  EXPECT_TRUE(advance(19).empty());
  EXPECT_EQ(read(), 0U);
  EXPECT_TRUE(advance(1).empty());
  EXPECT_EQ(read(), 1024U);
  EXPECT_TRUE(advance(39).empty());
  EXPECT_EQ(read(), 2048U);
  EXPECT_TRUE(advance(1).empty());
  EXPECT_EQ(read(), 3072U);
  EXPECT_TRUE(advance(20).empty());
  EXPECT_EQ(memory_.traffic()[1].l2_write, 1024U);
  const std::vector<fast::FreeSlot> ended = advance(10);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].sm, 3);
  EXPECT_DOUBLE_EQ(ended[0].for_instructions, 6);
}

TEST_F(UnsimulatedCtas, EndInTheOrderOfTheirLength) {
  ctas_->begin(0, {.sm = 0, .slot = 0, .for_instructions = 0});
  ctas_->begin(1, {.sm = 1, .slot = 0, .for_instructions = 0});
  ctas_->begin(2, {.sm = 2, .slot = 0, .for_instructions = 0});
  const std::vector<fast::FreeSlot> ended = advance(60);
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].sm, 2);
  EXPECT_EQ(ended[1].sm, 1);
}

TEST_F(UnsimulatedCtas, BeginWhenTheSlotBecameFree) {
  advance(100);
  ctas_->begin(0, {.sm = 0, .slot = 0, .for_instructions = 19});
  advance(1);
  EXPECT_EQ(read(), 1024U);
}

TEST_F(UnsimulatedCtas, MakeAllAccessesInTheEnd) {
  ctas_->begin(0, {.sm = 0, .slot = 0, .for_instructions = 0});
  ctas_->finish(1, memory_);
  EXPECT_EQ(read(), 3072U);
  EXPECT_EQ(memory_.traffic()[1].l2_write, 1024U);
}

TEST(UnsimulatedSpills, AreToldInEachIterationAlsoBehindInnerLoops) {
  trace::MemoryOperand spill;
  spill.tensor = 0;
  spill.bytes = 512;
  Program program;
  program.begin_loop(0).begin_loop(1).op(FFMA, 10).end_loop().op(STL).memory(spill).op(FFMA, 9).end_loop();
  program.exit();
  trace::Tensor spills = tensor("spills", 4096);
  spills.kind = trace::TensorKind::local;
  const trace::Trace trace{{spills}, {one_program(program.build(), 1, 1, {4, 3})}};
  const hw::HwConfig config = test_config();
  memory::MemorySystem memory(config, {{1, 4096}});
  memory.begin_launch(config.clock.max_mhz, false);
  auto ctas = fast::UnsimulatedCtas::of(config, trace, trace.launches[0], 1);
  ctas->begin(0, {.sm = 0, .slot = 0, .for_instructions = 0});
  std::vector<std::uint64_t> written;
  sim::Cycles now = 0;
  for (int iteration = 0; iteration < 4; ++iteration) {
    // An iteration has 44 instructions, the branches of both loops among them, the store is number 34.
    for (const int instructions : {34, 10}) {
      ctas->observe(instructions, fast::kSpillsStayCycles);
      now += fast::kSpillsStayCycles;
      ctas->advance(now, memory);
    }
    written.push_back(memory.traffic()[0].l2_write);
  }
  EXPECT_EQ(written, (std::vector<std::uint64_t>{512, 1024, 1536, 2048}));
}

}  // namespace
}  // namespace warpscope::test
