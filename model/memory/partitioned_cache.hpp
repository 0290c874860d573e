// Contents of the L2: partitions, each with the data that is homed in it and copies of what its SMs read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "model/memory/block_cache.hpp"

namespace warpscope::memory {

/// Sectors of one block that one or several SMs access at once.
struct BlockAccess {
  std::uint64_t key = 0;         ///< block_key()
  std::uint64_t mask = 0;        ///< bit per sector
  std::uint32_t partitions = 1;  ///< bit mask of those that the SMs belong to; 0: only homes are concerned
  std::int64_t now_cycles = 0;
};

/// What a lookup found, in bytes of the sectors touched.
struct Lookup {
  std::int64_t miss_bytes = 0;         ///< reads only: sectors that must come from HBM
  std::int64_t newly_dirty_bytes = 0;  ///< writes only: sectors that were clean or absent before
  std::int64_t awaited_bytes = 0;      ///< reads only: hits on sectors that are still on their way
  std::int64_t there_at = 0;           ///< when the last of these arrive
};

/// A sector has its home in one partition. SMs of another one keep a copy in theirs: of what they find there
/// the home sees nothing, so that it may give up a sector that they go on reading; who then comes from its
/// own side reads HBM again. Measured on an H200 (experiments/reference/measured-h200/l2_contents.md).
class PartitionedCache {
 public:
  explicit PartitionedCache(const CacheShape& shape);

  /// Where a block is looked for; the host begins to bring what says whether it is there.
  BlockAddress locate(std::uint64_t key) const {
    const BlockAddress address = partitions_[0].address_of(key);
    for (const BlockCache& partition : partitions_) {
      partition.prefetch(address);
    }
    return address;
  }
  /// What is found is added to `result`, what is written back on the way is appended to `written`; `fetch` is
  /// called with the bytes that miss and says when they arrive. A result by value would be copied as a whole
  /// right after its parts were stored, which waits for all earlier stores.
  template <typename Fetch>
  void read(const BlockAccess& access, const BlockAddress& address, Lookup& result,
            std::vector<WriteBack>& written, const Fetch& fetch);
  void write(const BlockAccess& access, const BlockAddress& address, Lookup& result,
             std::vector<WriteBack>& written);

  /// The block has been written as a whole before times that accesses tell.
  void leave_dirty(std::uint64_t key, std::vector<WriteBack>& written);
  /// See BlockCache.
  void settle();
  void clear();
  std::int64_t dirty_bytes() const;
  std::int64_t used_bytes() const;

 private:
  BlockCache& lowest(std::uint32_t partitions) {
    return partitions_[static_cast<std::size_t>(std::countr_zero(partitions))];
  }

  std::vector<BlockCache> partitions_;
};

template <typename Fetch>
void PartitionedCache::read(const BlockAccess& access, const BlockAddress& address, Lookup& result,
                            std::vector<WriteBack>& written, const Fetch& fetch) {
  const std::uint32_t home = address.home;
  const std::uint64_t mask = access.mask;
  const std::uint32_t far_readers = access.partitions & ~(1U << home);
  std::uint64_t from_home = far_readers == 0 || far_readers != access.partitions ? mask : 0;
  std::uint64_t copied = 0;
  std::uint64_t awaited = 0;
  std::int64_t there_at = 0;
  for (std::uint32_t rest = far_readers; rest != 0; rest &= rest - 1) {
    const Found copy = lowest(rest).read(address, mask, access.now_cycles, written);
    from_home |= copy.missing;
    copied |= copy.missing;
    awaited |= copy.awaited;
    there_at = std::max(there_at, copy.there_at);
  }
  std::uint64_t missing = 0;
  if (from_home != 0) {
    const Found at_home = partitions_[home].read(address, from_home, access.now_cycles, written);
    missing = at_home.missing;
    awaited |= at_home.awaited;
    there_at = std::max(there_at, at_home.there_at);
    if (missing != 0) {
      const std::int64_t fetched_at = fetch(bytes_of(missing));
      partitions_[home].await(missing, fetched_at, access.now_cycles);
      // A copy of what its home has asked for before counts as there at once. A block has one time for all
      // its sectors: if copies took that over, tiles that all SMs share would come 8 % later than to one SM
      // alone, where on an H200 they come 8 % sooner (shared_tiles.csv).
      for (std::uint32_t rest = (copied & missing) != 0 ? far_readers : 0; rest != 0; rest &= rest - 1) {
        lowest(rest).await(copied & missing, fetched_at, access.now_cycles);
      }
    }
  }
  result.miss_bytes += bytes_of(missing);
  awaited &= ~missing;
  if (awaited != 0) {
    result.awaited_bytes += bytes_of(awaited);
    result.there_at = std::max(result.there_at, there_at);
  }
}

inline void PartitionedCache::write(const BlockAccess& access, const BlockAddress& address, Lookup& result,
                                    std::vector<WriteBack>& written) {
  const std::uint32_t home = address.home;
  result.newly_dirty_bytes += bytes_of(partitions_[home].write(address, access.mask, written));
  // The writer's side keeps what passes through, clean.
  for (std::uint32_t rest = access.partitions & ~(1U << home); rest != 0; rest &= rest - 1) {
    lowest(rest).read(address, access.mask, access.now_cycles, written);
  }
}

}  // namespace warpscope::memory
