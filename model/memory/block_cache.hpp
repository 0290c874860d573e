// Contents of the L2: blocks of 64 sectors of 32 bytes, least recently used block out first.
#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::memory {

inline constexpr std::int64_t kSectorBytes = 32;  ///< unit of validity, as in the hardware
inline constexpr std::int64_t kBlockBytes = 64 * kSectorBytes;

/// Which block of which tensor. Segments start at block boundaries.
struct BlockId {
  std::uint32_t tensor = 0;
  std::int64_t block = 0;

  bool operator==(const BlockId&) const = default;
};

/// A block that left the cache, with the bytes that must be written back.
struct Eviction {
  std::uint32_t tensor = 0;
  std::int64_t dirty_bytes = 0;
};

/// What a lookup found, in bytes of the sectors touched.
struct Lookup {
  std::int64_t hit_bytes = 0;
  std::int64_t miss_bytes = 0;         ///< reads only: sectors that must come from HBM
  std::int64_t newly_dirty_bytes = 0;  ///< writes only: sectors that were clean or absent before
  std::int64_t awaited_bytes = 0;      ///< reads only: hits on sectors that are still on their way
  std::int64_t asked_at = 0;           ///< when the last of these were asked for
};

/// State of the cache between accesses. Time is only what accesses say: sectors that were missed less than
/// `fill_cycles` ago are on their way. Accesses may come out of their order in time, by a slice of an SM: the
/// earlier one then asks for the data. Capacity counts a block once per partition whose
/// SMs read it, because a partition keeps its own copy of data homed in the other one.
class BlockCache {
 public:
  BlockCache(std::int64_t capacity_bytes, int partitions);

  /// Touches sectors [first_sector, first_sector + sectors), counted from the begin of block `first` and
  /// going on into those behind it, for SMs of `partitions` (bit mask) and makes each block the most recent
  /// in turn. `now` is the time of the access in cycles. Blocks that had to leave are appended to `evicted`.
  Lookup access(BlockId first, std::int64_t first_sector, std::int64_t sectors, bool write,
                std::uint32_t partitions, std::vector<Eviction>& evicted, std::int64_t now_cycles = 0);
  /// How long missed sectors are on their way; none before this is set.
  void set_fill_cycles(std::int64_t cycles) { fill_cycles_ = cycles; }
  /// All that is on its way arrives; times of accesses may begin anew.
  void settle();
  /// Forgets everything without writing back.
  void clear();
  std::int64_t dirty_bytes() const;
  std::int64_t used_bytes() const { return used_bytes_; }

 private:
  struct Entry {
    std::uint64_t valid = 0;  ///< bit per sector
    std::uint64_t dirty = 0;
    std::uint64_t awaited = 0;  ///< sectors missed last, all within one fill time
    std::int64_t asked_at = 0;  ///< when the last of them were
    std::uint32_t partitions = 0;
    std::int32_t newer = -1;
    std::int32_t older = -1;
  };
  /// Blocks that follow one another in a tensor lie together, as they are mostly accessed one after the
  /// other.
  static constexpr std::int32_t kPageBlocks = 32;
  struct Page {
    std::uint64_t key = 0;
    std::uint32_t present = 0;  ///< bit per block
  };

  /// The page of that key, made if it is absent.
  std::int32_t page_at(std::uint64_t key);
  std::int32_t insert_page(std::uint64_t key, std::size_t slot);
  void erase_page(std::int32_t page);
  /// Where the search for a key begins.
  std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ULL) >> home_shift_; }
  Entry& entry(std::int32_t index) { return entries_[static_cast<std::size_t>(index)]; }
  /// The entry of a block, made if it is absent; the block is now the most recent.
  Entry& visit(std::uint64_t key);
  void add_copies(Entry& block, std::uint32_t partitions);
  /// Notes which of the sectors read are on their way and which are asked for now.
  void await(Entry& block, std::uint64_t mask, std::int64_t now, Lookup& result) const;
  void unlink(std::int32_t index);
  void link_newest(std::int32_t index);
  void shrink(std::vector<Eviction>& evicted);

  std::int64_t capacity_bytes_;
  std::uint32_t home_partitions_;
  std::int64_t used_bytes_ = 0;
  std::int64_t fill_cycles_ = 0;
  std::vector<Entry> entries_;  ///< kPageBlocks for each page
  std::vector<Page> pages_;
  std::vector<std::int32_t> free_;  ///< pages
  /// Open addressing with linear probing: a page, or -1. At most a quarter full.
  std::vector<std::int32_t> table_;
  int home_shift_ = 0;
  std::int32_t last_page_ = -1;  ///< of the last access; -1 if there is none
  std::int32_t newest_ = -1;
  std::int32_t oldest_ = -1;
};

}  // namespace warpscope::memory
