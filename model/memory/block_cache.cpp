#include "model/memory/block_cache.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpscope::memory {

BlockCache::BlockCache(const CacheShape& shape)
    : ways_(static_cast<std::uint32_t>(shape.ways)),
      set_rows_((ways_ + kRowWays - 1) / kRowWays),
      sets_(static_cast<std::uint32_t>(
          std::max<std::int64_t>(1, shape.capacity_bytes / shape.partitions / kBlockBytes / shape.ways))),
      partitions_(static_cast<std::uint32_t>(shape.partitions)),
      dealt_to_(static_cast<std::uint64_t>(shape.dealt_to)),
      number_(static_cast<std::uint64_t>(shape.number)),
      most_dirty_(sets_) {
  if (shape.ways < 1 || shape.ways > kMostWays) {
    throw std::invalid_argument("a set of the cache has 1 to " + std::to_string(kMostWays) + " ways, not " +
                                std::to_string(shape.ways));
  }
  // Where that is no whole number, some sets have one more, spread over them.
  const std::int64_t dirty_blocks = shape.dirty_bytes / shape.partitions / kBlockBytes;
  const std::int64_t sets = sets_;
  for (std::int64_t set = 0; set < sets; ++set) {
    const std::int64_t most = (set + 1) * dirty_blocks / sets - set * dirty_blocks / sets;
    most_dirty_[static_cast<std::size_t>(set)] =
        static_cast<std::uint16_t>(std::clamp<std::int64_t>(most, 1, shape.ways) * kLinesPerBlock);
  }
  clear();
}

void BlockCache::clear() {
  rows_.assign(std::size_t{sets_} * set_rows_, {});
  keys_.assign(rows_.size() * kRowWays, kNoKey);
  blocks_.assign(keys_.size(), {});
  dirty_ways_.assign(rows_.size(), {});
  dirty_lines_.assign(sets_, 0);
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

void BlockCache::add_dirty(const BlockAddress& address, int lines, std::vector<WriteBack>& written) {
  const std::uint32_t set = address.row / set_rows_;
  dirty_ways_[last_ / kRowWays] |= static_cast<std::uint16_t>(1U << last_ % kRowWays);
  dirty_lines_[set] = static_cast<std::uint16_t>(dirty_lines_[set] + lines);
  while (dirty_lines_[set] > most_dirty_[set]) {
    const std::uint32_t oldest = oldest_dirty(address.row);
    if (oldest == last_) {
      return;
    }
    write_back(oldest, written);
  }
}

std::uint32_t BlockCache::oldest_dirty(std::uint32_t first_row) const {
  std::uint32_t oldest = last_;
  int oldest_age = 0;
  for (std::uint32_t row = first_row; row < first_row + set_rows_; ++row) {
    for (std::uint32_t rest = dirty_ways_[row]; rest != 0; rest &= rest - 1) {
      const auto way = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (rows_[row].ages[way] > oldest_age) {
        oldest_age = rows_[row].ages[way];
        oldest = row * kRowWays + way;
      }
    }
  }
  return oldest;
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
  std::uint16_t& lines = dirty_lines_[index / kRowWays / set_rows_];
  lines = static_cast<std::uint16_t>(lines - lines_with(block.dirty));
  block.dirty = 0;
  dirty_ways_[index / kRowWays] &= static_cast<std::uint16_t>(~(1U << index % kRowWays));
}

}  // namespace warpscope::memory
