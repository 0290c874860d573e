#include "kernels/triton/forward.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/triton/build_figures.hpp"
#include "kernels/triton/forward_program.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::triton {
namespace {

// Longer causal sequences take two launches, so that only the second one has a mask.
constexpr std::int64_t kLongestWithMask = 2048;

// Accumulators of scores and output take 192 registers of a thread at head dimension 64, with 4 warps, and
// 128 at 128, with 8. What is left of a CTA's share either way is the most that a thread can have.
constexpr std::uint32_t kRegisters = 255;

std::vector<Mode> modes_of(const Problem& problem) {
  if (!problem.causal) {
    return {Mode::full};
  }
  return problem.seqlen_q <= kLongestWithMask ? std::vector{Mode::causal}
                                              : std::vector{Mode::below_diagonal, Mode::diagonal};
}

std::vector<TensorSpec> tensors_of(const ForwardShape& shape) {
  using trace::TensorKind;
  const Problem& problem = shape.problem;
  const std::int64_t segments = problem.batch * problem.heads;
  std::vector<TensorSpec> tensors;
  for (const auto& [name, kind] :
       std::array{std::pair{"Q", TensorKind::input}, std::pair{"K", TensorKind::input},
                  std::pair{"V", TensorKind::input}, std::pair{"O", TensorKind::output}}) {
    tensors.push_back({name, kind, segments, problem.seqlen_q, problem.head_dim, shape.type()});
  }
  for (const char* name : {"row_sum", "row_max"}) {
    tensors.push_back({name, TensorKind::output, segments, problem.seqlen_q, 1, ElementType::fp32});
  }
  return tensors;
}

}  // namespace

KernelPlan plan_forward(const Problem& problem, const GpuLimits& limits) {
  KernelPlan plan;
  plan.tensors = tensors_of({problem});
  require_memory(plan.tensors, limits);
  constexpr std::int64_t kMostGridY = 65535;
  if (problem.batch * problem.heads > kMostGridY) {
    throw UnsupportedProblem(
        "triton: the grid is (query blocks, batch * heads); batch * heads is at most 65535, got " +
        std::to_string(problem.batch * problem.heads));
  }
  for (const Mode mode : modes_of(problem)) {
    const ForwardShape shape{problem, mode};
    LaunchPlan launch;
    launch.name = "_fwd_kernel<" + std::to_string(problem.head_dim) + ", MODE " +
                  std::to_string(static_cast<int>(mode)) + ">";
    launch.warps = shape.warps();
    launch.registers_per_thread = kRegisters;
    launch.shared_bytes_per_cta = shape.shared_bytes();
    launch.build = build_figures(shape.masked() ? Text::forward_masked : Text::forward, problem.head_dim,
                                 limits.compute_capability_major);
    launch.programs.push_back({"attend", [shape](CtaMachine& m) { forward_program(m, shape); }});
    add_grid(launch, shape);
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

}  // namespace warpscope::kernels::triton
