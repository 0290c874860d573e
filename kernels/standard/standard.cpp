#include "kernels/standard/standard.hpp"

#include "kernels/standard/backward.hpp"
#include "kernels/standard/plan_builder.hpp"

namespace warpscope::kernels {
namespace {

using standard::ElementwiseTask;
using standard::PlanBuilder;
using trace::TensorKind;

// Longest row of softmax_warp_forward: 1024 in the PyTorch of 2023, which the paper's benchmark ran; 2048 in
// the one whose counters the eager kernel follows.
constexpr std::int64_t kWarpColumns2023 = 1024;
constexpr std::int64_t kWarpColumnsEager = 2048;
// The block softmax that keeps rows in shared memory came in March 2024 (pytorch/pytorch#122970).
constexpr bool kRowCache2023 = false;
constexpr bool kRowCacheEager = true;
constexpr float kMaskedScore = -10000.0F;  // of the benchmark script; its exponential is 0

/// The (batch * heads, seqlen, head_dim) matrices that baddbmm and bmm want, from interleaved ones. With one
/// sequence they are views and nothing is copied.
int contiguous(PlanBuilder& builder, const Problem& problem, const std::string& name, int source,
               std::int64_t rows) {
  if (problem.batch == 1) {
    return source;
  }
  const int copy = builder.allocate(name + "_copy", TensorKind::scratch, builder.matrices(), rows,
                                    problem.head_dim, builder.type());
  builder.launch(standard::copy_launch({"copy_" + name, source, copy, builder.matrices(), rows,
                                        problem.head_dim, builder.type(), builder.uniform_parameters()}));
  return copy;
}

/// K as (batch * heads, head_dim, seqlen): rearrange(k, 'b t h d -> (b h) d t').
int contiguous_transposed_k(PlanBuilder& builder, const Problem& problem) {
  const int copy = builder.allocate("k_copy", TensorKind::scratch, builder.matrices(), problem.head_dim,
                                    problem.seqlen_k, builder.type());
  builder.launch(standard::transposing_copy_launch({"copy_k", PlanBuilder::kK, copy, builder.matrices(),
                                                    problem.head_dim, problem.seqlen_k, builder.type(),
                                                    builder.uniform_parameters()}));
  return copy;
}

/// scores + triu(full(-10000), 1).to(fp16): three launches over one fp32 matrix, one over all scores.
int add_causal_mask(PlanBuilder& builder, const Problem& problem, int scores) {
  const auto mask_tensor = [&](const std::string& name, ElementType type) {
    return builder.allocate(name, TensorKind::scratch, 1, problem.seqlen_q, problem.seqlen_k, type);
  };
  const auto task = [&](const std::string& name, int source, int target) {
    return ElementwiseTask{name, source, target, 1, problem.seqlen_q, problem.seqlen_k, builder.type()};
  };
  const int full = mask_tensor("mask_full", ElementType::fp32);
  builder.launch(standard::fill_launch(task("mask_full", full, full), kMaskedScore));
  const int triangle = mask_tensor("mask_triu", ElementType::fp32);
  builder.launch(standard::triu_launch(task("mask_triu", full, triangle), builder.diagonal()));
  builder.release(full);
  const int mask = mask_tensor("mask", builder.type());
  builder.launch(standard::cast_launch(task("mask_cast", triangle, mask)));
  const int masked = builder.allocate_scores("masked_scores");
  builder.launch(standard::add_mask_launch(builder.score_task("add_mask", scores, masked), mask));
  builder.release(mask);
  builder.release(scores);
  return masked;
}

}  // namespace

KernelPlan plan_standard(const Problem& problem, const GpuLimits& limits) {
  standard::check_problem(problem, "standard");
  if (problem.pass == Pass::backward) {
    return standard::plan_backward(problem, limits);
  }
  PlanBuilder builder(problem, limits);
  builder.allocate_inputs();
  const int q = contiguous(builder, problem, "q", PlanBuilder::kQ, problem.seqlen_q);
  const bool copies = problem.batch > 1;
  const int k = copies ? contiguous_transposed_k(builder, problem) : PlanBuilder::kK;
  int scores = builder.allocate_scores("scores");
  builder.launch_scores(q, k, scores, builder.scale(), copies);
  if (problem.causal) {
    scores = add_causal_mask(builder, problem, scores);
  }
  const int probabilities = builder.allocate_scores("probabilities");
  builder.launch_softmax(scores, probabilities, kWarpColumns2023, kRowCache2023);
  // Dropout with p = 0 returns its input.
  const int v = contiguous(builder, problem, "v", PlanBuilder::kV, problem.seqlen_k);
  builder.launch_output(probabilities, v);
  return builder.take();
}

KernelPlan plan_standard_eager(const Problem& problem, const GpuLimits& limits) {
  standard::check_problem(problem, "standard_eager");
  if (problem.pass == Pass::backward) {
    return standard::plan_eager_backward(problem, limits);
  }
  PlanBuilder builder(problem, limits);
  builder.allocate_inputs();
  int scores = builder.allocate_scores("scores");
  builder.launch_scores(PlanBuilder::kQ, PlanBuilder::kK, scores, 1.0F);
  const auto next_scores = [&](const std::string& name) {
    const int target = builder.allocate_scores(name);
    builder.release(scores);
    return target;
  };
  const int scaled = next_scores("scaled_scores");
  builder.launch(standard::scale_launch(
      builder.score_task("vectorized_elementwise_kernel<mul>", scores, scaled), builder.scale()));
  scores = scaled;
  if (problem.causal) {
    const int mask = builder.allocate("causal_mask", TensorKind::input, 1, problem.seqlen_q, problem.seqlen_k,
                                      ElementType::boolean);
    const int masked = next_scores("masked_scores");
    builder.launch(standard::memcpy_launch(builder.score_task(standard::kCloneName, scores, masked)));
    builder.launch(standard::masked_fill_launch(
        builder.score_task("elementwise_kernel<masked_fill>", masked, masked), mask));
    scores = masked;
  }
  const int probabilities = builder.allocate_scores("probabilities");
  builder.launch_softmax(scores, probabilities, kWarpColumnsEager, kRowCacheEager);
  builder.release(scores);
  builder.launch_output(probabilities, PlanBuilder::kV);
  return builder.take();
}

}  // namespace warpscope::kernels
