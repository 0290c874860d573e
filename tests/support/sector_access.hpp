// Accesses to what the L2 holds that are longer than a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/memory/partitioned_cache.hpp"

namespace warpscope::memory {

/// Sectors that one or several SMs access at once.
struct SectorAccess {
  std::uint64_t first_block = 0;  ///< block_key()
  std::int64_t first_sector = 0;  ///< counted from the begin of `first_block`, goes on into those behind it
  std::int64_t sectors = 1;       ///< at least one
  std::uint32_t partitions = 1;   ///< BlockAccess::partitions
  std::int64_t now_cycles = 0;
};

/// Calls `use` with the BlockAccess to each block of the access.
template <typename Use>
void for_each_block(const SectorAccess& access, const Use& use) {
  std::int64_t sector = access.first_sector;
  const std::int64_t end = sector + access.sectors;
  while (sector < end) {
    const std::int64_t first = sector % kSectorsPerBlock;
    const std::int64_t count = std::min(end - sector, kSectorsPerBlock - first);
    use(BlockAccess{.key = access.first_block + static_cast<std::uint64_t>(sector / kSectorsPerBlock),
                    .mask = ~std::uint64_t{0} >> (kSectorsPerBlock - count) << first,
                    .partitions = access.partitions,
                    .now_cycles = access.now_cycles});
    sector += count;
  }
}

/// PartitionedCache::read() for each block.
template <typename Fetch>
void read_sectors(PartitionedCache& cache, const SectorAccess& access, Lookup& found,
                  std::vector<WriteBack>& written, const Fetch& fetch) {
  for_each_block(access, [&](const BlockAccess& block) {
    cache.read(block, cache.locate(block.key), found, written, fetch);
  });
}
/// The same, where what is missing is there at once.
inline void read_sectors(PartitionedCache& cache, const SectorAccess& access, Lookup& found,
                         std::vector<WriteBack>& written) {
  read_sectors(cache, access, found, written,
               [&](std::int64_t /*missed_bytes*/) { return access.now_cycles; });
}

/// PartitionedCache::write() for each block.
inline void write_sectors(PartitionedCache& cache, const SectorAccess& access, Lookup& found,
                          std::vector<WriteBack>& written) {
  for_each_block(
      access, [&](const BlockAccess& block) { cache.write(block, cache.locate(block.key), found, written); });
}

}  // namespace warpscope::memory
