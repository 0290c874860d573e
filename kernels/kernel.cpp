#include "kernels/kernel.hpp"

#include <array>
#include <stdexcept>

namespace warpscope::kernels {
namespace {

constexpr std::array<Kernel, 0> kKernels{};

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
