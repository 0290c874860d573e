#include "model/memory/block_cache.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpscope::memory {

BlockCache::BlockCache(std::int64_t capacity_bytes, int ways, std::int64_t dirty_limit_bytes)
    : ways_(static_cast<std::uint32_t>(ways)),
      set_rows_((ways_ + kRowWays - 1) / kRowWays),
      sets_(static_cast<std::uint32_t>(std::max<std::int64_t>(1, capacity_bytes / kBlockBytes / ways))),
      dirty_limit_bytes_(dirty_limit_bytes) {
  if (ways < 1 || ways > kMostWays) {
    throw std::invalid_argument("a set of the cache has 1 to " + std::to_string(kMostWays) + " ways, not " +
                                std::to_string(ways));
  }
  clear();
}

void BlockCache::clear() {
  rows_.assign(std::size_t{sets_} * set_rows_, {});
  keys_.assign(rows_.size() * kRowWays, kNoKey);
  blocks_.assign(keys_.size(), {});
  dirty_order_.reset(keys_.size());
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto first_way = static_cast<std::uint32_t>(row) % set_rows_ * kRowWays;
    for (std::uint32_t way = 0; way < kRowWays; ++way) {
      // What lies beyond the ways of the set is never the oldest.
      const std::uint32_t age = first_way + way < ways_ ? ways_ - 1 - first_way - way : ways_;
      rows_[row].ages[way] = static_cast<std::uint8_t>(age);
    }
  }
  last_ = 0;
  last_key_ = kNoKey;
  free_blocks_ = std::int64_t{sets_} * ways_;
  dirty_bytes_ = 0;
}

void BlockCache::settle() {
  for (Block& block : blocks_) {
    block.awaited = 0;
  }
}

void BlockCache::write_back(std::uint32_t index, std::vector<WriteBack>& written) {
  Block& block = blocks_[index];
  const std::int64_t bytes = bytes_of(block.dirty);
  const auto tensor = static_cast<std::uint32_t>(keys_[index] >> kTensorShift);
  if (!written.empty() && written.back().tensor == tensor) {
    written.back().dirty_bytes += bytes;
  } else {
    written.push_back({tensor, bytes});
  }
  dirty_bytes_ -= bytes;
  block.dirty = 0;
  dirty_order_.remove(index);
}

}  // namespace warpscope::memory
