#include "kernels/xformers/backward.hpp"

#include <string>

#include "kernels/device_memory.hpp"
#include "kernels/standard/elementwise.hpp"
#include "kernels/token_layout.hpp"
#include "kernels/xformers/backward_figures.hpp"
#include "kernels/xformers/backward_program.hpp"
#include "kernels/xformers/xformers.hpp"

namespace warpscope::kernels::xformers {
namespace {

std::vector<TensorSpec> tensors_of(const BackwardShape& shape) {
  using trace::TensorKind;
  const Problem& problem = shape.problem;
  const std::int64_t segments = problem.batch * problem.heads;
  const std::int64_t rows = problem.seqlen_q;
  const std::int64_t d = problem.head_dim;
  const ElementType type = shape.type;
  std::vector<TensorSpec> tensors = {{"Q", TensorKind::input, segments, rows, d, type},
                                     {"K", TensorKind::input, segments, rows, d, type},
                                     {"V", TensorKind::input, segments, rows, d, type},
                                     {"O", TensorKind::input, segments, rows, d, type},
                                     {"dO", TensorKind::input, segments, rows, d, type},
                                     {"LSE", TensorKind::input, segments, rows, 1, ElementType::fp32},
                                     {"dO_O", TensorKind::scratch, segments, rows, 1, ElementType::fp32},
                                     {"dQ_sum", TensorKind::scratch, segments, rows, d, ElementType::fp32},
                                     {"dQ", TensorKind::output, segments, rows, d, type},
                                     {"dK", TensorKind::output, segments, rows, d, type},
                                     {"dV", TensorKind::output, segments, rows, d, type}};
  interleave_heads(tensors, problem);
  return tensors;
}

}  // namespace

KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits) {
  const BackwardShape shape = backward_shape(problem, limits);
  KernelPlan plan;
  plan.tensors = tensors_of(shape);
  require_memory(plan.tensors, limits);
  const standard::ElementwiseTask sums{.name = "zeros_for_workspace",
                                       .source = kGradQSum,
                                       .target = kGradQSum,
                                       .segments = problem.batch * problem.heads,
                                       .rows = problem.seqlen_q,
                                       .cols = problem.head_dim,
                                       .type = shape.type};
  // The library asks for zeros in bytes, of which PyTorch gave a thread four in 2023 and gives 16 in 2.11.
  plan.launches.push_back(shape.fast_math ? standard::fill_bytes_launch(sums, 0.0F)
                                          : standard::fill_launch(sums, 0.0F));
  LaunchPlan launch;
  const std::string block = std::to_string(shape.tile.block);
  launch.name = "fmha_cutlassB_" + std::string(problem.dtype == DataType::bf16 ? "bf16" : "f16") +
                "_aligned_" + block + "x" + block + "_k" + block + "_seqaligned_sm80";
  launch.warps = shape.tile.warps();
  launch.registers_per_thread = shape.tile.registers;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(shape.layout.bytes);
  launch.build = backward_figures(shape.tile, limits.compute_capability_major);
  add_backward_programs(launch, shape);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace warpscope::kernels::xformers
