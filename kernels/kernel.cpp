#include "kernels/kernel.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "kernels/compiler/lower.hpp"
#include "kernels/fa1/fa1.hpp"
#include "kernels/fa2/fa2.hpp"
#include "kernels/row_softmax/row_softmax.hpp"
#include "kernels/standard/matrix_product.hpp"
#include "kernels/standard/standard.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/variant.hpp"
#include "kernels/xformers/xformers.hpp"
#include "model/trace/stream.hpp"

namespace warpscope::kernels {
namespace {

constexpr int kRoundingsOfStandard = 2;  // scores and probabilities go through memory
// Probabilities, dP, their product, dS, scaled dS and the gradient itself.
constexpr int kBackwardRoundingsOfStandard = 6;

KernelPlan fa1(const Problem& problem, const GpuLimits& limits) {
  return plan_fa1(problem, limits);
}

KernelPlan fa2(const Problem& problem, const GpuLimits& limits) {
  return plan_fa2(problem, limits);
}

KernelPlan fa2_torch(const Problem& problem, const GpuLimits& limits) {
  return plan_fa2_torch(problem, limits);
}

}  // namespace

bool Kernel::has(Pass pass) const {
  const auto listed = [this](Pass one) { return std::ranges::find(passes, one) != passes.end(); };
  return pass == Pass::both ? listed(Pass::forward) && listed(Pass::backward) : listed(pass);
}

std::string Kernel::legal_passes() const {
  std::string legal;
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::both}) {
    if (has(pass)) {
      legal += legal.empty() ? "" : ", ";
      legal += text(pass);
    }
  }
  return legal;
}

std::vector<trace::Trace> Kernel::build_passes(const Problem& problem, const GpuLimits& limits) const {
  if (problem.type != type) {
    throw std::invalid_argument("kernel " + name + " got a problem of another type than it takes");
  }
  if (!has(problem.pass)) {
    throw UnsupportedProblem("kernel " + name + " does not have pass " + text(problem.pass) + "; it has " +
                             legal_passes());
  }
  std::vector<trace::Trace> traces;
  try {
    for (const Problem& one : problem_by_pass(problem)) {
      traces.push_back(lower(plan(one, limits), compiler_target(limits)));
    }
  } catch (const std::logic_error& error) {
    throw std::logic_error("kernel " + name + ": " + error.what());
  }
  return traces;
}

trace::Trace Kernel::build(const Problem& problem, const GpuLimits& limits) const {
  return trace::in_one_stream(build_passes(problem, limits));
}

const char* text(Pass pass) {
  constexpr std::array kNames = {"fwd", "bwd", "fwd+bwd"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::vector<Problem> problem_by_pass(const Problem& problem) {
  if (problem.pass != Pass::both) {
    return {problem};
  }
  std::vector<Problem> result = {problem, problem};
  result[0].pass = Pass::forward;
  result[1].pass = Pass::backward;
  return result;
}

std::span<const Kernel> all_kernels() {
  static const std::vector<Pass> kBothPasses = {Pass::forward, Pass::backward};
  static const std::array kKernels = {
      Kernel{"fa1",
             "FlashAttention-1 v1.0.9: O in HBM between key blocks, warps split over keys",
             &fa1,
             ProblemType::attention,
             {},
             1,
             kBothPasses},
      Kernel{"fa2",
             "FlashAttention-2, built as its repository does",
             &fa2,
             ProblemType::attention,
             {},
             1,
             kBothPasses},
      Kernel{"fa2_torch",
             "FlashAttention-2 inside PyTorch: unfused, slow exponential",
             &fa2_torch,
             ProblemType::attention,
             {},
             1,
             kBothPasses},
      Kernel{
          "standard",
          "PyTorch function of the FlashAttention-2 benchmark: scores in HBM; GEMMs on mma.sync everywhere",
          &plan_standard,
          ProblemType::attention,
          {},
          kRoundingsOfStandard,
          {Pass::forward, Pass::backward},
          kBackwardRoundingsOfStandard},
      Kernel{"standard_eager",
             "matmul, scale, masked_fill, softmax, matmul in PyTorch 2.11; GEMMs on mma.sync everywhere",
             &plan_standard_eager,
             ProblemType::attention,
             {},
             kRoundingsOfStandard,
             {Pass::forward, Pass::backward},
             kBackwardRoundingsOfStandard},
      Kernel{"xformers",
             "CUTLASS memory-efficient attention: P through shared memory, Q read again for all keys",
             &plan_xformers,
             ProblemType::attention,
             {},
             1,
             kBothPasses},
      Kernel{"gemm", "one launch of the matrix product that standard attention uses: --rows, --cols, --depth",
             &plan_gemm, ProblemType::gemm, &gemm_reference},
      Kernel{"row_softmax", "softmax over rows, the example of kernels/README.md: --rows, --cols",
             &plan_row_softmax, ProblemType::rows, &row_softmax_reference},
  };
  return kKernels;
}

Kernel find_kernel(std::string_view name) {
  std::string legal;
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name == name) {
      return kernel;
    }
    legal += legal.empty() ? "" : ", ";
    legal += kernel.name;
  }
  if (name.find_first_of("+-") != std::string_view::npos) {
    return variants::find_variant(name);
  }
  throw std::invalid_argument("legal are " + legal + " and variants like fa1+split_q");
}

}  // namespace warpscope::kernels
