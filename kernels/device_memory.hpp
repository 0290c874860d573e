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
  /// The most that was allocated at the same time.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  std::int64_t capacity_bytes_;
  trace::Int128 allocated_bytes_ = 0;
  std::int64_t most_bytes_ = 0;
};

/// The same for tensors that all live at once.
void require_memory(const std::vector<TensorSpec>& tensors, const GpuLimits& limits);

/// Memory of the tensors of `plan` that are alive at once at most, in bytes, without what libraries take for
/// themselves.
std::int64_t live_bytes(const KernelPlan& plan);

}  // namespace warpscope::kernels
