// PyTorch's softmax over the last dimension of the score matrices.
#pragma once

#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

/// target = softmax of each row of source; `segments` matrices of rows x cols.
struct SoftmaxTask {
  int source = 0;  ///< index into KernelPlan::tensors, as target
  int target = 0;
  std::int64_t segments = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ElementType type = ElementType::fp16;
  /// Scores (i, j) with j - i > cols - rows are masked: their numerators are zero, which sends the division
  /// into its subroutine.
  bool causal = false;
  /// The block kernel of March 2024 and later: a row that fits stays in shared memory, threads reduce by
  /// shuffles.
  bool row_cache = true;
};

/// softmax_warp_forward: a warp holds one row (two of up to 128 columns) in registers. For up to 2048
/// columns.
LaunchPlan warp_softmax_launch(const SoftmaxTask& task);
/// A CTA makes three passes over a row. cunn_SoftMaxForwardSmem keeps it in shared memory;
/// cunn_SoftMaxForward, for rows that do not fit and for all before March 2024 (pytorch/pytorch#122970),
/// reads it three times.
LaunchPlan block_softmax_launch(const SoftmaxTask& task);

/// Spans of `span` neighbouring elements of row `row` that hold a masked score.
std::int64_t masked_spans(const SoftmaxTask& task, std::int64_t row, std::int64_t span);

}  // namespace warpscope::kernels::standard
