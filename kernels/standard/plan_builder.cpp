#include "kernels/standard/plan_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/standard/softmax.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::standard {

void check_problem(const Problem& problem, std::string_view kernel) {
  if (problem.heads_kv != problem.heads) {
    throw UnsupportedProblem(fmt::format("{} has no grouped heads: heads_kv is {}, it must equal heads ({})",
                                         kernel, problem.heads_kv, problem.heads));
  }
  if (problem.head_dim < 8 || problem.head_dim > 256 || problem.head_dim % 8 != 0) {
    throw UnsupportedProblem(fmt::format("{} takes head dimensions that are multiples of 8 up to 256, not {}",
                                         kernel, problem.head_dim));
  }
  if (std::min({problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k}) < 1) {
    throw UnsupportedProblem(fmt::format("{} needs batch, heads and sequence lengths of at least 1", kernel));
  }
  if (problem.causal && problem.seqlen_q > problem.seqlen_k) {
    throw UnsupportedProblem(
        fmt::format("{} has no result for rows without keys: causal with seqlen_q {} above seqlen_k {}",
                    kernel, problem.seqlen_q, problem.seqlen_k));
  }
}

PlanBuilder::PlanBuilder(const Problem& problem, const GpuLimits& limits)
    : problem_(problem),
      limits_(limits),
      memory_(limits),
      type_(problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16) {}

float PlanBuilder::scale() const {
  return 1.0F / std::sqrt(static_cast<float>(problem_.head_dim));
}

int PlanBuilder::allocate(const std::string& name, trace::TensorKind kind, std::int64_t segments,
                          std::int64_t rows, std::int64_t cols, ElementType type) {
  const int index = static_cast<int>(plan_.tensors.size());
  plan_.tensors.push_back({name, kind, segments, rows, cols, type});
  memory_.allocate(plan_.tensors.back());
  return index;
}

void PlanBuilder::allocate_inputs() {
  using trace::TensorKind;
  allocate("Q", TensorKind::input, matrices(), problem_.seqlen_q, problem_.head_dim, type_);
  allocate("K", TensorKind::input, matrices(), problem_.seqlen_k, problem_.head_dim, type_);
  allocate("V", TensorKind::input, matrices(), problem_.seqlen_k, problem_.head_dim, type_);
}

int PlanBuilder::allocate_transposed(const std::string& name, trace::TensorKind kind, std::int64_t rows,
                                     std::int64_t cols) {
  const int index = allocate(name, kind, matrices(), rows, cols, type_);
  plan_.tensors.back().transposed = true;
  return index;
}

void PlanBuilder::hold(const std::string& name, std::int64_t rows) {
  memory_.allocate({name, trace::TensorKind::scratch, matrices(), rows, problem_.head_dim, type_});
}

int PlanBuilder::allocate_scores(const std::string& name) {
  return allocate(name, trace::TensorKind::scratch, matrices(), problem_.seqlen_q, problem_.seqlen_k, type_);
}

void PlanBuilder::release(int tensor) {
  memory_.release(plan_.tensors.at(static_cast<std::size_t>(tensor)));
}

ElementwiseTask PlanBuilder::score_task(const std::string& name, int source, int target) const {
  return {
      name, source, target, matrices(), problem_.seqlen_q, problem_.seqlen_k, type_, uniform_parameters()};
}

LaunchPlan PlanBuilder::gemm(GemmTask task) const {
  task.batch = matrices();
  task.type = type_;
  return library_gemm_launch(std::move(task), limits_);
}

void PlanBuilder::launch_scores(int q, int k, int scores, float alpha, bool k_is_transposed) {
  launch(gemm({.name = "qk_gemm",
               .a = q,
               .b = k,
               .c = scores,
               .m = problem_.seqlen_q,
               .n = problem_.seqlen_k,
               .k = problem_.head_dim,
               .b_transposed = !k_is_transposed,
               .alpha = alpha}));
}

void PlanBuilder::launch_output(int probabilities, int v) {
  const int o =
      allocate("O", trace::TensorKind::output, matrices(), problem_.seqlen_q, problem_.head_dim, type_);
  launch(gemm({.name = "pv_gemm",
               .a = probabilities,
               .b = v,
               .c = o,
               .m = problem_.seqlen_q,
               .n = problem_.head_dim,
               .k = problem_.seqlen_k}));
}

void PlanBuilder::launch_softmax_backward(int product, int probabilities, int target, bool row_cache) {
  constexpr std::int64_t kMostWarpColumns = 1024;
  const SoftmaxBackwardTask task{product,    probabilities,     target,
                                 matrices(), problem_.seqlen_q, problem_.seqlen_k,
                                 type_,      row_cache,         !row_cache && !uniform_parameters()};
  launch(problem_.seqlen_k <= kMostWarpColumns ? warp_softmax_backward_launch(task)
                                               : block_softmax_backward_launch(task));
}

void PlanBuilder::launch_softmax(int scores, int probabilities, std::int64_t most_warp_columns,
                                 bool row_cache) {
  const SoftmaxTask task{scores,
                         probabilities,
                         matrices(),
                         problem_.seqlen_q,
                         problem_.seqlen_k,
                         type_,
                         problem_.causal,
                         row_cache,
                         !row_cache && !uniform_parameters()};
  if (problem_.seqlen_k <= most_warp_columns) {
    launch(warp_softmax_launch(task));
  } else if (row_cache && fits_registers(problem_.seqlen_k)) {
    launch(register_softmax_launch(task));
  } else {
    launch(block_softmax_launch(task));
  }
}

}  // namespace warpscope::kernels::standard
