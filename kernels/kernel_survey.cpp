#include "kernels/kernel_survey.hpp"

#include "kernels/compiler/operation_names.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::kernels {

Problem survey_problem(const Kernel& kernel, Pass pass, std::int64_t head_dim, bool causal) {
  constexpr std::int64_t kHeads = 4;
  constexpr std::int64_t kTokens = 2048;
  Problem problem;
  problem.type = kernel.type;
  problem.pass = pass;
  if (kernel.type == ProblemType::attention) {
    problem.heads = problem.heads_kv = kHeads;
    problem.seqlen_q = problem.seqlen_k = kTokens;
    problem.head_dim = head_dim;
    problem.causal = causal;
    return problem;
  }
  const bool is_product = kernel.type == ProblemType::gemm;
  problem.batch = is_product ? kHeads : 1;
  problem.matrix = {kTokens, kTokens, is_product ? head_dim : 0};
  return problem;
}

bool takes(const Kernel& kernel, const Problem& problem, const GpuLimits& limits) {
  if (!kernel.has(problem.pass)) {
    return false;
  }
  try {
    kernel.plan(problem, limits);
    return true;
  } catch (const UnsupportedProblem&) {
    return false;
  }
}

std::vector<std::int64_t> head_dims(const Kernel& kernel, Pass pass, const GpuLimits& limits) {
  constexpr std::int64_t kMost = 256;
  std::vector<std::int64_t> result;
  for (std::int64_t head_dim = 1; head_dim <= kMost; ++head_dim) {
    if (takes(kernel, survey_problem(kernel, pass, head_dim), limits)) {
      result.push_back(head_dim);
    }
  }
  return result;
}

std::optional<double> table_share(const Kernel& kernel, const Problem& problem, const GpuLimits& limits) {
  if (!takes(kernel, problem, limits)) {
    return std::nullopt;
  }
  const trace::Trace trace = kernel.build(problem, limits);
  const std::uint64_t all = trace::total(trace::executed_instructions(trace));
  return static_cast<double>(trace::executed_in_operation(trace, kCounted)) / static_cast<double>(all);
}

}  // namespace warpscope::kernels
