// One partition of the L2: blocks of 64 sectors of 32 bytes in sets, least recently used block out first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/memory/way_tags.hpp"

namespace warpscope::memory {

inline constexpr std::int64_t kSectorBytes = 32;  ///< unit of validity, as in the hardware
inline constexpr std::int64_t kSectorsPerBlock = 64;
inline constexpr std::int64_t kBlockBytes = kSectorsPerBlock * kSectorBytes;
/// Blocks that follow one another in a tensor and have the same home.
inline constexpr std::int32_t kPageBlocks = 32;

inline constexpr int kTensorShift = 48;
/// A block as one number: the tensor, then the block's number in it. Segments start at block boundaries.
inline std::uint64_t block_key(std::uint32_t tensor, std::int64_t block) {
  return std::uint64_t{tensor} << kTensorShift | static_cast<std::uint64_t>(block);
}

/// Bytes of the sectors in a mask.
inline std::int64_t bytes_of(std::uint64_t mask) {
  return std::popcount(mask) * kSectorBytes;
}

/// Bytes of blocks that are written back, because the blocks leave or because too much is dirty.
struct WriteBack {
  std::uint32_t tensor = 0;
  std::int64_t dirty_bytes = 0;
};

/// What a block was found to hold of the sectors read; a bit per sector.
struct Found {
  std::uint64_t missing = 0;
  std::uint64_t awaited = 0;  ///< there, but still on their way
  std::int64_t asked_at = 0;  ///< when the last of these were asked for
};

/// A block and where to look for it, in all partitions of the same size and ways.
struct BlockAddress {
  std::uint64_t key = 0;
  std::uint32_t row = 0;  ///< the first of its set
  std::uint8_t tag = 0;   ///< few others of its set have the same
};

/// State of a partition between accesses. Time is only what accesses say: sectors that were asked for less
/// than `fill_cycles` ago are on their way. Accesses may come out of their order in time, by a slice of an
/// SM: the earlier one then asks for the data.
class BlockCache {
 public:
  /// Sets of `ways` blocks each, whose addresses hash alike. Beyond `dirty_limit_bytes` what was written
  /// first is written back, and stays.
  BlockCache(std::int64_t capacity_bytes, int ways, std::int64_t dirty_limit_bytes);

  BlockAddress address_of(std::uint64_t key) const {
    // Spreads neighbours more evenly than chance would, as the hardware's hash seems to.
    const std::uint64_t hash = (key + 1) * 0xbf58476d1ce4e5b9ULL;
    return {.key = key,
            .row = static_cast<std::uint32_t>(hash >> 32) % sets_ * set_rows_,
            .tag = static_cast<std::uint8_t>(hash >> 24)};
  }

  /// Reads the sectors of `mask` and makes the block the most recent of its set. What is missing is there
  /// from now on.
  Found read(const BlockAddress& address, std::uint64_t mask, std::int64_t now,
             std::vector<WriteBack>& written);
  /// The same for a write. Returns the sectors that were clean or absent before.
  std::uint64_t write(const BlockAddress& address, std::uint64_t mask, std::vector<WriteBack>& written);
  /// Sectors of the block accessed last have been asked for at `now`.
  void await(std::uint64_t mask, std::int64_t now);

  /// How long missed sectors are on their way; none before this is set.
  void set_fill_cycles(std::int64_t cycles) { fill_cycles_ = cycles; }
  /// All that is on its way arrives; times of accesses may begin anew.
  void settle();
  /// Forgets everything without writing back.
  void clear();
  std::int64_t dirty_bytes() const { return dirty_bytes_; }
  std::int64_t used_bytes() const { return (std::int64_t{sets_} * ways_ - free_blocks_) * kBlockBytes; }

 private:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};

  /// A line of the host's cache.
  struct alignas(64) Block {
    std::uint64_t key = kNoKey;
    std::uint64_t valid = 0;  ///< bit per sector
    std::uint64_t dirty = 0;
    std::uint64_t awaited = 0;                ///< sectors missed last, all within one fill time
    std::int64_t asked_at = 0;                ///< when the last of them were
    std::uint32_t dirtied_before = kNoBlock;  ///< of a dirty block: the one that turned dirty before it
    std::uint32_t dirtied_after = kNoBlock;   ///< likewise
  };
  /// What finds the blocks of a set; a set of more than kRowWays has several.
  struct alignas(32) Row {
    WayTags tags{};
    std::uint32_t newest = 0;  ///< way of the set, in its first row
  };
  /// Orders the ways of a set by their last use: a ring, in which the oldest comes after the newest.
  struct Links {
    std::uint16_t newer = 0;
    std::uint16_t older = 0;
  };

  /// The block, made if it is absent, now the most recent of its set.
  Block& visit(const BlockAddress& address, std::vector<WriteBack>& written);
  /// Way of the block in its set; ways_ if it is absent.
  std::uint32_t find(const BlockAddress& address) const;
  static void make_newest(Row& row, Links* order, std::uint32_t way);
  /// Puts an absent block in the place of the oldest of its set; returns the way.
  std::uint32_t replace_oldest(const BlockAddress& address, std::vector<WriteBack>& written);
  void note_dirtied(std::uint32_t index);
  void write_back(std::uint32_t index, std::vector<WriteBack>& written);

