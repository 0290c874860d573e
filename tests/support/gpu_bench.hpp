// Whole simulations of small grids, and what must hold for all of them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "model/gpu/simulate.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::test {

inline metrics::SimulationResult run(const hw::HwConfig& config, const trace::Trace& trace, gpu::Mode mode,
                                     bool warm_l2 = false) {
  return gpu::simulate(config, trace, {mode, warm_l2});
}

/// What fast mode leaves out it counts like what it measured, which begins and ends within iterations.
inline constexpr double kMeasured = 0.01;

/// In fast mode, with one SM simulated for each of so many groups.
inline metrics::SimulationResult run_sampled(const hw::HwConfig& config, const trace::Trace& trace,
                                             int groups) {
  gpu::SimulationOptions options;
  options.sm_groups = groups;
  return gpu::simulate(config, trace, options);
}

/// Everything counted and timed is the same; how much was stepped may differ.
inline void expect_same(const metrics::SimulationResult& a, const metrics::SimulationResult& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.time_us, b.time_us);
  EXPECT_EQ(a.warp_instructions_total, b.warp_instructions_total);
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (std::size_t i = 0; i < a.launches.size(); ++i) {
    const metrics::LaunchResult& x = a.launches[i];
    const metrics::LaunchResult& y = b.launches[i];
    EXPECT_EQ(x.cycles, y.cycles);
    EXPECT_EQ(x.metrics, y.metrics);
    EXPECT_EQ(x.stall_warp_cycles, y.stall_warp_cycles);
    ASSERT_EQ(x.traffic.size(), y.traffic.size());
    for (std::size_t t = 0; t < x.traffic.size(); ++t) {
      EXPECT_EQ(x.traffic[t].l2_read_bytes, y.traffic[t].l2_read_bytes);
      EXPECT_EQ(x.traffic[t].l2_read_hit_bytes, y.traffic[t].l2_read_hit_bytes);
      EXPECT_EQ(x.traffic[t].l2_write_bytes, y.traffic[t].l2_write_bytes);
      EXPECT_EQ(x.traffic[t].dram_read_bytes, y.traffic[t].dram_read_bytes);
      EXPECT_EQ(x.traffic[t].dram_write_bytes, y.traffic[t].dram_write_bytes);
    }
  }
}

/// Pipes were taken as long as the instructions in the text of the trace take them, within a part of it. Fast
/// mode, which takes its instruction counts from that text, counts this while it runs.
inline void expect_pipes_taken(const hw::HwConfig& config, const trace::Trace& trace,
                               const metrics::SimulationResult& result, double tolerance) {
  const hw::Sm& sm = config.sm;
  struct Use {
    const char* pipe;
    trace::OpClass op_class;
    int cycles;
  };
  const std::array uses = {Use{"tensor", trace::OpClass::hmma_16816, sm.tensor.hmma_16816.interval_cycles},
                           Use{"tensor", trace::OpClass::hmma_1688, sm.tensor.hmma_1688.interval_cycles},
                           Use{"fma", trace::OpClass::fma, 32 / sm.fma.lanes},
                           Use{"fma", trace::OpClass::imad, 32 / sm.imad.lanes},
                           Use{"alu", trace::OpClass::alu, 32 / sm.alu.lanes},
                           Use{"xu", trace::OpClass::xu, 32 / sm.xu.lanes}};
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    std::map<std::string, double> expected;
    for (const auto& [opcode, count] : trace::executed_instructions(trace.launches[i])) {
      for (const Use& use : uses) {
        const bool uses_it = trace::info(opcode).op_class == use.op_class;
        expected[use.pipe] += uses_it ? static_cast<double>(count) * use.cycles : 0;
      }
    }
    const auto& metrics = result.launches[i].metrics;
    const double cycles = metrics.at("sm__cycles_active.avg") * config.gpu.sm_count * sm.sub_cores;
    for (const auto& [pipe, taken] : expected) {
      const double share = metrics.at("sm__pipe_" + pipe + "_cycles_active.avg.pct_of_peak_sustained_active");
      EXPECT_NEAR(share / 100 * cycles, taken, tolerance * taken) << pipe;
    }
  }
}

/// What was executed and moved is what the text of the trace says. For accesses of whole lines within their
/// segments. Of fast mode it says little: it takes instructions and bytes asked for from that text.
inline void expect_conserved(const trace::Trace& trace, const metrics::SimulationResult& result) {
  EXPECT_EQ(result.warp_instructions_total, trace::total(trace::executed_instructions(trace)));
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const metrics::LaunchResult& launch = result.launches[i];
    const std::uint64_t warps = trace::cta_count(trace.launches[i]) * trace::warps_per_cta(trace.launches[i]);
    EXPECT_EQ(trace::executed_instructions(trace.launches[i]).at(trace::Opcode::EXIT), warps);
    EXPECT_LE(launch.metrics.at("sm__cycles_active.avg"), launch.metrics.at("sm__cycles_elapsed.max"));
    EXPECT_EQ(launch.stall_warp_cycles[static_cast<std::size_t>(metrics::Stall::selected)],
              trace::total(trace::executed_instructions(trace.launches[i])));
    const std::vector<trace::RequestedBytes> asked = trace::requested_bytes(trace, trace.launches[i]);
    for (std::size_t t = 0; t < asked.size(); ++t) {
      const metrics::TensorTraffic& traffic = launch.traffic[t];
      EXPECT_EQ(traffic.l2_read_bytes, asked[t].read);
      EXPECT_EQ(traffic.l2_write_bytes, asked[t].written);
      EXPECT_EQ(traffic.l2_read_bytes, traffic.l2_read_hit_bytes + traffic.dram_read_bytes);
    }
  }
}

}  // namespace warpscope::test
