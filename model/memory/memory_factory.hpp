// Who makes the memory of a GPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/memory/tensor_extent.hpp"

namespace warpscope::memory {

class Memory;  // model/memory/memory.hpp

/// Makes the memory of a GPU for these tensors. Called before the SystemC simulation begins, so that it can
/// make modules; they must live as long as what it returns.
using MemoryFactory = std::function<std::unique_ptr<Memory>(const hw::HwConfig& config,
                                                            const std::vector<TensorExtent>& tensors)>;

}  // namespace warpscope::memory
