// Puts the launches of standard attention together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/standard/elementwise.hpp"
#include "kernels/standard/gemm.hpp"

namespace warpscope::kernels::standard {

/// Throws UnsupportedProblem for what neither kernel of this folder runs. `kernel` is named in the message.
void check_problem(const Problem& problem, std::string_view kernel);

class PlanBuilder {
 public:
  PlanBuilder(const Problem& problem, const GpuLimits& limits);

  std::int64_t matrices() const { return problem_.batch * problem_.heads; }
  ElementType type() const { return type_; }
  /// Whether the GPU's code has kernel parameters in uniform registers (IndexArithmetic).
  bool uniform_parameters() const { return limits_.compute_capability_major >= 9; }
  /// 1 / sqrt(head_dim).
  float scale() const;
  /// Keys minus queries.
  std::int64_t diagonal() const { return problem_.seqlen_k - problem_.seqlen_q; }

  /// Adds a tensor that is allocated now; the result is its index. Throws UnsupportedProblem if the GPU has
  /// too little memory.
  int allocate(const std::string& name, trace::TensorKind kind, std::int64_t segments, std::int64_t rows,
               std::int64_t cols, ElementType type);
  /// Q, K and V as inputs of one matrix per batch and head.
  void allocate_inputs();
  /// A tensor of one score matrix per batch and head.
  int allocate_scores(const std::string& name);
  /// A tensor of the problem's type that holds the transposes, rows x cols, of matrices of cols x rows.
  int allocate_transposed(const std::string& name, trace::TensorKind kind, std::int64_t rows,
                          std::int64_t cols);
  /// Memory for a tensor of rows x head_dim per batch and head that is alive, but that no launch touches.
  void hold(const std::string& name, std::int64_t rows);
  /// The memory of `tensor` may be used again by later allocations, as the caching allocator of PyTorch does.
  void release(int tensor);

  void launch(LaunchPlan launch) { plan_.launches.push_back(std::move(launch)); }
  ElementwiseTask score_task(const std::string& name, int source, int target) const;
  /// scores = alpha * q * transposed(k); `k` is keys x head_dim, or head_dim x keys where it is transposed in
  /// memory already.
  void launch_scores(int q, int k, int scores, float alpha, bool k_is_transposed = false);
  /// O = probabilities * v; allocates O.
  void launch_output(int probabilities, int v);
  /// Sets batch, type and the tile's name, and picks the tile.
  void launch_product(GemmTask task) { launch(gemm(std::move(task))); }
  /// target = gradient of the scores by that of the probabilities times these.
  void launch_softmax_backward(int product, int probabilities, int target, bool row_cache);
  /// Rows of up to `most_warp_columns` take the warp kernel, longer ones the block kernel with or without
  /// `row_cache`.
  void launch_softmax(int scores, int probabilities, std::int64_t most_warp_columns, bool row_cache);

  KernelPlan take() {
    plan_.live_bytes = memory_.most_bytes();
    return std::move(plan_);
  }

  static constexpr int kQ = 0;
  static constexpr int kK = 1;
  static constexpr int kV = 2;

 private:
  LaunchPlan gemm(GemmTask task) const;

  Problem problem_;
  GpuLimits limits_;
  DeviceMemory memory_;
  ElementType type_;
  KernelPlan plan_;
};

}  // namespace warpscope::kernels::standard
