#include "experiments/store/model_version.hpp"

#include "warpscope_source_hash.hpp"  // written by the build, see source_hash.cmake

namespace warpscope::experiments {

std::string model_version() {
  return WARPSCOPE_VERSION "-" WARPSCOPE_SOURCE_HASH;
}

}  // namespace warpscope::experiments
