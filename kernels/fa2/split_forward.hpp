// FlashAttention-2's forward pass through its split-KV kernels.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// One launch, and a second that combines the parts where the keys are divided into several. `call`: as
/// as_called() makes it. Throws UnsupportedProblem for more parts than the library takes.
KernelPlan plan_split(const Problem& call, std::int64_t splits, const GpuLimits& limits, Build build);

/// The tensors of a forward pass, in the order of Tensor up to kLse.
std::vector<TensorSpec> forward_tensors(const Problem& problem);

}  // namespace warpscope::kernels::fa2
