// One partition of the L2: blocks of 64 sectors of 32 bytes in sets, least recently used block out first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/base/spread_hash.hpp"
#include "model/memory/way_row.hpp"

namespace warpscope::memory {

inline constexpr std::int64_t kSectorBytes = 32;  ///< unit of validity, as in the hardware
inline constexpr std::int64_t kSectorsPerBlock = 64;
inline constexpr std::int64_t kBlockBytes = kSectorsPerBlock * kSectorBytes;

inline constexpr std::int64_t kSectorsPerLine = 4;  ///< of 128 bytes
inline constexpr std::int64_t kLinesPerBlock = kSectorsPerBlock / kSectorsPerLine;

inline constexpr int kTensorShift = 48;
/// A block as one number: the tensor, then the block's number in it. Segments start at block boundaries.
inline std::uint64_t block_key(std::uint32_t tensor, std::int64_t block) {
  return std::uint64_t{tensor} << kTensorShift | static_cast<std::uint64_t>(block);
}

/// Bytes of the sectors in a mask.
inline std::int64_t bytes_of(std::uint64_t mask) {
  return std::popcount(mask) * kSectorBytes;
}

/// Lines that have some of the sectors in a mask.
inline int lines_with(std::uint64_t mask) {
  constexpr std::uint64_t kFirstSectors = 0x1111111111111111;
  const std::uint64_t pairs = mask | mask >> 1;
  return std::popcount((pairs | pairs >> 2) & kFirstSectors);
}

/// Bytes of blocks that are written back, because the blocks leave or because too much is dirty.
struct WriteBack {
  std::uint32_t tensor = 0;
  std::int64_t dirty_bytes = 0;
};

/// What a block was found to hold of the sectors read; a bit per sector.
struct Found {
  std::uint64_t missing = 0;
  std::uint64_t awaited = 0;  ///< asked for already, and still on their way
  std::int64_t there_at = 0;  ///< when the last of these arrive
};

/// A block, the partition where it has its home, and where to look for it in this and all others.
struct BlockAddress {
  std::uint64_t key = 0;
  std::uint32_t home = 0;
  std::uint32_t row = 0;  ///< the first of its set
  WayBytes tag{};         ///< few others of its set have the same; repeated
};

/// What the hardware configuration says of the L2's contents; bytes are those of all partitions together.
struct CacheShape {
  std::int64_t capacity_bytes = 0;
  int ways = 1;                  ///< blocks in a set
  std::int64_t dirty_bytes = 0;  ///< at most
  int partitions = 1;
  int dealt_to = 1;  ///< so many caches; of blocks behind one another each gets one
  int number = 0;    ///< of this one among them
};

/// State of a partition between accesses. Time is only what accesses say.
class BlockCache {
 public:
  /// One of the partitions. Of each set as many lines may be dirty as make `dirty_bytes` of all sets, in
  /// whole blocks; beyond, the block used longest ago is written back, and stays. A line of which a sector is
  /// dirty counts as a whole (experiments/reference/measured-h200/l2_contents.md).
  explicit BlockCache(const CacheShape& shape);

  BlockAddress address_of(std::uint64_t key) const {
    // Blocks of this slice behind one another are in sets behind one another, one of each partition in a set;
    // where each row of such sets begins is chance. So what lies as a whole fills sets evenly, as on
    // hardware.
    const std::uint64_t turn = key / dealt_to_;
    const std::uint64_t row = turn / (partitions_ * sets_);
    const std::uint64_t begin = static_cast<std::uint32_t>(chance_hash(row * dealt_to_ + number_)) % sets_;
    const std::uint64_t sum = turn / partitions_ - row * sets_ + begin;
    const auto set = static_cast<std::uint32_t>(sum < sets_ ? sum : sum - sets_);
    const std::uint64_t first = chance_hash((row * sets_ + set) * dealt_to_ + number_);
    return {.key = key,
            .home = static_cast<std::uint32_t>(first + turn) % partitions_,
            .row = set * set_rows_,
            .tag = WayBytes{} + static_cast<std::uint8_t>(spread_hash(key))};
  }

