#include "model/memory/block_cache.hpp"

#include <bit>

namespace warpscope::memory {
namespace {

std::uint64_t sector_mask(int first_sector, int sectors) {
  return sectors >= 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << sectors) - 1) << first_sector;
}

std::int64_t bytes_of(std::uint64_t mask) {
  return std::popcount(mask) * kSectorBytes;
}

}  // namespace

BlockCache::BlockCache(std::int64_t capacity_bytes, int partitions)
    : capacity_bytes_(capacity_bytes), home_partitions_(static_cast<std::uint32_t>(partitions)) {}

void BlockCache::clear() {
  entries_.clear();
  free_.clear();
  index_.clear();
  newest_ = oldest_ = -1;
  used_bytes_ = 0;
}

std::int64_t BlockCache::dirty_bytes() const {
  std::int64_t bytes = 0;
  for (std::int32_t i = newest_; i >= 0; i = entries_[static_cast<std::size_t>(i)].older) {
    bytes += bytes_of(entries_[static_cast<std::size_t>(i)].dirty);
  }
  return bytes;
}

std::int32_t BlockCache::insert(BlockId id) {
  std::int32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::int32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[static_cast<std::size_t>(index)];
  entry = Entry{};
  entry.id = id;
  index_.emplace(id, index);
  return index;
}

void BlockCache::unlink(std::int32_t index) {
  const Entry& entry = entries_[static_cast<std::size_t>(index)];
  (entry.newer >= 0 ? entries_[static_cast<std::size_t>(entry.newer)].older : newest_) = entry.older;
  (entry.older >= 0 ? entries_[static_cast<std::size_t>(entry.older)].newer : oldest_) = entry.newer;
}

void BlockCache::link_newest(std::int32_t index) {
  Entry& entry = entries_[static_cast<std::size_t>(index)];
  entry.newer = -1;
  entry.older = newest_;
  (newest_ >= 0 ? entries_[static_cast<std::size_t>(newest_)].newer : oldest_) = index;
  newest_ = index;
}

void BlockCache::shrink(std::vector<Eviction>& evicted) {
  while (used_bytes_ > capacity_bytes_ && oldest_ >= 0 && oldest_ != newest_) {
    const std::int32_t index = oldest_;
    const Entry& entry = entries_[static_cast<std::size_t>(index)];
    evicted.push_back({entry.id.tensor, bytes_of(entry.dirty)});
    used_bytes_ -= kBlockBytes * std::popcount(entry.partitions);
    unlink(index);
    index_.erase(entry.id);
    free_.push_back(index);
  }
}

Lookup BlockCache::access(BlockId id, int first_sector, int sectors, bool write, int partition,
                          std::vector<Eviction>& evicted) {
  const std::uint64_t mask = sector_mask(first_sector, sectors);
  std::int32_t index = -1;
  if (const auto found = index_.find(id); found != index_.end()) {
    index = found->second;
    if (index != newest_) {
      unlink(index);
      link_newest(index);
    }
  } else {
    index = insert(id);
    link_newest(index);
  }
  Entry& entry = entries_[static_cast<std::size_t>(index)];
  // The home copy always exists; an SM of another partition adds one there, reading or writing.
  std::uint32_t partitions =
      entry.partitions | (1U << (static_cast<std::uint64_t>(id.block) % home_partitions_));
  partitions |= 1U << partition;
  used_bytes_ += kBlockBytes * (std::popcount(partitions) - std::popcount(entry.partitions));
  entry.partitions = partitions;

  Lookup result;
  result.hit_bytes = bytes_of(entry.valid & mask);
  if (write) {
    result.newly_dirty_bytes = bytes_of(mask & ~entry.dirty);
    entry.dirty |= mask;
  } else {
    result.miss_bytes = bytes_of(mask & ~entry.valid);
  }
  entry.valid |= mask;
  shrink(evicted);
  return result;
}

}  // namespace warpscope::memory