  std::uint32_t ways_;
  std::uint32_t set_rows_;
  std::uint32_t sets_;
  std::uint32_t last_ = 0;  ///< block of the last access
  std::int64_t dirty_limit_bytes_;
  std::int64_t dirty_bytes_ = 0;
  std::int64_t free_blocks_ = 0;
  std::int64_t fill_cycles_ = 0;
  std::vector<Row> rows_;
  std::vector<Links> order_;   ///< kRowWays for each row
  std::vector<Block> blocks_;  ///< likewise
  std::uint32_t first_dirtied_ = kNoBlock;
  std::uint32_t last_dirtied_ = kNoBlock;
};

inline std::uint32_t BlockCache::find(const BlockAddress& address) const {
  const Row* row = &rows_[address.row];
  const Block* blocks = &blocks_[std::size_t{address.row} * kRowWays];
  std::uint32_t first_way = 0;
  do {
    for (std::uint32_t rest = ways_with(row->tags, address.tag); rest != 0; rest &= rest - 1) {
      const std::uint32_t way = first_way + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (blocks[way].key == address.key) {
        return way;
      }
    }
    ++row;
    first_way += kRowWays;
  } while (first_way < ways_);
  return ways_;
}

inline void BlockCache::make_newest(Row& row, Links* order, std::uint32_t way) {
  const std::uint32_t newest = row.newest;
  if (way == newest) {
    return;
  }
  row.newest = way;
  const std::uint16_t oldest = order[newest].newer;
  if (way == oldest) {
    return;
  }
  const Links links = order[way];
  order[links.newer].older = links.older;
  order[links.older].newer = links.newer;
  order[newest].newer = order[oldest].older = static_cast<std::uint16_t>(way);
  order[way] = {oldest, static_cast<std::uint16_t>(newest)};
}

inline std::uint32_t BlockCache::replace_oldest(const BlockAddress& address,
                                                std::vector<WriteBack>& written) {
  const std::size_t first = std::size_t{address.row} * kRowWays;
  const std::uint32_t way = order_[first + rows_[address.row].newest].newer;
  rows_[address.row].newest = way;
  rows_[address.row + way / kRowWays].tags[way % kRowWays] = address.tag;
  Block& block = blocks_[first + way];
  // The next one to go.
  __builtin_prefetch(&blocks_[first + order_[first + way].newer], 1);
  if (block.dirty != 0) {
    write_back(static_cast<std::uint32_t>(first) + way, written);
  }
  if (free_blocks_ != 0 && block.key == kNoKey) {
    --free_blocks_;
  }
  block.key = address.key;
  block.valid = 0;
  block.awaited = 0;
  block.asked_at = 0;
  return way;
}

inline BlockCache::Block& BlockCache::visit(const BlockAddress& address, std::vector<WriteBack>& written) {
  if (blocks_[last_].key != address.key) {
    const std::size_t first = std::size_t{address.row} * kRowWays;
    std::uint32_t way = find(address);
    if (way != ways_) {
      make_newest(rows_[address.row], &order_[first], way);
    } else {
      way = replace_oldest(address, written);
    }
    last_ = static_cast<std::uint32_t>(first) + way;
  }
  return blocks_[last_];
}

inline Found BlockCache::read(const BlockAddress& address, std::uint64_t mask, std::int64_t now,
                              std::vector<WriteBack>& written) {
  Block& block = visit(address, written);
  Found found;
  found.missing = mask & ~block.valid;
  if ((block.awaited & mask) != 0 && now - block.asked_at < fill_cycles_) {
    block.asked_at = std::min(now, block.asked_at);
    found.awaited = block.awaited & mask;
    found.asked_at = block.asked_at;
  }
  block.valid |= mask;
  return found;
}

inline std::uint64_t BlockCache::write(const BlockAddress& address, std::uint64_t mask,
                                       std::vector<WriteBack>& written) {
  Block& block = visit(address, written);
  const std::uint64_t newly_dirty = mask & ~block.dirty;
  if (block.dirty == 0) {
    note_dirtied(last_);
  }
  block.valid |= mask;
  if (newly_dirty == 0) {
    return 0;
  }
  block.dirty |= mask;
  dirty_bytes_ += bytes_of(newly_dirty);
  while (dirty_bytes_ > dirty_limit_bytes_ && first_dirtied_ != last_dirtied_) {
    write_back(first_dirtied_, written);
  }
  return newly_dirty;
}

inline void BlockCache::await(std::uint64_t mask, std::int64_t now) {
  Block& block = blocks_[last_];
  // Often either way, in no order: no branch.
  const std::uint64_t still = std::uint64_t{now - block.asked_at >= fill_cycles_} - 1;
  block.awaited = (block.awaited & still) | mask;
  block.asked_at = now;
}

}  // namespace warpscope::memory