  /// Has the host bring what is looked at first of the set: a line of tags and ages, two of keys.
  void prefetch(const BlockAddress& address) const {
    __builtin_prefetch(&rows_[address.row]);
    __builtin_prefetch(&keys_[std::size_t{address.row} * kRowWays]);
    __builtin_prefetch(&keys_[std::size_t{address.row} * kRowWays + kRowWays / 2]);
  }

  /// Reads the sectors of `mask` and makes the block the most recent of its set. What is missing counts as
  /// there from now on.
  Found read(const BlockAddress& address, std::uint64_t mask, std::int64_t now,
             std::vector<WriteBack>& written);
  /// The same for a write. Returns the sectors that were clean or absent before.
  std::uint64_t write(const BlockAddress& address, std::uint64_t mask, std::vector<WriteBack>& written);
  /// Sectors of the block accessed last arrive at `there_at`; it is `now`.
  void await(std::uint64_t mask, std::int64_t there_at, std::int64_t now);

  /// All that is on its way arrives; times of accesses may begin anew.
  void settle();
  /// Forgets everything without writing back.
  void clear();
  std::int64_t dirty_bytes() const { return dirty_bytes_; }
  std::int64_t used_bytes() const { return (std::int64_t{sets_} * ways_ - free_blocks_) * kBlockBytes; }

 private:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  /// What a block holds; half a line of the host's cache.
  struct alignas(32) Block {
    std::uint64_t valid = 0;  ///< bit per sector
    std::uint64_t dirty = 0;
    std::uint64_t awaited = 0;  ///< sectors that were missed
    std::int64_t there_at = 0;  ///< when the last of them arrive
  };

  /// The block, made if it is absent, now the most recent of its set.
  Block& visit(const BlockAddress& address, std::vector<WriteBack>& written);
  /// Way of the block in its set; ways_ if it is absent.
  std::uint32_t find(const BlockAddress& address) const;
  void make_newest(std::uint32_t first_row, std::uint32_t way);
  std::uint32_t oldest_way(std::uint32_t first_row) const;
  /// Of the dirty blocks of a set the one used longest ago.
  std::uint32_t oldest_dirty(std::uint32_t first_row) const;
  /// Puts an absent block in the place of the oldest of its set; returns the way.
  std::uint32_t replace_oldest(const BlockAddress& address, std::vector<WriteBack>& written);
  /// The block that was accessed last has so many more dirty lines, which may clean others of its set.
  void add_dirty(const BlockAddress& address, int lines, std::vector<WriteBack>& written);
  bool is_dirty(std::uint32_t index) const {
    return (dirty_ways_[index / kRowWays] >> index % kRowWays & 1U) != 0;
  }
  void write_back(std::uint32_t index, std::vector<WriteBack>& written);

