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
  const auto first = static_cast<std::uint64_t>(access.first_sector);
  std::uint64_t key = access.first_block + first / kSectors;
  std::uint64_t mask = ~std::uint64_t{0} << first % kSectors;
  std::int64_t beyond = static_cast<std::int64_t>(first % kSectors) + access.sectors;
  do {
    beyond -= kSectorsPerBlock;
    use(key, beyond < 0 ? mask & ~std::uint64_t{0} >> -beyond : mask);
    ++key;
    mask = ~std::uint64_t{0};
  } while (beyond > 0);
}

/// Number of the lowest partition of a mask.
std::size_t lowest(std::uint32_t partitions) {
  return static_cast<std::size_t>(std::countr_zero(partitions));
}

}  // namespace

PartitionedCache::PartitionedCache(const CacheShape& shape)
    : partition_count_(static_cast<std::size_t>(shape.partitions)),
      partitions_(static_cast<std::size_t>(shape.partitions),
                  BlockCache(shape.capacity_bytes / shape.partitions, shape.ways,
                             shape.dirty_bytes / shape.partitions)),
      reads_per_refresh_(shape.reads_per_refresh),
      reads_to_refresh_(reads_per_refresh_) {}

std::size_t PartitionedCache::home_of(std::uint64_t key) const {
  // Pages are homed as a whole, spread like the addresses that the hardware hashes.
  const std::uint64_t hash = (key / kPageBlocks + 1) * 0xd6e8feb86659fd93ULL >> 32;
  // For two partitions, as all GPUs have them, no division.
  return partition_count_ == 2 ? hash & 1U : hash % partition_count_;
}

inline void PartitionedCache::read_block(std::uint64_t key, std::uint64_t mask, const SectorAccess& access,
                                         Lookup& result, std::vector<WriteBack>& written) {
  const BlockAddress address = partitions_[0].address_of(key);
  const std::size_t home = home_of(key);
  const std::uint32_t far_readers = access.partitions & ~(1U << home);
  std::uint64_t from_home = far_readers != access.partitions ? mask : 0;
  std::uint64_t copied = 0;
  std::uint64_t awaited = 0;
  std::int64_t asked_at = 0;
  for (std::uint32_t rest = far_readers; rest != 0; rest &= rest - 1) {
    const Found copy = partitions_[lowest(rest)].read(address, mask, access.now_cycles, written);
    from_home |= copy.missing;
    if (copy.missing == 0 && --reads_to_refresh_ == 0) {
      reads_to_refresh_ = reads_per_refresh_;
      from_home |= mask;
    }
    copied |= copy.missing;
    awaited |= copy.awaited;
    asked_at = std::max(asked_at, copy.asked_at);
  }
  std::uint64_t missing = 0;
  if (from_home != 0) {
    const Found at_home = partitions_[home].read(address, from_home, access.now_cycles, written);
    missing = at_home.missing;
    awaited |= at_home.awaited;
    asked_at = std::max(asked_at, at_home.asked_at);
    if (missing != 0) {
      partitions_[home].await(missing, access.now_cycles);
      if ((copied & missing) != 0) {
        for (std::uint32_t rest = far_readers; rest != 0; rest &= rest - 1) {
          partitions_[lowest(rest)].await(copied & missing, access.now_cycles);
        }
      }
    }
  }
  result.miss_bytes += bytes_of(missing);
  awaited &= ~missing;
  if (awaited != 0) {
    result.awaited_bytes += bytes_of(awaited);
    result.asked_at = std::max(result.asked_at, asked_at);
  }
}

void PartitionedCache::read(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written) {
  const std::int64_t missed_before = result.miss_bytes;
  for_each_block(
      access, [&](std::uint64_t key, std::uint64_t mask) { read_block(key, mask, access, result, written); });
  result.hit_bytes += access.sectors * kSectorBytes - (result.miss_bytes - missed_before);
}

void PartitionedCache::write(const SectorAccess& access, Lookup& result, std::vector<WriteBack>& written) {
  const std::int64_t dirtied_before = result.newly_dirty_bytes;
  for_each_block(access, [&](std::uint64_t key, std::uint64_t mask) {
    const BlockAddress address = partitions_[0].address_of(key);
    const std::size_t home = home_of(key);
    result.newly_dirty_bytes += bytes_of(partitions_[home].write(address, mask, written));
    // The writer's side keeps what passes through, clean.
    for (std::uint32_t rest = access.partitions & ~(1U << home); rest != 0; rest &= rest - 1) {
      partitions_[lowest(rest)].read(address, mask, access.now_cycles, written);
    }
  });
  result.hit_bytes += access.sectors * kSectorBytes - (result.newly_dirty_bytes - dirtied_before);
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
  reads_to_refresh_ = reads_per_refresh_;
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
