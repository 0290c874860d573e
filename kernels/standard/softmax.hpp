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
  bool cuda_11 =
      false;  ///< compiled by CUDA 11.8 for sm_80, as PyTorch of 2023 was; else by CUDA 13 for sm_90
};

/// softmax_warp_forward: a warp holds one row (two of up to 128 columns) in registers. For up to 2048
/// columns.
LaunchPlan warp_softmax_launch(const SoftmaxTask& task);
/// A CTA holds one row in registers, where fits_registers(), as PyTorch 2.11 does.
LaunchPlan register_softmax_launch(const SoftmaxTask& task);
/// A CTA makes three passes over a row. cunn_SoftMaxForwardSmem keeps it in shared memory;
/// cunn_SoftMaxForward, for rows that do not fit and for all before March 2024 (pytorch/pytorch#122970),
/// reads it three times.
LaunchPlan block_softmax_launch(const SoftmaxTask& task);

/// target = source - output * rowsum(source), row by row, which is the gradient of softmax where `source` is
/// the product of its output with the gradient of its output.
struct SoftmaxBackwardTask {
  int source = 0;  ///< index into KernelPlan::tensors, as output and target
  int output = 0;
  int target = 0;
  std::int64_t segments = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ElementType type = ElementType::fp16;
  bool row_cache = true;  ///< the block kernel of PyTorch 2.11 (SoftmaxTask)
  bool cuda_11 = false;   ///< as there
};

/// softmax_warp_backward: a warp holds one row (two of up to 128 columns) in registers. For up to 1024
/// columns.
LaunchPlan warp_softmax_backward_launch(const SoftmaxBackwardTask& task);
/// A CTA makes two passes over a row. cunn_SoftMaxBackwardSmem keeps the source in shared memory, where its
/// rows fit and begin at multiples of 16 bytes; cunn_SoftMaxBackward reads it twice.
LaunchPlan block_softmax_backward_launch(const SoftmaxBackwardTask& task);

/// Threads of a CTA of PyTorch 2.11's forward kernels that have a CTA per row: one per column, up to 1024.
int forward_softmax_threads(std::int64_t columns);
/// Rows of so many columns take at most nine elements of each thread (SoftMax.cu, host_softmax).
bool fits_registers(std::int64_t columns);

/// Threads of a CTA of the other block kernels: half of the row's pieces of `piece` elements (16 bytes),
/// rounded up to a power of two.
int block_softmax_threads(std::int64_t columns, int piece);

/// Spans of `span` neighbouring elements of row `row` that hold a masked score.
std::int64_t masked_spans(const SoftmaxTask& task, std::int64_t row, std::int64_t span);

}  // namespace warpscope::kernels::standard
