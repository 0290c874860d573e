#include "model/memory/partitioned_cache.hpp"

namespace warpscope::memory {

PartitionedCache::PartitionedCache(const CacheShape& shape)
    : partitions_(static_cast<std::size_t>(shape.partitions), BlockCache(shape)) {}

void PartitionedCache::leave_dirty(std::uint64_t key, std::vector<WriteBack>& written) {
  const BlockAddress address = partitions_[0].address_of(key);
  partitions_[address.home].write(address, ~std::uint64_t{0}, written);
}

void PartitionedCache::settle() {
  for (BlockCache& partition : partitions_) {
    partition.settle();
  }
}

void PartitionedCache::clear() {
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
