#include "kernels/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/unsupported.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::kernels {
namespace {

trace::Int128 bytes_of(const TensorSpec& tensor) {
  return (trace::Int128{tensor.segments} * tensor.rows - tensor.absent_rows) * tensor.cols *
         element_bytes(tensor.type);
}

}  // namespace

DeviceMemory::DeviceMemory(const GpuLimits& limits)
    // Of a GPU whose memory is not known at least the address space is.
    : capacity_bytes_(limits.memory_bytes != 0 ? limits.memory_bytes : trace::kMostAddress) {}

void DeviceMemory::allocate(const TensorSpec& tensor) {
  allocated_bytes_ += bytes_of(tensor);
  if (allocated_bytes_ > capacity_bytes_) {
    throw UnsupportedProblem(fmt::format("out of memory: {} bytes of tensors live at once, the GPU has {}",
                                         allocated_bytes_, capacity_bytes_));
  }
  most_bytes_ = std::max(most_bytes_, static_cast<std::int64_t>(allocated_bytes_));
}

void DeviceMemory::release(const TensorSpec& tensor) {
  allocated_bytes_ -= bytes_of(tensor);
}

void require_memory(const std::vector<TensorSpec>& tensors, const GpuLimits& limits) {
  DeviceMemory memory(limits);
  std::ranges::for_each(tensors, [&](const TensorSpec& tensor) { memory.allocate(tensor); });
}

std::int64_t live_bytes(const KernelPlan& plan) {
  if (plan.live_bytes != 0) {
    return plan.live_bytes;
  }
  DeviceMemory memory({});
  std::ranges::for_each(plan.tensors, [&](const TensorSpec& tensor) { memory.allocate(tensor); });
  return memory.most_bytes();
}

}  // namespace warpscope::kernels
