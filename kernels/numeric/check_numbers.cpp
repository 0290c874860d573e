#include "kernels/numeric/check_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/attention.hpp"
#include "kernels/numeric/run_numeric.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

TensorValues random_inputs_of(const KernelPlan& plan, const Problem& problem, std::uint32_t seed) {
  TensorValues inputs;
  for (const TensorSpec& spec : plan.tensors) {
    if (spec.kind != trace::TensorKind::input) {
      continue;
    }
    inputs[spec.name] = spec.type == ElementType::boolean
                            ? causal_mask(problem)
                            : random_values(static_cast<std::size_t>(spec.segments * spec.rows * spec.cols),
                                            spec.type, seed, 1.0F);
  }
  return inputs;
}

Reference attention_reference(const Problem& problem, const TensorValues& inputs) {
  double magnitude = 0;
  for (const float value : inputs.at("V")) {
    magnitude = std::max(magnitude, std::abs(static_cast<double>(value)));
  }
  return {"O", reference_attention(problem, inputs).output, magnitude};
}

double last_place(DataType dtype) {
  return dtype == DataType::fp16 ? 0x1p-10 : 0x1p-7;
}

}  // namespace

double multiply_adds(const Problem& problem) {
  constexpr double kOfAnElement = 64;
  const auto product = [](auto... factors) { return (1.0 * ... * static_cast<double>(factors)); };
  const auto [rows, cols, depth] = problem.matrix;
  switch (problem.type) {
    case ProblemType::rows:
      return product(rows, cols, kOfAnElement);
    case ProblemType::gemm:
      return product(problem.batch, rows, cols, depth);
    case ProblemType::attention:
      break;
  }
  return product(problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k, problem.head_dim);
}

NumberCheck check_numbers(const Kernel& kernel, const Problem& problem, const GpuLimits& limits,
                          std::uint32_t seed) {
  if (const double work = multiply_adds(problem); work > kMostMultiplyAdds) {
    throw UnsupportedProblem(
        fmt::format("checking the numbers of {:.3g} multiply-adds would take minutes; legal are up to {:.3g}",
                    work, kMostMultiplyAdds));
  }
  try {
    const KernelPlan plan = kernel.plan(problem, limits);
    const TensorValues inputs = random_inputs_of(plan, problem, seed);
    const Reference want =
        kernel.reference ? kernel.reference(problem, inputs) : attention_reference(problem, inputs);
    NumericResult got = run_numeric(plan, inputs);
    return {want.tensor, largest_error(got.tensors.at(want.tensor), want.values),
            kernel.roundings * last_place(problem.dtype) * want.magnitude, got.flops};
  } catch (const std::logic_error& error) {
    throw std::logic_error(fmt::format("kernel {}: {}", kernel.name, error.what()));
  }
}

}  // namespace warpscope::kernels
