#include "kernels/triton/backward.hpp"

#include <string>
#include <utility>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/triton/backward_ends.hpp"
#include "kernels/triton/backward_program.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::triton {
namespace {

std::vector<TensorSpec> tensors_of(const BackwardShape& shape) {
  using trace::TensorKind;
  const std::int64_t heads = shape.heads();
  const std::int64_t length = shape.problem.seqlen_q;
  const std::int64_t depth = shape.problem.head_dim;
  const ElementType type = shape.type();
  return {{"Q", TensorKind::input, heads, length, depth, type},
          {"K", TensorKind::input, heads, length, depth, type},
          {"V", TensorKind::input, heads, length, depth, type},
          {"O", TensorKind::input, heads, length, depth, type},
          {"dO", TensorKind::input, heads, length, depth, type},
          {"row_sum", TensorKind::input, heads, length, 1, ElementType::fp32},
          {"row_max", TensorKind::input, heads, length, 1, ElementType::fp32},
          {"dO_scaled", TensorKind::scratch, heads, length, depth, type},
          {"delta", TensorKind::scratch, heads, length, 1, ElementType::fp32},
          {shape.sequence_parallel ? "dQ_parts" : "dQ_sum", TensorKind::scratch, heads * shape.grad_q_parts(),
           length, depth, shape.grad_q_type()},
          {"dQ", TensorKind::output, heads, length, depth, type},
          {"dK", TensorKind::output, heads, length, depth, type},
          {"dV", TensorKind::output, heads, length, depth, type}};
}

}  // namespace

KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, bool sequence_parallel) {
  const BackwardShape shape{problem, sequence_parallel};
  KernelPlan plan;
  plan.tensors = tensors_of(shape);
  require_memory(plan.tensors, limits);
  if (shape.shared_bytes() > limits.shared_bytes_per_cta) {
    throw UnsupportedProblem("triton: the backward pass at head_dim " + std::to_string(problem.head_dim) +
                             " needs " + std::to_string(shape.shared_bytes()) +
                             " bytes of shared memory per CTA; this GPU has " +
                             std::to_string(limits.shared_bytes_per_cta));
  }
  plan.launches.push_back(zero_launch(shape));
  plan.launches.push_back(preprocess_launch(shape));
  plan.launches.push_back(gradients_launch(shape, limits.compute_capability_major));
  plan.launches.push_back(grad_q_launch(shape));
  return plan;
}

}  // namespace warpscope::kernels::triton
