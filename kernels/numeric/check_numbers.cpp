#include "kernels/numeric/check_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/attention.hpp"
#include "kernels/numeric/attention_gradients.hpp"
#include "kernels/numeric/run_numeric.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

constexpr std::array kSaved = {"O", "LSE", "row_sum", "row_max", "probabilities", "k_copy"};

bool is_saved(const std::string& tensor) {
  return std::ranges::find(kSaved, tensor) != kSaved.end();
}

/// Random inputs for the tensors of `plan` that are inputs and have no values yet.
void add_random_inputs(TensorValues& inputs, const KernelPlan& plan, const Problem& problem,
                       std::uint32_t& seed) {
  const bool saves = problem.pass == Pass::backward;
  for (const TensorSpec& spec : plan.tensors) {
    if (spec.kind != trace::TensorKind::input || inputs.contains(spec.name) || !spec.values.empty() ||
        (saves && is_saved(spec.name))) {
      continue;
    }
    inputs[spec.name] = spec.type == ElementType::boolean
                            ? causal_mask(problem)
                            : random_values(static_cast<std::size_t>(spec.segments * spec.rows * spec.cols),
                                            spec.type, seed, 1.0F);
  }
}

/// What the forward pass has left behind, or should have.
void add_saved_inputs(TensorValues& inputs, const KernelPlan& plan, const Problem& problem,
                      const TensorValues& after_forward) {
  const TensorValues given = inputs;
  for (const TensorSpec& spec : plan.tensors) {
    if (spec.kind != trace::TensorKind::input || inputs.contains(spec.name) || !spec.values.empty()) {
      continue;
    }
    const auto computed = after_forward.find(spec.name);
    inputs[spec.name] = computed != after_forward.end()
                            ? computed->second
                            : saved_by_forward(spec.name, spec.rows, problem, given);
  }
}

Reference attention_reference(const Problem& problem, const TensorValues& inputs) {
  double magnitude = 0;
  for (const float value : inputs.at("V")) {
    magnitude = std::max(magnitude, std::abs(static_cast<double>(value)));
  }
  return {"O", reference_attention(problem, inputs).output, magnitude};
}

std::vector<Reference> references_of(const Kernel& kernel, const Problem& problem,
                                     const TensorValues& inputs) {
  if (problem.pass == Pass::backward) {
    return reference_gradients(problem, inputs);
  }
  return {kernel.reference ? kernel.reference(problem, inputs) : attention_reference(problem, inputs)};
}

/// In the order of the elements of the tensor.
std::vector<double> as_stored(const Reference& want, const KernelPlan& plan) {
  const TensorSpec& spec = *std::ranges::find(plan.tensors, want.tensor, &TensorSpec::name);
  return spec.transposed ? transposed_matrices(want.values, spec.cols, spec.rows) : want.values;
}

int roundings_of(const Kernel& kernel, const Problem& problem) {
  if (problem.pass != Pass::backward) {
    return kernel.roundings;
  }
  // Query heads that share keys have gradients of their own, which are rounded before they are added up.
  return kernel.backward_roundings + (problem.heads > problem.heads_kv ? 1 : 0);
}

double last_place(DataType dtype) {
  return dtype == DataType::fp16 ? 0x1p-10 : 0x1p-7;
}

}  // namespace

bool NumberCheck::passed() const {
  return std::ranges::all_of(outputs, &OutputCheck::passed);
}

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
  // The backward pass has five products where the forward pass has two.
  constexpr std::array kByPass = {1.0, 2.5, 3.5};
  return product(problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k, problem.head_dim) *
         kByPass[static_cast<std::size_t>(problem.pass)];
}

NumberCheck check_numbers(const Kernel& kernel, const Problem& problem, const GpuLimits& limits,
                          std::uint32_t seed) {
  if (const double work = multiply_adds(problem); work > kMostMultiplyAdds) {
    throw UnsupportedProblem(
        fmt::format("checking the numbers of {:.3g} multiply-adds would take minutes; legal are up to {:.3g}",
                    work, kMostMultiplyAdds));
  }
  if (!kernel.has(problem.pass)) {
    throw UnsupportedProblem(fmt::format("kernel {} does not have pass {}; it has {}", kernel.name,
                                         text(problem.pass), kernel.legal_passes()));
  }
  kernel.require_features(problem);
  try {
    NumberCheck check;
    TensorValues inputs;
    TensorValues after;
    for (const Problem& pass : problem_by_pass(problem)) {
      const KernelPlan plan = kernel.plan(pass, limits);
      add_random_inputs(inputs, plan, pass, seed);
      TensorValues all = inputs;
      add_saved_inputs(all, plan, pass, after);
      std::erase_if(all, [&](const auto& input) {
        return std::ranges::find(plan.tensors, input.first, &TensorSpec::name) == plan.tensors.end();
      });
      NumericResult got = run_numeric(plan, all);
      for (const Reference& want : references_of(kernel, pass, inputs)) {
        check.outputs.push_back({want.tensor,
                                 largest_error(got.tensors.at(want.tensor), as_stored(want, plan)),
                                 roundings_of(kernel, pass) * last_place(problem.dtype) * want.magnitude});
      }
      check.flops += got.flops;
      after = std::move(got.tensors);
    }
    return check;
  } catch (const std::logic_error& error) {
    throw std::logic_error(fmt::format("kernel {}: {}", kernel.name, error.what()));
  }
}

}  // namespace warpscope::kernels
