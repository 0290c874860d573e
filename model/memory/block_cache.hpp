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
};

/// State of the cache between accesses; no notion of time. Capacity counts a block once per partition whose
/// SMs read it, because a partition keeps its own copy of data homed in the other one.
class BlockCache {
 public:
  BlockCache(std::int64_t capacity_bytes, int partitions);

  /// Touches sectors [first_sector, first_sector + sectors) of a block for SMs of `partitions` (bit mask) and
  /// makes it the most recent. Blocks that had to leave are appended to `evicted`.
  Lookup access(BlockId id, int first_sector, int sectors, bool write, std::uint32_t partitions,
                std::vector<Eviction>& evicted);
  /// Forgets everything without writing back.
  void clear();
  std::int64_t dirty_bytes() const;
  std::int64_t used_bytes() const { return used_bytes_; }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t valid = 0;  ///< bit per sector
    std::uint64_t dirty = 0;
    std::uint32_t partitions = 0;
    std::int32_t newer = -1;
    std::int32_t older = -1;
  };

  /// Index of the block's entry; -1 if it is absent.
  std::int32_t find(std::uint64_t key) const;
  std::int32_t insert(std::uint64_t key);
  void erase(std::uint64_t key);
  /// Where the search for a key begins.
  std::size_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ULL) >> home_shift_; }
  void unlink(std::int32_t index);
  void link_newest(std::int32_t index);
  void shrink(std::vector<Eviction>& evicted);

  std::int64_t capacity_bytes_;
  std::uint32_t home_partitions_;
  std::int64_t used_bytes_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> free_;
  /// Open addressing with linear probing: index of an entry, or -1. At most a quarter full.
  std::vector<std::int32_t> table_;
  int home_shift_ = 0;
  std::int32_t newest_ = -1;
  std::int32_t oldest_ = -1;
};

}  // namespace warpscope::memory
