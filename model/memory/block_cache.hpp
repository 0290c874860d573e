// One partition of the L2: blocks of 64 sectors of 32 bytes in sets, least recently used block out first.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

namespace warpscope::memory {

inline constexpr std::int64_t kSectorBytes = 32;  ///< unit of validity, as in the hardware
inline constexpr std::int64_t kSectorsPerBlock = 64;
inline constexpr std::int64_t kBlockBytes = kSectorsPerBlock * kSectorBytes;
/// Blocks that follow one another in a tensor lie together, as they are mostly accessed one after the other.
inline constexpr std::int32_t kPageBlocks = 32;

/// A block as one number: the tensor, then the block's number in it. Segments start at block boundaries.
std::uint64_t block_key(std::uint32_t tensor, std::int64_t block);

/// Bytes of the sectors in a mask.
inline std::int64_t bytes_of(std::uint64_t mask) {
  return mask == 0 ? 0 : std::popcount(mask) * kSectorBytes;
}

/// Bytes of blocks that are written back, because the blocks leave or because too much is dirty.
struct WriteBack {
  std::uint32_t tensor = 0;
  std::int64_t dirty_bytes = 0;
};

/// What a block was found to hold of the sectors asked for; a bit per sector.
struct Found {
  std::uint64_t missing = 0;
  std::uint64_t newly_dirty = 0;  ///< writes only: clean or absent before
  std::uint64_t awaited = 0;      ///< reads only: there, but still on their way
  std::int64_t asked_at = 0;      ///< when the last of these were asked for
};

/// State of a partition between accesses. Time is only what accesses say: sectors that were asked for less
/// than `fill_cycles` ago are on their way. Accesses may come out of their order in time, by a slice of an
/// SM: the earlier one then asks for the data.
class BlockCache {
 public:
  /// Sets of `ways` blocks each, whose addresses hash alike. Beyond `dirty_limit_bytes` what was written
  /// first is written back, and stays.
  BlockCache(std::int64_t capacity_bytes, int ways, std::int64_t dirty_limit_bytes);

  /// Reads the sectors of `mask` and makes the block the most recent of its set. What is missing is there
  /// from now on.
  Found read(std::uint64_t key, std::uint64_t mask, std::int64_t now, std::vector<WriteBack>& written);
  /// The same for a write.
  Found write(std::uint64_t key, std::uint64_t mask, std::vector<WriteBack>& written);
  /// Sectors of the block accessed last have been asked for at `now`.
  void await(std::uint64_t mask, std::int64_t now);

  /// How long missed sectors are on their way; none before this is set.
  void set_fill_cycles(std::int64_t cycles) { fill_cycles_ = cycles; }
  /// All that is on its way arrives; times of accesses may begin anew.
  void settle();
  /// Forgets everything without writing back.
  void clear();
  std::int64_t dirty_bytes() const { return dirty_bytes_; }
  std::int64_t used_bytes() const { return used_bytes_; }

 private:
  struct Entry {
    std::uint64_t valid = 0;  ///< bit per sector
    std::uint64_t dirty = 0;
    std::uint64_t awaited = 0;     ///< sectors missed last, all within one fill time
    std::int64_t asked_at = 0;     ///< when the last of them were
    std::uint64_t dirtied_at = 0;  ///< number of the write that made it dirty, of those in Dirtied
    std::int32_t newer = -1;
    std::int32_t older = -1;
  };
  struct Set {
    std::int32_t newest = -1;
    std::int32_t oldest = -1;
    std::int32_t blocks = 0;
  };
  /// A block that turned dirty, unless it left meanwhile and another one has its entry.
  struct Dirtied {
    std::int32_t index = 0;
    std::uint64_t at = 0;
  };
  struct Page {
    std::uint64_t key = 0;
    std::uint32_t present = 0;  ///< bit per block
  };

  /// The page of that key, made if it is absent.
  std::int32_t page_at(std::uint64_t key);
  std::int32_t insert_page(std::uint64_t key, std::size_t slot);
  void erase_page(std::int32_t page);
  /// Where the search for a key begins.
  std::size_t first_slot(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ULL) >> slot_shift_; }
  Entry& entry(std::int32_t index) { return entries_[static_cast<std::size_t>(index)]; }
  Set& set_of(std::uint64_t key) {
    // Spreads neighbours more evenly than chance would, as the hardware's hash seems to.
    return sets_[((key + 1) * 0xbf58476d1ce4e5b9ULL >> 32) % sets_.size()];
  }
  /// The entry of a block, made if it is absent; the block is now the most recent of its set.
  Entry& visit(std::uint64_t key, std::vector<WriteBack>& written);
  void unlink(Set& set, std::int32_t index);
  void link_newest(Set& set, std::int32_t index);
  void write_back(std::int32_t index, std::vector<WriteBack>& written);
  void shrink(Set& set, std::vector<WriteBack>& written);

  std::int32_t ways_;
  std::int64_t dirty_limit_bytes_;
  std::int64_t used_bytes_ = 0;
  std::int64_t dirty_bytes_ = 0;
  std::int64_t fill_cycles_ = 0;
  std::vector<Entry> entries_;  ///< kPageBlocks for each page
  std::vector<Page> pages_;
  std::vector<Set> sets_;
  std::vector<std::int32_t> free_;  ///< pages
  std::deque<Dirtied> dirtied_;     ///< in the order in which they turned dirty; some are clean again
  std::uint64_t dirtied_count_ = 0;
  /// Open addressing with linear probing: a page, or -1. At most a quarter full.
  std::vector<std::int32_t> table_;
  int slot_shift_ = 0;
  std::int32_t last_page_ = -1;   ///< of the last access; -1 if there is none
  std::int32_t last_block_ = -1;  ///< likewise
};

}  // namespace warpscope::memory
