#include "experiments/point/point.hpp"

#include <cstdlib>

#include "experiments/base/data_directory.hpp"

namespace warpscope::experiments {

const char* text(kernels::DataType dtype) {
  return dtype == kernels::DataType::fp16 ? "fp16" : "bf16";
}

const char* text(kernels::Pass pass) {
  return pass == kernels::Pass::forward ? "fwd" : "bwd";
}

std::filesystem::path config_directory() {
  const char* chosen = std::getenv("WARPSCOPE_HWCONFIGS");
  return chosen != nullptr && *chosen != '\0' ? chosen : data_directory("hwconfigs", "hwconfigs");
}

}  // namespace warpscope::experiments
