#include "kernels/standard/backward.hpp"

#include "kernels/standard/concatenate.hpp"
#include "kernels/standard/elementwise.hpp"
#include "kernels/standard/plan_builder.hpp"

namespace warpscope::kernels::standard {
namespace {

using trace::TensorKind;

// Order, kernels and copies of all that follows: launches of PyTorch 2.11 on an H200
// (experiments/reference/measured-h200/standard_backward.md).

/// What every backward pass begins with. Products come in the order in which autograd's nodes list their
/// inputs by name: "mat2" before "self", "batch1" before "batch2".
class Backward {
 public:
  Backward(const Problem& problem, const GpuLimits& limits) : problem_(problem), builder_(problem, limits) {
    builder_.allocate_inputs();
    probabilities_ = saved_scores("probabilities");
    builder_.hold("O", problem.seqlen_q);
    grad_o_ = builder_.allocate("dO", TensorKind::input, builder_.matrices(), problem.seqlen_q,
                                problem.head_dim, builder_.type());
  }

  PlanBuilder& builder() { return builder_; }

  /// An output or scratch tensor in the form of Q, K or V.
  int gradient(const std::string& name, TensorKind kind, std::int64_t rows) {
    return builder_.allocate(name, kind, builder_.matrices(), rows, problem_.head_dim, builder_.type());
  }
  /// The same of K, transposed.
  int transposed_gradient(const std::string& name, TensorKind kind) {
    return builder_.allocate_transposed(name, kind, problem_.head_dim, problem_.seqlen_k);
  }

  /// dV = P' dO, dP = dO V', dS = P (dP - rowsum(P dP)); the result is dS.
  int launch_until_scores(int grad_v, bool row_cache, bool four_elements) {
    builder_.launch_product({.name = "dv_gemm",
                             .a = probabilities_,
                             .b = grad_o_,
                             .c = grad_v,
                             .m = problem_.seqlen_k,
                             .n = problem_.head_dim,
                             .k = problem_.seqlen_q,
                             .a_transposed = true});
    const int grad_p = builder_.allocate_scores("dP");
    builder_.launch_product({.name = "dp_gemm",
                             .a = grad_o_,
                             .b = PlanBuilder::kV,
                             .c = grad_p,
                             .m = problem_.seqlen_q,
                             .n = problem_.seqlen_k,
                             .k = problem_.head_dim,
                             .b_transposed = true});
    const int product = builder_.allocate_scores("dP_times_P");
    ElementwiseTask multiply = builder_.score_task("vectorized_elementwise_kernel<mul>", grad_p, product);
    multiply.four_elements = four_elements;
    builder_.launch(multiply_launch(multiply, probabilities_));
    const int grad_s = builder_.allocate_scores("dS");
    builder_.launch_softmax_backward(product, probabilities_, grad_s, row_cache);
    builder_.release(product);
    builder_.release(grad_p);
    builder_.release(probabilities_);
    return grad_s;
  }

  void launch_grad_q(int grad_s, int k, int grad_q, bool k_is_transposed) {
    builder_.launch_product({.name = "dq_gemm",
                             .a = grad_s,
                             .b = k,
                             .c = grad_q,
                             .m = problem_.seqlen_q,
                             .n = problem_.head_dim,
                             .k = problem_.seqlen_k,
                             .b_transposed = k_is_transposed});
  }

  /// Transposed: Q' dS, head_dim x keys.
  void launch_grad_k(int grad_s, int grad_k) {
    builder_.launch_product({.name = "dk_gemm",
                             .a = PlanBuilder::kQ,
                             .b = grad_s,
                             .c = grad_k,
                             .m = problem_.head_dim,
                             .n = problem_.seqlen_k,
                             .k = problem_.seqlen_q,
                             .a_transposed = true});
  }

 private:
  int saved_scores(const std::string& name) {
    return builder_.allocate(name, TensorKind::input, builder_.matrices(), problem_.seqlen_q,
                             problem_.seqlen_k, builder_.type());
  }

