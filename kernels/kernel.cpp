#include "kernels/kernel.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/fa1/fa1.hpp"
#include "kernels/fa2/fa2.hpp"
#include "kernels/standard/standard.hpp"

namespace warpscope::kernels {
namespace {

constexpr std::array kKernels = {
    Kernel{"fa1", "FlashAttention-1 v1.0.9: O in HBM between key blocks, warps split over keys", &plan_fa1,
           &build_fa1},
    Kernel{"fa2", "FlashAttention-2, built as its repository does", &plan_fa2, &build_fa2},
    Kernel{"fa2_torch", "FlashAttention-2 inside PyTorch: unfused, slow exponential", &plan_fa2_torch,
           &build_fa2_torch},
    Kernel{"standard",
           "PyTorch function of the FlashAttention-2 benchmark: scores in HBM; GEMMs on mma.sync everywhere",
           &plan_standard, &build_standard},
    Kernel{"standard_eager",
           "matmul, scale, masked_fill, softmax, matmul in PyTorch 2.11; GEMMs on mma.sync everywhere",
           &plan_standard_eager, &build_standard_eager},
};

}  // namespace

std::span<const Kernel> all_kernels() {
  return kKernels;
}

const Kernel& find_kernel(std::string_view name) {
  std::string legal;
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name == name) {
      return kernel;
    }
    legal += legal.empty() ? "" : ", ";
    legal += kernel.name;
  }
  throw std::invalid_argument("unknown kernel '" + std::string(name) + "'; legal are " + legal);
}

}  // namespace warpscope::kernels
