#include "model/memory/block_cache.hpp"

#include <algorithm>

namespace warpscope::memory {

BlockCache::BlockCache(std::int64_t capacity_bytes, int ways, std::int64_t dirty_limit_bytes)
    : ways_(static_cast<std::uint32_t>(ways)),
      set_rows_((ways_ + kRowWays - 1) / kRowWays),
      sets_(static_cast<std::uint32_t>(std::max<std::int64_t>(1, capacity_bytes / kBlockBytes / ways))),
      dirty_limit_bytes_(dirty_limit_bytes) {
  clear();
}

void BlockCache::clear() {
  rows_.assign(std::size_t{sets_} * set_rows_, {});
  order_.assign(rows_.size() * kRowWays, {});
  blocks_.assign(rows_.size() * kRowWays, {});
  for (std::size_t row = 0; row < rows_.size(); row += set_rows_) {
    rows_[row].newest = ways_ - 1;
    for (std::uint32_t way = 0; way < ways_; ++way) {
      order_[row * kRowWays + way] = {static_cast<std::uint16_t>((way + 1) % ways_),
                                      static_cast<std::uint16_t>((way + ways_ - 1) % ways_)};
    }
  }
  last_ = 0;
  first_dirtied_ = last_dirtied_ = kNoBlock;
  free_blocks_ = std::int64_t{sets_} * ways_;
  dirty_bytes_ = 0;
}

void BlockCache::settle() {
  for (Block& block : blocks_) {
    block.awaited = 0;
  }
}

void BlockCache::note_dirtied(std::uint32_t index) {
  blocks_[index].dirtied_before = last_dirtied_;
  blocks_[index].dirtied_after = kNoBlock;
  (last_dirtied_ == kNoBlock ? first_dirtied_ : blocks_[last_dirtied_].dirtied_after) = index;
  last_dirtied_ = index;
}

void BlockCache::write_back(std::uint32_t index, std::vector<WriteBack>& written) {
  Block& block = blocks_[index];
  const std::int64_t bytes = bytes_of(block.dirty);
  const auto tensor = static_cast<std::uint32_t>(block.key >> kTensorShift);
  if (!written.empty() && written.back().tensor == tensor) {
    written.back().dirty_bytes += bytes;
  } else {
    written.push_back({tensor, bytes});
  }
  dirty_bytes_ -= bytes;
  block.dirty = 0;
  const std::uint32_t before = block.dirtied_before;
  const std::uint32_t after = block.dirtied_after;
  (before == kNoBlock ? first_dirtied_ : blocks_[before].dirtied_after) = after;
  (after == kNoBlock ? last_dirtied_ : blocks_[after].dirtied_before) = before;
}

}  // namespace warpscope::memory
