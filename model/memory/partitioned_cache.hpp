// Contents of the L2: partitions, each with the data that is homed in it and copies of what its SMs read.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/block_cache.hpp"

namespace warpscope::memory {

/// Sectors that one or several SMs access at once.
struct SectorAccess {
  std::uint64_t first_block = 0;  ///< block_key()
  std::int64_t first_sector = 0;  ///< counted from the begin of `first_block`, goes on into those behind it
  std::int64_t sectors = 1;       ///< at least one
  std::uint32_t partitions = 1;   ///< bit mask of those that the SMs belong to
  std::int64_t now_cycles = 0;
};

/// What a lookup found, in bytes of the sectors touched.
struct Lookup {
  std::int64_t hit_bytes = 0;
  std::int64_t miss_bytes = 0;         ///< reads only: sectors that must come from HBM
  std::int64_t newly_dirty_bytes = 0;  ///< writes only: sectors that were clean or absent before
  std::int64_t awaited_bytes = 0;      ///< reads only: hits on sectors that are still on their way
  std::int64_t asked_at = 0;           ///< when the last of these were asked for
};

/// What the hardware configuration says of the L2's contents; bytes are those of all partitions together.
struct CacheShape {
  std::int64_t capacity_bytes = 0;
  int ways = 1;                  ///< blocks in a set
  std::int64_t dirty_bytes = 0;  ///< at most
  int partitions = 1;
  int reads_per_refresh = 1;  ///< of a copy, for each that counts at its home
};

/// A sector has its home in one partition. SMs of another one keep a copy in theirs: of what they find there
/// the home sees little, so that it may give up a sector that they go on reading; who then comes from its own
/// side reads HBM again. Measured on an H200 (experiments/reference/measured-h200/l2_reuse.md).
class PartitionedCache {
 public:
  explicit PartitionedCache(const CacheShape& shape);

  /// What is found is added to `result`, what is written back on the way is appended to `written`. A result
  /// by value would be copied as a whole right after its parts were stored, which waits for all earlier
  /// stores.
  void read(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written);
  void write(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written);

  void set_fill_cycles(std::int64_t cycles);
  /// See BlockCache.
  void settle();
  void clear();
  std::int64_t dirty_bytes() const;
  std::int64_t used_bytes() const;

 private:
  /// Reads the sectors of one block; what is found is about the chip as a whole.
  void read_block(std::uint64_t key, std::uint64_t mask, const SectorAccess& access, Lookup& result,
                  std::vector<WriteBack>& written);
  std::size_t home_of(std::uint64_t key) const;

  std::size_t partition_count_;
  std::vector<BlockCache> partitions_;
  int reads_per_refresh_;
  int reads_to_refresh_;  ///< that find all in the copy
};

}  // namespace warpscope::memory