  std::uint32_t ways_;
  std::uint32_t set_rows_;
  std::uint32_t sets_;
  std::uint32_t partitions_;
  std::uint32_t last_ = 0;  ///< block of the last access
  std::uint64_t last_key_ = kNoKey;
  std::uint64_t dealt_to_;
  std::uint64_t number_;
  std::vector<std::uint16_t> most_dirty_;   ///< lines of each set
  std::vector<std::uint16_t> dirty_lines_;  ///< of each set
  std::int64_t dirty_bytes_ = 0;
  std::int64_t free_blocks_ = 0;
  std::vector<WayRow> rows_;
  std::vector<std::uint16_t> dirty_ways_;  ///< of each row, as bits
  std::vector<std::uint64_t> keys_;        ///< kRowWays for each row
  std::vector<Block> blocks_;              ///< likewise
};

inline std::uint32_t BlockCache::find(const BlockAddress& address) const {
  const WayRow* row = &rows_[address.row];
  const std::uint64_t* keys = &keys_[std::size_t{address.row} * kRowWays];
  std::uint32_t first_way = 0;
  do {
    for (std::uint32_t rest = row->ways_with(address.tag); rest != 0; rest &= rest - 1) {
      const std::uint32_t way = first_way + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (keys[way] == address.key) {
        return way;
      }
    }
    ++row;
    first_way += kRowWays;
  } while (first_way < ways_);
  return ways_;
}

inline void BlockCache::make_newest(std::uint32_t first_row, std::uint32_t way) {
  const std::uint32_t used = first_row + way / kRowWays;
  for (std::uint32_t row = first_row; set_rows_ > 1 && row < first_row + set_rows_; ++row) {
    if (row != used) {
      rows_[row].pass(rows_[used].ages[way % kRowWays]);
    }
  }
  rows_[used].use(way % kRowWays);
}

inline std::uint32_t BlockCache::oldest_way(std::uint32_t first_row) const {
  const auto age = static_cast<std::uint8_t>(ways_ - 1);
  const WayRow* row = &rows_[first_row];
  std::uint32_t first_way = 0;
  while (true) {
    if (const std::uint32_t oldest = row->ways_aged(age); oldest != 0) {
      return first_way + static_cast<std::uint32_t>(std::countr_zero(oldest));
    }
    ++row;
    first_way += kRowWays;
  }
}

inline std::uint32_t BlockCache::replace_oldest(const BlockAddress& address,
                                                std::vector<WriteBack>& written) {
  const std::uint32_t way = oldest_way(address.row);
  const std::uint32_t index = address.row * kRowWays + way;
  // What the old block held need not be looked at, which would wait for it.
  if (is_dirty(index)) {
    write_back(index, written);
  }
  std::uint64_t& key = keys_[index];
  if (free_blocks_ != 0 && key == kNoKey) {
    --free_blocks_;
  }
  key = address.key;
  rows_[address.row + way / kRowWays].tags[way % kRowWays] = address.tag[0];
  blocks_[index] = {};
  return way;
}

inline BlockCache::Block& BlockCache::visit(const BlockAddress& address, std::vector<WriteBack>& written) {
  if (last_key_ != address.key) {
    last_key_ = address.key;
    std::uint32_t way = find(address);
    if (way == ways_) {
      way = replace_oldest(address, written);
    }
    make_newest(address.row, way);
    last_ = address.row * kRowWays + way;
  }
  return blocks_[last_];
}

inline Found BlockCache::read(const BlockAddress& address, std::uint64_t mask, std::int64_t now,
                              std::vector<WriteBack>& written) {
  Block& block = visit(address, written);
  Found found;
  found.missing = mask & ~block.valid;
  if ((block.awaited & mask) != 0 && now < block.there_at) {
    found.awaited = block.awaited & mask;
    found.there_at = block.there_at;
  }
  block.valid |= mask;
  return found;
}

inline std::uint64_t BlockCache::write(const BlockAddress& address, std::uint64_t mask,
                                       std::vector<WriteBack>& written) {
  Block& block = visit(address, written);
  const std::uint64_t newly_dirty = mask & ~block.dirty;
  block.valid |= mask;
  if (newly_dirty == 0) {
    return 0;
  }
  const int lines_before = lines_with(block.dirty);
  block.dirty |= mask;
  dirty_bytes_ += bytes_of(newly_dirty);
  add_dirty(address, lines_with(block.dirty) - lines_before, written);
  return newly_dirty;
}

inline void BlockCache::await(std::uint64_t mask, std::int64_t there_at, std::int64_t now) {
  Block& block = blocks_[last_];
  // Often either way, in no order: no branch.
  const std::uint64_t still = std::uint64_t{now >= block.there_at} - 1;
  block.awaited = (block.awaited & still) | mask;
  block.there_at = there_at;
}

}  // namespace warpscope::memory
