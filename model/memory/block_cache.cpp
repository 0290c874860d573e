#include "model/memory/block_cache.hpp"

#include <algorithm>
#include <bit>

namespace warpscope::memory {
namespace {

std::uint64_t sector_mask(int first_sector, int sectors) {
  return sectors >= 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << sectors) - 1) << first_sector;
}

std::int64_t bytes_of(std::uint64_t mask) {
  return mask == 0 ? 0 : std::popcount(mask) * kSectorBytes;
}

constexpr int kTensorShift = 48;

std::uint64_t key_of(const BlockId& id) {
  return std::uint64_t{id.tensor} << kTensorShift | static_cast<std::uint64_t>(id.block);
}

std::uint32_t tensor_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> kTensorShift);
}

}  // namespace

BlockCache::BlockCache(std::int64_t capacity_bytes, int partitions)
    : capacity_bytes_(capacity_bytes), home_partitions_(static_cast<std::uint32_t>(partitions)) {
  constexpr std::size_t kSlotsPerBlock = 4;
  const std::size_t slots =
      std::bit_ceil((static_cast<std::size_t>(capacity_bytes / kBlockBytes) + 2) * kSlotsPerBlock);
  table_.assign(slots, -1);
  home_shift_ = 64 - std::countr_zero(slots);
}

void BlockCache::clear() {
  entries_.clear();
  free_.clear();
  std::ranges::fill(table_, -1);
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

std::int32_t BlockCache::find(std::uint64_t key) const {
  for (std::size_t slot = home(key); table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
    if (entries_[static_cast<std::size_t>(table_[slot])].key == key) {
      return table_[slot];
    }
  }
  return -1;
}

std::int32_t BlockCache::insert(std::uint64_t key) {
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
  entry.key = key;
  std::size_t slot = home(key);
  while (table_[slot] >= 0) {
    slot = (slot + 1) & (table_.size() - 1);
  }
  table_[slot] = index;
  return index;
}

void BlockCache::erase(std::uint64_t key) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = home(key);
  while (entries_[static_cast<std::size_t>(table_[hole])].key != key) {
    hole = (hole + 1) & mask;
  }
  // Later entries of the run move up unless that would put them before their home.
  for (std::size_t slot = (hole + 1) & mask; table_[slot] >= 0; slot = (slot + 1) & mask) {
    const std::size_t wanted = home(entries_[static_cast<std::size_t>(table_[slot])].key);
    if (((slot - wanted) & mask) >= ((slot - hole) & mask)) {
      table_[hole] = table_[slot];
      hole = slot;
    }
  }
  table_[hole] = -1;
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
    evicted.push_back({tensor_of(entry.key), bytes_of(entry.dirty)});
    used_bytes_ -= kBlockBytes * std::popcount(entry.partitions);
    unlink(index);
    erase(entry.key);
    free_.push_back(index);
  }
}

Lookup BlockCache::access(BlockId id, int first_sector, int sectors, bool write, std::uint32_t partitions,
                          std::vector<Eviction>& evicted) {
  const std::uint64_t mask = sector_mask(first_sector, sectors);
  const std::uint64_t key = key_of(id);
  // Neighbours in a block mostly follow one another.
  if (newest_ < 0 || entries_[static_cast<std::size_t>(newest_)].key != key) {
    std::int32_t index = find(key);
    if (index < 0) {
      index = insert(key);
      // The home copy always exists; an SM of another partition adds one there, reading or writing.
      entries_[static_cast<std::size_t>(index)].partitions =
          1U << (static_cast<std::uint64_t>(id.block) % home_partitions_);
      used_bytes_ += kBlockBytes;
    } else {
      unlink(index);
    }
    link_newest(index);
  }
  Entry& entry = entries_[static_cast<std::size_t>(newest_)];
  partitions |= entry.partitions;
  if (partitions != entry.partitions) {
    used_bytes_ += kBlockBytes * (std::popcount(partitions) - std::popcount(entry.partitions));
    entry.partitions = partitions;
  }

  Lookup result;
  const std::int64_t bytes = sectors * kSectorBytes;
  const bool whole = (entry.valid & mask) == mask;
  result.hit_bytes = whole ? bytes : bytes_of(entry.valid & mask);
  if (write) {
    result.newly_dirty_bytes = bytes_of(mask & ~entry.dirty);
    entry.dirty |= mask;
  } else {
    result.miss_bytes = bytes - result.hit_bytes;
  }
  entry.valid |= mask;
  if (used_bytes_ > capacity_bytes_) {
    shrink(evicted);
  }
  return result;
}

}  // namespace warpscope::memory
