// SMs that stand for others: who they are, what they are given, and that like CTAs end as if all were
// simulated.
#include "model/fast/group_policy.hpp"

#include <gtest/gtest.h>

#include "model/gpu/cta_dispatcher.hpp"
#include "tests/support/gpu_bench.hpp"

namespace warpscope::fast {
namespace {

using enum trace::Opcode;

TEST(SmGroups, CoverTheChip) {
  std::vector<int> groups_of_sm(108, 0);
  for (const gpu::SmGroup& group : group_sms(108, 7)) {
    EXPECT_TRUE(group.sms == 15 || group.sms == 16);
    for (int i = 0; i < group.sms; ++i) {
      ++groups_of_sm.at(static_cast<std::size_t>(group.first_sm + i));
    }
  }
  EXPECT_EQ(groups_of_sm, std::vector<int>(108, 1));
  EXPECT_EQ(group_sms(3, 100).size(), 3U);
}

TEST(SmGroups, SimulatedSmsAreThoseOfTpcs) {
  const std::vector<gpu::SmGroup> groups = simulated_in_tpcs(group_sms(108, 5));
  std::vector<int> simulated;
  int sms = 0;
  for (const gpu::SmGroup& group : groups) {
    simulated.push_back(group.first_sm);
    sms += group.sms;
  }
  EXPECT_EQ(simulated, (std::vector<int>{0, 1, 42, 43, 86}));
  EXPECT_EQ(sms, 108) << "each stands for as many as before";
}

TEST(SmGroups, AreGivenACtaForEachSm) {
  trace::Launch launch;
  launch.grid = {25, 1, 1};
  gpu::CtaDispatcher dispatcher(test::test_config(), launch, 1000, 1, {{0, 10}, {10, 8}});
  const auto first = dispatcher.next(0);
  EXPECT_EQ(first->group, 0);
  EXPECT_EQ(first->ctas.size(), 10U);
  const auto second = dispatcher.next(0);
  ASSERT_EQ(second->ctas.size(), 8U);
  EXPECT_EQ(second->ctas.front(), 10U);
  EXPECT_EQ(second->ctas.back(), 17U);
  EXPECT_EQ(dispatcher.active_sms(), 18);
  EXPECT_FALSE(dispatcher.next(0));
  dispatcher.release(0);
  EXPECT_EQ(dispatcher.active_sms(), 8);
  EXPECT_EQ(dispatcher.next(0)->ctas.size(), 7U) << "what is left";
  EXPECT_EQ(dispatcher.active_sms(), 15);
  EXPECT_TRUE(dispatcher.done());
}

trace::Launch loop_launch(std::uint32_t trips, std::uint32_t ctas) {
  test::Program program;
  program.begin_loop(0).op(FFMA, 99).end_loop().exit();
  return test::one_program(program.build_controlled(), 1, ctas, {trips});
}

TEST(SmGroups, AreInTpcsWhereCtasGoThroughTheirTextAFewTimes) {
  EXPECT_TRUE(waits_for_code(loop_launch(3, 10)));
  EXPECT_FALSE(waits_for_code(loop_launch(5, 10)));
}

/// The last of the CTAs makes other trips than the rest.
trace::Launch unequal_launch(std::uint32_t trips, std::uint32_t last_trips, std::uint32_t ctas) {
  trace::Launch launch = loop_launch(trips, ctas);
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].trip_counts = {last_trips};
  launch.class_of_block[0].assign(ctas, 0);
  launch.class_of_block[0].back() = 1;
  return launch;
}

std::size_t simulated(const hw::HwConfig& config, const trace::Launch& launch,
                      const gpu::SimulationOptions& options = {}) {
  return groups_of_launches(config, {{}, {launch}}, options)[0].size();
}

/// A GPU of 64 SMs that hold one CTA each.
hw::HwConfig one_cta_each() {
  hw::HwConfig config = test::test_config();
  config.gpu.sm_count = 64;
  config.sm.max_ctas = 1;
  return config;
}

TEST(GroupsOfLaunches, AreSingleSmsWhereTheTraceIsShort) {
  const hw::HwConfig config = one_cta_each();
  // 100 instructions per trip, 640 CTAs, up to 25 M instructions.
  EXPECT_EQ(simulated(config, loop_launch(390, 640)), 64U);
  EXPECT_LT(simulated(config, loop_launch(392, 640)), 64U);
  gpu::SimulationOptions detailed;
  detailed.mode = gpu::Mode::detailed;
  EXPECT_EQ(simulated(config, loop_launch(1000000, 640), detailed), 64U);
}

TEST(GroupsOfLaunches, AreSingleSmsWhereFewWavesEndByChance) {
  const hw::HwConfig config = one_cta_each();
  // Up to 150 M instructions in one wave, up to half as many in two.
  EXPECT_EQ(simulated(config, loop_launch(23'400, 64)), 64U);
  EXPECT_LT(simulated(config, loop_launch(23'500, 64)), 64U);
  EXPECT_EQ(simulated(config, loop_launch(5'850, 128)), 64U);
  EXPECT_LT(simulated(config, loop_launch(5'870, 128)), 64U);
  // Unequal ones up to 150 M, and 350 M through the number of waves.
  EXPECT_EQ(simulated(config, unequal_launch(11'700, 10, 128)), 64U);
  EXPECT_LT(simulated(config, unequal_launch(11'900, 10, 128)), 64U);
  EXPECT_EQ(simulated(config, unequal_launch(3'400, 10, 256)), 64U);
  EXPECT_LT(simulated(config, unequal_launch(3'500, 10, 256)), 64U);
}

TEST(GroupsOfLaunches, AreNotTooFewForCtasToMeetInTheWaysTheyCan) {
  const hw::HwConfig config = one_cta_each();
  EXPECT_EQ(simulated(config, loop_launch(8'000, 320)), 5U) << "five waves";
  EXPECT_EQ(simulated(config, loop_launch(8'000, 321)), 3U);
  EXPECT_EQ(simulated(config, unequal_launch(1'000'000, 10'000, 300)), 5U);
  EXPECT_EQ(simulated(config, unequal_launch(1'000'000, 10'000, 640)), 3U);
}

TEST(GroupsOfLaunches, DoNotHangOnTheOtherLaunchesOfAStream) {
  const hw::HwConfig config = one_cta_each();
  const auto groups_of_first = [&](std::uint32_t trips, std::uint32_t others) {
    return groups_of_launches(config, {{}, {loop_launch(trips, 6'400), loop_launch(others, 6'400)}}, {})[0]
        .size();
  };
  EXPECT_EQ(groups_of_first(130, 2'000), 2U);
  EXPECT_EQ(groups_of_first(130, 4'000), 2U);
}

TEST(GroupsOfLaunches, AreAsManyAsAloneWhereCtasExchangeValuesInMemory) {
  const hw::HwConfig config = one_cta_each();
  const auto groups_of_main = [&](trace::Opcode exchange) {
    trace::MemoryOperand word;
    word.tensor = 0;
    word.bytes = 4;
    test::Program program;
    program.op(exchange).writes(1, 4).memory(word).begin_loop(0).op(FFMA, 99).end_loop().exit();
    const trace::Launch main = test::one_program(program.build_controlled(), 1, 6'400, {900});
    const trace::Trace trace{{test::tensor("words", 4096)}, {loop_launch(1'000, 6'400), main}};
    return groups_of_launches(config, trace, {})[1].size();
  };
  EXPECT_EQ(groups_of_main(ATOM_32), 3U);
  EXPECT_EQ(groups_of_main(LDG_32), 2U);
}

TEST(LikePaths, AreNotThoseOfCtasThatBeginElsewhereAndDoAsMuch) {
  test::Program program;
  program.begin_loop(0).op(FFMA, 100).end_loop().begin_loop(1).op(FFMA, 100).end_loop().exit();
  trace::Launch launch = test::one_program(program.build_controlled(), 1, 64, {80, 20});
  EXPECT_TRUE(has_like_paths(launch));
  EXPECT_EQ(most_turns(launch), 80U);
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].trip_counts = {61, 39};
  EXPECT_TRUE(has_like_paths(launch)) << "less than a fifth of all instructions apart";
  launch.classes[1].trip_counts = {59, 41};
  EXPECT_TRUE(has_like_ctas(launch));
  EXPECT_FALSE(has_like_paths(launch));
}

TEST(GroupsOfLaunches, CoverTheSmsThatGetWork) {
  hw::HwConfig config = test::test_config();
  config.gpu.sm_count = 64;
  const trace::Trace trace{{}, {loop_launch(1000000, 10), loop_launch(10, 10), loop_launch(1000000, 100)}};
  gpu::SimulationOptions four;
  four.sm_groups = 4;
  const auto groups = groups_of_launches(config, trace, four);
  const auto sms = [](const std::vector<gpu::SmGroup>& all) {
    int sum = 0;
    for (const gpu::SmGroup& group : all) {
      sum += group.sms;
    }
    return sum;
  };
  EXPECT_EQ(sms(groups[0]), 10);
  EXPECT_EQ(groups[0].size(), 4U);
  EXPECT_EQ(sms(groups[2]), 64);
}

/// Each CTA reads its own data, an iteration ahead, and writes 2 KB.
trace::Trace like_ctas(std::uint32_t ctas, std::uint32_t trips) {
  trace::MemoryOperand in;
  in.tensor = 0;
  in.bytes = 512;
  in.offset.per_iteration = {512, 0, 0};
  in.segment.per_block = {1, 0, 0};
  trace::MemoryOperand out = in;
  out.tensor = 1;
  out.segment = {};
  out.offset.per_iteration = {};
  out.offset.per_block = {2048, 0, 0};
  out.offset.per_warp = 512;
  test::Program program;
  program.begin_loop(0).op(FFMA).waits_for(0).op(LDG_128).memory(in).sets(0).op(FFMA, 250).end_loop();
  program.op(STG_128).memory(out).exit();
  return {{test::tensor("in", 1 << 20, ctas), test::tensor("out", 1 << 20)},
          {test::one_program(program.build_controlled(), 4, ctas, {trips})}};
}

TEST(SmGroups, OneSmStandsForAllOfALaunchOfLikeCtas) {
  hw::HwConfig config = test::test_config();
  config.gpu.sm_count = 12;
  config.sm.max_ctas = 2;
  const trace::Trace trace = like_ctas(24, 1500);
  const metrics::SimulationResult all = test::run(config, trace, gpu::Mode::detailed);
  const metrics::SimulationResult sampled = test::run_sampled(config, trace, 1);
  const auto cycles = static_cast<double>(all.cycles);
  EXPECT_NEAR(static_cast<double>(sampled.cycles), cycles, 0.02 * cycles);
  EXPECT_LT(sampled.warp_instructions_executed * 20, all.warp_instructions_executed)
      << "loops are left out, too";
  test::expect_pipes_taken(config, trace, sampled, test::kMeasured);
  EXPECT_EQ(all.cycles_deviation, 0);
  // 1.9 % of the method, and what the schedule leaves open.
  EXPECT_GE(sampled.cycles_deviation, 0.0189 * static_cast<double>(sampled.cycles));
  EXPECT_LE(sampled.cycles_deviation, 0.0204 * static_cast<double>(sampled.cycles));
  for (std::size_t t = 0; t < 2; ++t) {
    const metrics::TensorTraffic& x = sampled.launches[0].traffic[t];
    const metrics::TensorTraffic& y = all.launches[0].traffic[t];
    EXPECT_EQ(x.l2_read_bytes, y.l2_read_bytes);
    EXPECT_EQ(x.l2_write_bytes, y.l2_write_bytes);
    // Where iterations are left out, what the data path has not yet taken is read a few iterations late.
    EXPECT_NEAR(static_cast<double>(x.dram_read_bytes), static_cast<double>(y.dram_read_bytes),
                0.001 * static_cast<double>(y.dram_read_bytes));
  }
}

/// Of 64 CTAs that follow one another, 32 multiply and 32 take powers of two, which is slower.
trace::Launch mixed_launch(std::uint32_t trips, std::uint32_t ctas) {
  trace::Launch launch = loop_launch(trips, ctas);
  test::Program slow;
  slow.begin_loop(0).op(MUFU_EX2, 99).end_loop().exit();
  launch.programs.push_back(slow.build_controlled());
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].program_of_warp = {1};
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    launch.class_of_block[0].push_back(cta / 32 % 2);
  }
  return launch;
}

TEST(SmGroups, AreMoreWhereTheirSpeedsSaySo) {
  const hw::HwConfig config = one_cta_each();
  const trace::Trace trace{{}, {mixed_launch(3'000, 1'024)}};
  ASSERT_EQ(groups_of_launches(config, trace, {})[0].size(), 3U);
  const metrics::SimulationResult few = test::run_sampled(config, trace, 3);
  const metrics::SimulationResult more = gpu::simulate(config, trace, {});
  EXPECT_GT(few.cycles_deviation, 0.02 * static_cast<double>(few.cycles));
  EXPECT_LT(more.cycles_deviation, 0.7 * few.cycles_deviation);
  EXPECT_GT(more.warp_instructions_executed, few.warp_instructions_executed) << "both samples count";
}

}  // namespace
}  // namespace warpscope::fast
