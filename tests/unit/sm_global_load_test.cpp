// Loads from global memory as an SM sees them: when they leave, and when their data is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/support/loads_arrive.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

TEST(SmGlobalLoad, TakesTheLatencyOfTheMemory) {
  Program program;
  program.op(LDG_128).writes(4, 4).global(0, 4096, 512).exit().reads(7);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(433);
  EXPECT_EQ(bench.run(), 433);
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].time, 0);
  EXPECT_EQ(bench.accesses()[0].request.offset, 4096);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 512U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::read);
}

TEST(SmGlobalLoad, AnAtomicOperationAnswersLater) {
  Program program;
  program.op(ATOM_32).sets(0).global(0, 4096, 4).exit().waits_for(0);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(433);
  EXPECT_EQ(bench.run(), 433 + test_config().sm.global.atomic_cycles);
}

TEST(SmGlobalLoad, IsThereInTheCycleInWhichItArrives) {
  for (const std::int32_t cycles : {1, 2, 37, 400, 401}) {
    EXPECT_EQ(loads_arrive(1, cycles), std::max(1, cycles)) << cycles;
    EXPECT_EQ(loads_arrive(5, cycles), 4 * 2 + cycles) << "the last one leaves in cycle 8";
  }
}

TEST(SmGlobalLoad, AnswersMayComeInAnyOrder) {
  Program program;
  program.op(LDG_32).sets(0).global(0, 0, 128).op(LDG_32).sets(1).global(0, 128, 128);
  program.op(NOP).waits_for(1).op(LDG_32).sets(2).global(0, 256, 128).exit().waits_for(0);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer([](const sm::MemoryRequest& request) { return request.offset == 0 ? 900 : 300; });
  EXPECT_EQ(bench.run(), 900);
  ASSERT_EQ(bench.accesses().size(), 3U);
  EXPECT_EQ(bench.accesses()[2].time, 2 + 300 + 1) << "behind the NOP, which waits for the second";
}

TEST(SmGlobalLoad, ScoreboardIsHeldUntilTheDataIsThere) {
  Program program;
  program.op(LDG_32).sets(3).global(0, 0, 128).op(NOP).stall(1).exit().waits_for(3);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(300);
  EXPECT_EQ(bench.run(), 300);
  EXPECT_EQ(bench.stalled(metrics::Stall::long_scoreboard), 298U);
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

TEST(SmGlobalLoad, BytesBeyondTheSegmentAreNotAskedFor) {
  Program program;
  program.op(LDG_128).global(0, 900, 512).op(LDG_128).writes(1).global(0, 1024, 512).exit().reads(1);
  CoreBench bench(test_config(), one_program(program.build()), 1, {tensor("short", 1000)});
  bench.answer(500);
  const std::int64_t end = bench.run();
  ASSERT_EQ(bench.accesses().size(), 2U);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 100U);
  EXPECT_EQ(bench.accesses()[1].request.bytes, 0U) << "lies outside altogether, and nobody answers it";
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
