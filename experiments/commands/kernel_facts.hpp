// What `warpscope list kernels` knows of a kernel, found by asking it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::experiments {

/// Of the warp instructions of a reference problem (kernels::survey_problem) what stands in tables.
struct TableShare {
  kernels::Pass pass = kernels::Pass::forward;
  std::int64_t head_dim = 0;  ///< of a product its depth; 0 where the kernel has neither
  bool causal = false;
  double share = 0;  ///< of 1

  /// More than a kernel should leave to tables.
  bool is_high() const { return share > kMost; }
  static constexpr double kMost = 0.03;
};

struct KernelFacts {
  kernels::Kernel kernel;
  std::vector<std::int64_t> forward_head_dims;  ///< empty where the kernel has none
  std::vector<std::int64_t> backward_head_dims;
  std::vector<std::string> masks;
  std::vector<std::string> dtypes;
  std::vector<TableShare> shares;  ///< forward before backward, by head dimension, causal last

  bool is_attention() const { return kernel.type == kernels::ProblemType::attention; }
  std::optional<TableShare> share(kernels::Pass pass, std::int64_t head_dim, bool causal) const;
};

/// On a GPU of these limits, with the shares of those of `head_dims` that the kernel takes.
KernelFacts facts_of(const kernels::Kernel& kernel, const kernels::GpuLimits& limits,
                     std::span<const std::int64_t> head_dims, bool with_causal);

}  // namespace warpscope::experiments