  const Problem& problem_;
  PlanBuilder builder_;
  int probabilities_ = 0;
  int grad_o_ = 0;
};

constexpr bool kRowCache2023 = false;  // as forward's
constexpr bool kRowCacheEager = true;

}  // namespace

KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits) {
  Backward backward(problem, limits);
  PlanBuilder& builder = backward.builder();
  const bool copies = problem.batch > 1;
  // The copies of q and v have the form of Q and V, which stand for them in the products.
  int k = PlanBuilder::kK;
  if (copies) {
    builder.hold("q_copy", problem.seqlen_q);
    k = backward.transposed_gradient("k_copy", TensorKind::input);
    builder.hold("v_copy", problem.seqlen_k);
  }
  const int grad_v = backward.gradient("dV_heads", TensorKind::scratch, problem.seqlen_k);
  const int grad_s = backward.launch_until_scores(grad_v, kRowCache2023, true);
  const auto scaled = [&](const std::string& name, int source, int target, std::int64_t rows,
                          std::int64_t cols) {
    ElementwiseTask task{name, source, target, builder.matrices(), rows, cols, builder.type()};
    task.four_elements = true;
    builder.launch(scale_launch(task, builder.scale()));
    builder.release(source);
  };
  const int grad_q = backward.gradient("dQ_unscaled", TensorKind::scratch, problem.seqlen_q);
  backward.launch_grad_q(grad_s, k, grad_q, copies);
  const int scaled_q = backward.gradient("dQ_heads", TensorKind::scratch, problem.seqlen_q);
  scaled("scale_dq", grad_q, scaled_q, problem.seqlen_q, problem.head_dim);
  const int grad_k = backward.transposed_gradient("dK_unscaled", TensorKind::scratch);
  backward.launch_grad_k(grad_s, grad_k);
  builder.release(grad_s);
  const int scaled_k = backward.transposed_gradient("dK_heads", TensorKind::scratch);
  scaled("scale_dk", grad_k, scaled_k, problem.head_dim, problem.seqlen_k);
  const int dq = backward.gradient("dQ", TensorKind::output, problem.seqlen_q);
  const int dk = backward.gradient("dK", TensorKind::output, problem.seqlen_k);
  const int dv = backward.gradient("dV", TensorKind::output, problem.seqlen_k);
  builder.launch(concatenate_launch({{{scaled_q, dq, problem.seqlen_q, false},
                                      {scaled_k, dk, problem.seqlen_k, true},
                                      {grad_v, dv, problem.seqlen_k, false}},
                                     builder.matrices(),
                                     problem.head_dim,
                                     builder.type()},
                                    limits.sm_count));
  return builder.take();
}

KernelPlan plan_eager_backward(const Problem& problem, const GpuLimits& limits) {
  Backward backward(problem, limits);
  PlanBuilder& builder = backward.builder();
  int mask = 0;
  if (problem.causal) {
    mask = builder.allocate("causal_mask", TensorKind::input, 1, problem.seqlen_q, problem.seqlen_k,
                            ElementType::boolean);
  }
  const int grad_v = backward.gradient("dV", TensorKind::output, problem.seqlen_k);
  int scores = backward.launch_until_scores(grad_v, kRowCacheEager, false);
  const auto next_scores = [&](const std::string& name) {
    const int target = builder.allocate_scores(name);
    builder.release(scores);
    return target;
  };
  if (problem.causal) {
    const int masked = next_scores("masked_dS");
    builder.launch(memcpy_launch(builder.score_task(kCloneName, scores, masked)));
    builder.launch(
        masked_zero_launch(builder.score_task("elementwise_kernel<masked_fill>", masked, masked), mask));
    scores = masked;
  }
  const int scaled = next_scores("scaled_dS");
  builder.launch(scale_launch(builder.score_task("vectorized_elementwise_kernel<mul_scalar>", scores, scaled),
                              builder.scale()));
  const int grad_k = backward.transposed_gradient("dK", TensorKind::output);
  backward.launch_grad_k(scaled, grad_k);
  const int grad_q = backward.gradient("dQ", TensorKind::output, problem.seqlen_q);
  backward.launch_grad_q(scaled, PlanBuilder::kK, grad_q, false);
  return builder.take();
}

}  // namespace warpscope::kernels::standard
