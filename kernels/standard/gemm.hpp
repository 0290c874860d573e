// Batched matrix product on tensor cores as the vendor's library runs it on A100: a multistage tile kernel.
#pragma once

#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

/// One tile kernel of the library, named there <m>x<n>_..._<k>x<stages>.
struct GemmTile {
  int m;          ///< rows of C per CTA
  int n;          ///< columns of C per CTA
  int k;          ///< columns of A per step
  int stages;     ///< steps whose tiles have room in shared memory
  int warps_m;    ///< warps over the rows
  int warps_n;    ///< warps over the columns
  int registers;  ///< per thread
};

/// C = alpha * A * B for each of `batch` segments; A is m x k, stored k x m if a_transposed; B is k x n,
/// stored n x k if b_transposed.
struct GemmTask {
  std::string name;
  int a = 0;  ///< index into KernelPlan::tensors, as b and c
  int b = 0;
  int c = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool a_transposed = false;
  bool b_transposed = false;
  float alpha = 1.0F;
  ElementType type = ElementType::fp16;
};

/// The tile kernel that the library picks for a product of m x n elements. Where A is transposed, few rows
/// are a head dimension, not a short sequence. Throws UnsupportedProblem where no tile fits the shared memory
/// of the GPU.
const GemmTile& choose_gemm_tile(std::int64_t m, std::int64_t n, const GpuLimits& limits,
                                 bool a_transposed = false);
/// Shared memory of a CTA in bytes.
int shared_bytes(const GemmTile& tile);

/// The product as the library runs it on this GPU: on Hopper by warpgroups where a tile of theirs fits
/// (wgmma_gemm.hpp), else by the tile above. The name of the tile is appended to that of the task.
LaunchPlan library_gemm_launch(GemmTask task, const GpuLimits& limits);

/// Grid (column tiles, row tiles, batch).
LaunchPlan gemm_launch(const GemmTask& task, const GemmTile& tile);

}  // namespace warpscope::kernels::standard
