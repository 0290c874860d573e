// The memory of the GPU that the tensors of a kernel take.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "model/trace/wide_integer.hpp"

namespace warpscope::kernels {

/// Keeps account of what is allocated at the same time.
class DeviceMemory {
 public:
  explicit DeviceMemory(const GpuLimits& limits);

  /// Throws UnsupportedProblem if that is more than the GPU has.
  void allocate(const TensorSpec& tensor);
  void release(const TensorSpec& tensor);

 private:
  std::int64_t capacity_bytes_;
  trace::Int128 allocated_bytes_ = 0;
};

/// The same for tensors that all live at once.
void require_memory(const std::vector<TensorSpec>& tensors, const GpuLimits& limits);

}  // namespace warpscope::kernels
