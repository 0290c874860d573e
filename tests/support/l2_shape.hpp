// The L2 of a shipped GPU as its contents see it.
#pragma once

#include <string>

#include "model/hw/config_loader.hpp"
#include "model/memory/block_cache.hpp"

namespace warpscope::tests {

/// All slices in one.
inline memory::CacheShape l2_shape(const std::string& gpu) {
  const hw::L2 l2 = hw::load(gpu, {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config.l2;
  return {.capacity_bytes = l2.capacity_bytes,
          .ways = l2.ways,
          .dirty_bytes = l2.dirty_bytes,
          .partitions = l2.partitions};
}

}  // namespace warpscope::tests
