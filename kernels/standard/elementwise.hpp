// PyTorch's elementwise kernels: one pass over the scores each, which is what standard attention pays for.
#pragma once

#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

/// target = f(source) over `segments` matrices of rows x cols elements (batch times heads score matrices,
/// say).
struct ElementwiseTask {
  std::string name;
  int source = 0;  ///< index into KernelPlan::tensors, as target
  int target = 0;
  std::int64_t segments = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  ElementType type = ElementType::fp16;
  bool uniform_parameters = false;  ///< see IndexArithmetic
  /// A thread of the vectorized kernel has four elements, as in PyTorch of 2023 (thread_work_size() in
  /// thread_constants.h), not 16 bytes of them as in 2.11.
  bool four_elements = false;
};

/// masked_fill clones its input and fills the clone. Nsight Compute lists no copies.
inline constexpr const char* kCloneName = "memcpy_device_to_device";

// PyTorch launches these over one flat range. Here grid z is the segment, so that a broadcast mask can be
// addressed; the number and order of the CTAs is the same where the CTA's range divides rows * cols.

/// vectorized_elementwise_kernel: target = source * factor.
LaunchPlan scale_launch(const ElementwiseTask& task, float factor);
/// vectorized_elementwise_kernel: target = source * factor, element by element.
LaunchPlan multiply_launch(const ElementwiseTask& task, int factor);
/// What cudaMemcpyAsync runs within a GPU: target = source, 16-byte accesses.
LaunchPlan memcpy_launch(const ElementwiseTask& task);
/// elementwise_kernel<128, 4>: target = mask ? -inf : source, mask a byte per element of one segment.
LaunchPlan masked_fill_launch(const ElementwiseTask& task, int mask);
/// The same kernel with 0 in place of -inf, as the gradient takes it.
LaunchPlan masked_zero_launch(const ElementwiseTask& task, int mask);
/// elementwise_kernel<128, 4>: target = source + mask, mask of the task's type, one segment.
LaunchPlan add_mask_launch(const ElementwiseTask& task, int mask);
/// elementwise_kernel<128, 4>: target = source, a copy to another memory layout.
LaunchPlan copy_launch(const ElementwiseTask& task);
/// elementwise_kernel<128, 4>: target = source transposed; rows and cols are those of the target. The
/// iteration follows the target's order, so that the lanes of a load read one element each of 32 rows of the
/// source: 32 sectors. Grid (512 columns, row, segment), which is PyTorch's flat order where 512 divides
/// cols.
LaunchPlan transposing_copy_launch(const ElementwiseTask& task);

/// vectorized_elementwise_kernel: every element of the fp32 target = value.
LaunchPlan fill_launch(const ElementwiseTask& task, float value);
/// The same, asked for bytes, of which PyTorch of 2023 gives a thread four: so a thread writes one element.
LaunchPlan fill_bytes_launch(const ElementwiseTask& task, float value);
/// triu_tril_kernel on fp32: elements (i, j) with j - i > diagonal are kept, others become 0.
LaunchPlan triu_launch(const ElementwiseTask& task, std::int64_t diagonal);
/// unrolled_elementwise_kernel: target (the task's type) = source (fp32).
LaunchPlan cast_launch(const ElementwiseTask& task);

}  // namespace warpscope::kernels::standard
