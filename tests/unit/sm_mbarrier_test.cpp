// mbarriers of a CTA, the copies that they count, and named barriers of some warps.
#include <gtest/gtest.h>

#include "model/sm/mbarrier_phases.hpp"
#include "model/sm/sm_state.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr int kBulkLatency = 17;
constexpr std::int32_t kAnswer = 100;

hw::HwConfig bulk_config() {
  hw::HwConfig config = test_config();
  config.sm.bulk.latency_cycles = kBulkLatency;
  return config;
}

trace::Launch with_rings(trace::Launch launch, std::vector<trace::MbarrierRing> rings) {
  launch.mbarriers = std::move(rings);
  return launch;
}

TEST(MbarrierPhases, AreCompleteAfterArrivalsAndBytes) {
  sm::MbarrierPhases phases({{2, 2, 4096, false}}, 3);
  phases.reset();
  EXPECT_FALSE(phases.arrive(0, 0, 10));
  EXPECT_EQ(phases.phase_of_copies(0, 0), 0U);
  EXPECT_FALSE(phases.arrive(1, 0, 30));
  EXPECT_FALSE(phases.move_bytes(0, 0, 1024, 50));
  EXPECT_EQ(phases.ready(2, 0), sm::kNever);
  EXPECT_TRUE(phases.move_bytes(0, 0, 3072, 40));
  EXPECT_EQ(phases.ready(2, 0), 50);
  phases.pass(2, 0);
  EXPECT_EQ(phases.ready(2, 0), sm::kNever);  // phase 1, on the other mbarrier
  EXPECT_EQ(phases.ready(1, 0), 50);          // whoever has not waited yet
  phases.rebase(20);
  EXPECT_EQ(phases.ready(1, 0), 30);
}

TEST(MbarrierPhases, AnOpenRingLetsPassAsManyWaitsAsItHasPlaces) {
  sm::MbarrierPhases phases({{2, 1, 0, true}}, 2);
  phases.reset();
  for (int place = 0; place < 2; ++place) {
    EXPECT_EQ(phases.ready(0, 0), 0);
    phases.pass(0, 0);
  }
  EXPECT_EQ(phases.ready(0, 0), sm::kNever);
  EXPECT_TRUE(phases.arrive(1, 0, 70));
  EXPECT_EQ(phases.ready(0, 0), 70);
}

TEST(MbarrierPhases, RefuseWhatHardwareWouldCountForAnotherPhase) {
  sm::MbarrierPhases phases({{1, 2, 0, false}}, 3);
  phases.reset();
  EXPECT_THROW(phases.phase_of_copies(0, 0), std::invalid_argument);
  phases.arrive(0, 0, 0);
  EXPECT_THROW(phases.arrive(0, 0, 0), std::invalid_argument);  // its second, while the first is incomplete
  phases.arrive(1, 0, 0);
  EXPECT_THROW(phases.arrive(2, 0, 0), std::invalid_argument);  // a third arrival of two
}

TEST(SmMbarrier, ABoxArrivesInPartsAndReleasesWhoWaits) {
  const hw::HwConfig config = bulk_config();
  const trace::WarpProgram producer =
      Program("a").op(SYNCS_ARRIVE).op(UTMALDG).global(0, 1024, 8192).exit().build();
  const trace::WarpProgram consumer = Program("b").op(SYNCS_PHASECHK_TRYWAIT).exit().build();
  CoreBench bench(config, with_rings(one_warp_each({producer, consumer}), {{1, 1, 8192, false}}));
  bench.answer([](const sm::MemoryRequest& request) { return request.offset == 8192 ? kAnswer : 1; });
  // ARRIVE, then UTMALDG in cycle 1; the last part decides; the wait and the exit follow.
  EXPECT_EQ(bench.run(), 1 + kBulkLatency + kAnswer + 1);
  ASSERT_EQ(bench.accesses().size(), 5U);  // as the 2 KB blocks of the L2 cut it
  std::int64_t bytes = 0;
  for (const CoreBench::Access& access : bench.accesses()) {
    bytes += access.request.bytes;
    EXPECT_EQ(access.time, 1 + kBulkLatency);
    EXPECT_EQ(access.request.kind, memory::AccessKind::read);
  }
  EXPECT_EQ(bytes, 8192);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 1024U);
}

TEST(SmMbarrier, WhatLiesOutsideTheTensorCountsAndIsNotMoved) {
  const hw::HwConfig config = bulk_config();
  const trace::WarpProgram program =
      Program().op(SYNCS_ARRIVE).op(UTMALDG).global(0, 512, 2048).op(SYNCS_PHASECHK_TRYWAIT).exit().build();
  CoreBench bench(config, with_rings(one_program(program), {{1, 1, 2048, false}}), 1, {tensor("t", 1024)});
  bench.run();
  EXPECT_FALSE(bench.deadlock());
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].request.bytes, 512U);
}

TEST(SmMbarrier, AStoreOfABoxIsCountedWhenItIsAnswered) {
  const hw::HwConfig config = bulk_config();
  const trace::WarpProgram program =
      Program().op(SYNCS_ARRIVE).op(UTMASTG).global(0, 0, 2048).op(SYNCS_PHASECHK_TRYWAIT).exit().build();
  CoreBench bench(config, with_rings(one_program(program), {{1, 1, 2048, false}}));
  bench.answer(kAnswer);
  EXPECT_EQ(bench.run(), 1 + kBulkLatency + kAnswer + 1);
  ASSERT_EQ(bench.accesses().size(), 1U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::write);
}

TEST(SmMbarrier, ArrivalsGoByWayOfSharedMemory) {
  const hw::HwConfig config = bulk_config();
  const trace::WarpProgram arrives = Program("a").op(NOP, 40).op(SYNCS_ARRIVE).exit().build();
  const trace::WarpProgram waits = Program("b").op(SYNCS_PHASECHK_TRYWAIT).exit().build();
  CoreBench bench(config, with_rings(one_warp_each({arrives, waits}), {{1, 1, 0, false}}));
  EXPECT_EQ(bench.run(), 40 + config.sm.shared.base_latency_cycles + 1);
}

TEST(SmMbarrier, APhaseThatNobodyCompletesIsADeadlock) {
  const trace::WarpProgram program = Program().op(SYNCS_PHASECHK_TRYWAIT).exit().build();
  CoreBench bench(bulk_config(), with_rings(one_program(program), {{1, 1, 0, false}}));
  bench.run();
  EXPECT_TRUE(bench.deadlock());
  EXPECT_EQ(bench.core().waiting_warps(), (std::vector<std::pair<int, std::uint32_t>>{{0, 0}}));
}

TEST(SmMbarrier, ANamedBarrierWaitsForSoManyWarps) {
  const hw::HwConfig config = test_config();
  const hw::Barrier& barrier = config.sm.barrier;
  const auto two = static_cast<std::uint16_t>(3 + 2 * trace::kBarrierNames);
  const trace::WarpProgram takes_part = Program("a").op(BAR_SYNC).immediate(two).exit().build();
  const trace::WarpProgram other = Program("b").exit().build();
  CoreBench bench(config, one_warp_each({takes_part, other, takes_part}));
  EXPECT_EQ(bench.run(), 2 * barrier.per_warp_cycles + barrier.base_cycles);
  EXPECT_FALSE(bench.deadlock());
}

}  // namespace
}  // namespace warpscope::test
