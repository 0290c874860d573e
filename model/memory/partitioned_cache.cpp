#include "model/memory/partitioned_cache.hpp"

#include <algorithm>
#include <bit>

namespace warpscope::memory {
namespace {

/// Calls `use(key, mask)` for each block of the access.
template <typename Use>
void for_each_block(const SectorAccess& access, const Use& use) {
  // Unsigned, the divisions are shifts.
  constexpr std::uint64_t kSectors = kSectorsPerBlock;
  auto sector = static_cast<std::uint64_t>(access.first_sector);
  const std::uint64_t end = sector + static_cast<std::uint64_t>(access.sectors);
  while (sector < end) {
    const std::uint64_t in_block = sector % kSectors;
    const std::uint64_t count = std::min(kSectors - in_block, end - sector);
    use(access.first_block + sector / kSectors, ~std::uint64_t{0} >> (kSectors - count) << in_block);
    sector += count;
  }
}

}  // namespace

PartitionedCache::PartitionedCache(const CacheShape& shape)
    : partitions_(static_cast<std::size_t>(shape.partitions),
                  BlockCache(shape.capacity_bytes / shape.partitions, shape.ways,
                             shape.dirty_bytes / shape.partitions)),
      reads_per_refresh_(static_cast<std::uint64_t>(shape.reads_per_refresh)) {}

std::size_t PartitionedCache::home_of(std::uint64_t key) const {
  // Pages are homed as a whole, spread like the addresses that the hardware hashes.
  const std::uint64_t hash = (key / kPageBlocks + 1) * 0xd6e8feb86659fd93ULL >> 32;
  // For two partitions, as all GPUs have them, no division.
  const std::size_t partitions = partitions_.size();
  return partitions == 2 ? hash & 1U : hash % partitions;
}

Found PartitionedCache::read_block(std::uint64_t key, std::uint64_t mask, const SectorAccess& access,
                                   std::vector<WriteBack>& written) {
  const std::size_t home = home_of(key);
  if (access.partitions == 1U << home) {
    const Found found = partitions_[home].read(key, mask, access.now_cycles, written);
    if (found.missing != 0) {
      partitions_[home].await(found.missing, access.now_cycles);
    }
    return found;
  }
  Found found;
  std::uint64_t from_home = (access.partitions >> home & 1U) != 0 ? mask : 0;
  const auto note = [&found](const Found& part) {
    if (part.awaited != 0) {
      found.awaited |= part.awaited;
      found.asked_at = std::max(found.asked_at, part.asked_at);
    }
  };
  std::uint64_t copied = 0;
  for (std::size_t p = 0; p < partitions_.size(); ++p) {
    if (p != home && (access.partitions >> p & 1U) != 0) {
      const Found copy = partitions_[p].read(key, mask, access.now_cycles, written);
      from_home |= copy.missing;
      if (copy.missing == 0 && ++copy_reads_ % reads_per_refresh_ == 0) {
        from_home |= mask;
      }
      copied |= copy.missing;
      note(copy);
    }
  }
  if (from_home == 0) {
    return found;
  }
  const Found at_home = partitions_[home].read(key, from_home, access.now_cycles, written);
  note(at_home);
  found.missing = at_home.missing;
  if (found.missing != 0) {
    partitions_[home].await(found.missing, access.now_cycles);
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      if (p != home && (access.partitions >> p & 1U) != 0 && (copied & found.missing) != 0) {
        partitions_[p].await(copied & found.missing, access.now_cycles);
      }
    }
  }
  found.awaited &= ~found.missing;
  return found;
}

void PartitionedCache::read(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written) {
  for_each_block(access, [&](std::uint64_t key, std::uint64_t mask) {
    const Found found = read_block(key, mask, access, written);
    result.hit_bytes += bytes_of(mask & ~found.missing);
    result.miss_bytes += bytes_of(found.missing);
    if (found.awaited != 0) {
      result.awaited_bytes += bytes_of(found.awaited);
      result.asked_at = std::max(result.asked_at, found.asked_at);
    }
  });
}

void PartitionedCache::write(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written) {
  for_each_block(access, [&](std::uint64_t key, std::uint64_t mask) {
    const std::size_t home = home_of(key);
    const Found found = partitions_[home].write(key, mask, written);
    result.hit_bytes += bytes_of(mask & ~found.newly_dirty);
    result.newly_dirty_bytes += bytes_of(found.newly_dirty);
    // The writer's side keeps what passes through, clean.
    for (std::size_t p = 0; p < partitions_.size(); ++p) {
      if (p != home && (access.partitions >> p & 1U) != 0) {
        partitions_[p].read(key, mask, access.now_cycles, written);
      }
    }
  });
}

void PartitionedCache::set_fill_cycles(std::int64_t cycles) {
  for (BlockCache& partition : partitions_) {
    partition.set_fill_cycles(cycles);
  }
}

void PartitionedCache::settle() {
  for (BlockCache& partition : partitions_) {
    partition.settle();
  }
}

void PartitionedCache::clear() {
  copy_reads_ = 0;
  for (BlockCache& partition : partitions_) {
    partition.clear();
  }
}

std::int64_t PartitionedCache::dirty_bytes() const {
  std::int64_t bytes = 0;
  for (const BlockCache& partition : partitions_) {
    bytes += partition.dirty_bytes();
  }
  return bytes;
}

std::int64_t PartitionedCache::used_bytes() const {
  std::int64_t bytes = 0;
  for (const BlockCache& partition : partitions_) {
    bytes += partition.used_bytes();
  }
  return bytes;
}

}  // namespace warpscope::memory
