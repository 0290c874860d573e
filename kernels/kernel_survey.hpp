// What a kernel takes, and how much of its instructions comes from tables: found by planning and lowering it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::kernels {

/// The problem that kernels are surveyed with: 4 heads of 2048 tokens, fp16; matrices of 2048 rows and
/// columns, of products 4.
Problem survey_problem(const Kernel& kernel, Pass pass, std::int64_t head_dim = 64, bool causal = false);

/// Whether the kernel plans `problem` on a GPU of these limits.
bool takes(const Kernel& kernel, const Problem& problem, const GpuLimits& limits);

/// Head dimensions up to 256 that a pass of the kernel takes, ascending.
std::vector<std::int64_t> head_dims(const Kernel& kernel, Pass pass, const GpuLimits& limits);

/// Of the warp instructions that a trace of `problem` executes the share that was counted in a build and
/// stands in tables (BuildFigures); the others are what the program's text expands to. Nothing where the
/// kernel does not take the problem.
std::optional<double> table_share(const Kernel& kernel, const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
