#include "kernels/triton/triton.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/triton/backward.hpp"
#include "kernels/triton/forward.hpp"
#include "kernels/triton/forward_shape.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw UnsupportedProblem("triton: " + reason);
}

// What the source asserts, and what it takes for granted: it checks no bounds.
void check(const Problem& problem) {
  if (std::min({problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q, problem.seqlen_k}) < 1) {
    refuse("batch, heads, heads_kv and sequence lengths must be at least 1");
  }
  constexpr std::array<std::int64_t, 4> kHeadDims = {16, 32, 64, 128};
  if (std::ranges::find(kHeadDims, problem.head_dim) == kHeadDims.end()) {
    refuse("head_dim must be 16, 32, 64 or 128, got " + std::to_string(problem.head_dim));
  }
  if (problem.heads_kv != problem.heads) {
    refuse("there is no GQA, heads_kv must equal heads (" + std::to_string(problem.heads) + "), got " +
           std::to_string(problem.heads_kv));
  }
  if (problem.seqlen_q != problem.seqlen_k) {
    refuse("queries and keys have one length (N_CTX), got seqlen_q " + std::to_string(problem.seqlen_q) +
           " and seqlen_k " + std::to_string(problem.seqlen_k));
  }
  if (problem.seqlen_q % triton::kBlock != 0) {
    refuse(
        "whole blocks of 128 tokens are read and written without bounds, so seqlen must be a multiple of "
        "128, got " +
        std::to_string(problem.seqlen_q));
  }
}

KernelPlan plan_pass(const Problem& problem, const GpuLimits& limits, bool sequence_parallel) {
  check(problem);
  return problem.pass == Pass::backward ? triton::plan_backward(problem, limits, sequence_parallel)
                                        : triton::plan_forward(problem, limits);
}

}  // namespace

KernelPlan plan_triton(const Problem& problem, const GpuLimits& limits) {
  return plan_pass(problem, limits, false);
}

KernelPlan plan_triton_sequence_parallel(const Problem& problem, const GpuLimits& limits) {
  return plan_pass(problem, limits, true);
}

}  // namespace warpscope::kernels
