// A launch whose CTAs go through a loop many times, and leave out iterations each time, ends as if it had
// been executed.
#include <gtest/gtest.h>

#include "tests/support/gpu_bench.hpp"

namespace warpscope::gpu {
namespace {

using enum trace::Opcode;

/// Each CTA goes `passes` times over its own rows, which do not fit in the L2, and keeps a count in shared
/// memory. `in_text`: the loop over rows lies in a piece of the text that a pass enters once.
trace::Trace many_passes(std::uint32_t ctas, std::uint32_t passes, std::uint32_t trips, bool in_text) {
  trace::MemoryOperand rows;
  rows.tensor = 0;
  rows.bytes = 512;
  rows.offset.per_iteration[in_text ? 2 : 1] = 2048;
  rows.offset.per_warp = 512;
  rows.segment.per_block = {1, 0, 0};
  trace::MemoryOperand results = rows;
  results.tensor = 1;
  test::Program program;
  program.begin_loop(0).op(FFMA, 40).op(STS_128).shared(512, 8);
  if (in_text) {
    program.begin_loop(2).op(FFMA);
  }
  program.begin_loop(1);
  program.op(FFMA).waits_for(0).op(LDG_128).memory(rows).sets(0).op(FFMA, 500);
  program.op(LDS_128).shared(512, 4).op(STG_128).memory(results).end_loop();
  if (in_text) {
    program.end_loop();
  }
  program.end_loop().exit();
  const std::int64_t segment = std::int64_t{trips} * 2048;
  trace::Tensor in = test::tensor("in", segment);
  trace::Tensor out = test::tensor("out", segment);
  in.segments = out.segments = ctas;
  return {{in, out}, {test::one_program(program.build_controlled(), 4, ctas, {passes, trips, 1})}};
}

class ManyPasses : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Texts, ManyPasses, testing::Bool());

TEST_P(ManyPasses, LaunchEndsAsIfItHadBeenExecuted) {
  hw::HwConfig config = test::test_config();
  config.gpu.sm_count = 8;
  config.sm.max_ctas = 1;
  config.l2.capacity_bytes = 1 << 20;
  config.l2.dirty_bytes = 1 << 19;
  config.hbm.peak_gb_per_s = 480;  // what is left to wait for is the latency
  const trace::Trace trace = many_passes(8, 40, 100, GetParam());
  const metrics::SimulationResult all = test::run(config, trace, Mode::detailed);
  const metrics::SimulationResult sampled = test::run_sampled(config, trace, 2);
  const auto near = [](double value, double expected, double tolerance) {
    EXPECT_NEAR(value, expected, tolerance * expected);
  };
  EXPECT_LT(sampled.warp_instructions_executed * 100, all.warp_instructions_executed);
  test::expect_pipes_taken(config, trace, sampled, test::kMeasured);
  near(static_cast<double>(sampled.cycles), static_cast<double>(all.cycles), 0.02);
  const metrics::LaunchResult& x = sampled.launches[0];
  const metrics::LaunchResult& y = all.launches[0];
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(x.traffic[t].l2_read_bytes, y.traffic[t].l2_read_bytes);
    EXPECT_EQ(x.traffic[t].l2_write_bytes, y.traffic[t].l2_write_bytes);
    near(static_cast<double>(x.traffic[t].dram_read_bytes), static_cast<double>(y.traffic[t].dram_read_bytes),
         0.03);
    near(static_cast<double>(x.traffic[t].dram_write_bytes),
         static_cast<double>(y.traffic[t].dram_write_bytes), 0.03);
  }
  for (std::size_t reason = 0; reason < metrics::kStallReasons; ++reason) {
    const auto expected = static_cast<double>(y.stall_warp_cycles[reason]);
    EXPECT_NEAR(static_cast<double>(x.stall_warp_cycles[reason]), expected,
                0.03 * expected + 0.002 * static_cast<double>(all.cycles) * 32)
        << reason;
  }
  for (const char* name :
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
        "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "sm__cycles_active.avg"}) {
    ASSERT_TRUE(y.metrics.contains(name)) << name;
    // One access of shared memory in 500 instructions: parts that are measured hold some too few or too many.
    near(x.metrics.at(name), y.metrics.at(name), 0.06);
  }
}

}  // namespace
}  // namespace warpscope::gpu
