// Kernels are compiled for the GPU that is described: for the stock ones as ever.
#include <gtest/gtest.h>

#include "experiments/point/point.hpp"
#include "experiments/point/run.hpp"
#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/control_bits.hpp"
#include "kernels/unsupported.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/support/control_replay.hpp"

namespace warpscope::tests {
namespace {

using kernels::GpuLimits;
using kernels::PipeTimings;
using kernels::Problem;

hw::HwConfig described(const std::string& name, const std::vector<std::string>& overrides = {}) {
  return hw::load(name, overrides, experiments::config_directory()).config;
}

const Problem kProblems[] = {{1, 2, 1, 700, 900, 64, true}, {1, 2, 2, 512, 512, 128, false}};

// The code for a GPU whose pipes nobody describes is what compilers made of the kernels for the real ones.
TEST(CompiledForGpu, StockGpusKeepTheirInstructions) {
  int traces = 0;
  for (const std::string& name : hw::list_configs(experiments::config_directory())) {
    GpuLimits limits = experiments::limits_of(described(name));
    GpuLimits usual = limits;
    usual.pipes = PipeTimings{};
    for (const kernels::Kernel& kernel : kernels::all_kernels()) {
      if (kernel.type != kernels::ProblemType::attention) {
        continue;
      }
      for (const Problem& problem : kProblems) {
        try {
          const trace::Trace trace = kernel.build(problem, limits);
          EXPECT_EQ(trace, kernel.build(problem, usual)) << name << " " << kernel.name;
          ++traces;
        } catch (const kernels::UnsupportedProblem&) {
        }
      }
    }
  }
  EXPECT_GT(traces, 40);
}

/// Stall count between two FFMA of which the second needs the first.
int dependent_stall(const GpuLimits& limits) {
  trace::Instruction first;
  first.opcode = trace::Opcode::FFMA;
  first.destination = {20, 1};
  trace::Instruction second = first;
  second.sources[0] = first.destination;
  kernels::VirtualProgram program;
  program.blocks.push_back({{first, second}, false});
  kernels::assign_control_bits(program, kernels::compiler_target(limits));
  return program.blocks[0].code[0].control.stall_cycles;
}

std::vector<std::uint8_t> stall_counts(const trace::Trace& trace) {
  std::vector<std::uint8_t> counts;
  for (const trace::Instruction& instruction : trace.launches[0].programs[0].code) {
    counts.push_back(instruction.control.stall_cycles);
  }
  return counts;
}

TEST(CompiledForGpu, SlowerFmaStallsLongerAndCostsTime) {
  const kernels::Kernel& fa1 = kernels::find_kernel("fa1");
  const Problem problem{2, 16, 16, 512, 512, 64, false};  // small enough to be simulated whole
  const hw::HwConfig stock = described("h100-sxm5-80gb");
  const hw::HwConfig slow = described("h100-sxm5-80gb", {"sm.fma.latency_cycles=20"});
  const trace::Trace of_stock = fa1.build(problem, experiments::limits_of(stock));
  const trace::Trace of_slow = fa1.build(problem, experiments::limits_of(slow));
  EXPECT_EQ(dependent_stall(experiments::limits_of(stock)), 4);
  EXPECT_EQ(
      dependent_stall(experiments::limits_of(described("h100-sxm5-80gb", {"sm.fma.latency_cycles=12"}))), 12);
  EXPECT_NE(stall_counts(of_slow), stall_counts(of_stock));
  EXPECT_GT(gpu::simulate(slow, of_slow).cycles, gpu::simulate(stock, of_stock).cycles * 102 / 100);
}

TEST(CompiledForGpu, FiguresMoveWithThePipes) {
  GpuLimits limits = experiments::limits_of(described("a100-sxm4-80gb"));
  const kernels::CompilerTarget usual = kernels::compiler_target(limits);
  limits.pipes.hmma_16816_interval = 5;
  limits.pipes.hmma_latency = 60;
  limits.pipes.alu_latency = 1;
  const kernels::CompilerTarget target = kernels::compiler_target(limits);
  EXPECT_EQ(target.hmma_16816_interval, 5);
  EXPECT_EQ(target.hmma_latency, usual.hmma_latency + 35);
  EXPECT_EQ(target.alu_latency, usual.alu_latency - 3);
  EXPECT_EQ(target.fma_latency, usual.fma_latency);
  limits.pipes.fma_latency = 1;
  EXPECT_EQ(kernels::compiler_target(limits).fma_latency, 1);
}

// Stall counts have four bits, so longer waits need padding; and nothing may be read before it is there.
TEST(CompiledForGpu, CodeForSlowPipesIsSound) {
  for (const std::string& change :
       {std::string("sm.fma.latency_cycles=12"), std::string("sm.fma.latency_cycles=70"),
        std::string("sm.tensor.hmma_16816.latency_cycles=90"),
        std::string("sm.tensor.hmma_16816.interval_cycles=64"), std::string("sm.alu.latency_cycles=33"),
        std::string("sm.imad.lanes=1"), std::string("sm.xu.lanes=1"), std::string("sm.fma.lanes=1"),
        std::string("sm.issue.uniform_latency_cycles=50")}) {
    SCOPED_TRACE(change);
    const hw::HwConfig config = described("h100-sxm5-80gb", {change});
    const GpuLimits limits = experiments::limits_of(config);
    for (const char* kernel : {"fa2", "fa1", "standard"}) {
      const trace::Trace trace = kernels::find_kernel(kernel).build({1, 2, 2, 256, 256, 64, true}, limits);
      trace::validate(trace);
      for (const trace::Launch& launch : trace.launches) {
        for (const trace::CtaClass& cta_class : launch.classes) {
          const auto& program = launch.programs[cta_class.program_of_warp[0]];
          const auto problems = uncovered_dependences(program, cta_class, kernels::compiler_target(limits));
          ASSERT_TRUE(problems.empty()) << kernel << ": " << problems.front();
        }
      }
      EXPECT_GT(gpu::simulate(config, trace).cycles, 0) << "no deadlock";
    }
  }
}

}  // namespace
}  // namespace warpscope::tests
