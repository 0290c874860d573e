// PyTorch's concatenation of tensors whose memory is not contiguous.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

/// One of the tensors: `segments` matrices of rows x cols elements, which the target holds as they are.
struct ConcatenatedTensor {
  int source = 0;  ///< index into KernelPlan::tensors, as target
  int target = 0;
  std::int64_t rows = 0;
  bool transposed = false;  ///< the source holds cols x rows
};

struct ConcatenateTask {
  std::vector<ConcatenatedTensor> tensors;
  std::int64_t segments = 1;
  std::int64_t cols = 0;
  ElementType type = ElementType::fp16;
};

/// CatArrayBatchedCopy: 512 threads, an element each per round; two CTAs per SM and tensor go through all its
/// elements. So those of the third tensor start as others end, and then have the SMs half to themselves.
/// PyTorch gives them rounds in turn; here a CTA's rounds follow each other, so that its positions are
/// affine.
LaunchPlan concatenate_launch(const ConcatenateTask& task, int sms);

}  // namespace warpscope::kernels::standard
