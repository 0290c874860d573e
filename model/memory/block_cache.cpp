#include "model/memory/block_cache.hpp"

#include <algorithm>
#include <bit>

namespace warpscope::memory {
namespace {

constexpr std::uint64_t kSectorsPerBlock = kBlockBytes / kSectorBytes;

std::uint64_t sector_mask(std::uint64_t first_sector, std::uint64_t sectors) {
  return ~std::uint64_t{0} >> (kSectorsPerBlock - sectors) << first_sector;
}

std::int64_t bytes_of(std::uint64_t mask) {
  return mask == 0 ? 0 : std::popcount(mask) * kSectorBytes;
}

constexpr int kTensorShift = 48;

std::uint64_t key_of(const BlockId& id) {
  return std::uint64_t{id.tensor} << kTensorShift | static_cast<std::uint64_t>(id.block);
}

std::uint64_t block_of(std::uint64_t key) {
  return key & ((std::uint64_t{1} << kTensorShift) - 1);
}

std::uint32_t tensor_of(std::uint64_t page_key, std::uint64_t page_blocks) {
  return static_cast<std::uint32_t>(page_key * page_blocks >> kTensorShift);
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
  pages_.clear();
  free_.clear();
  std::ranges::fill(table_, -1);
  last_page_ = newest_ = oldest_ = -1;
  used_bytes_ = 0;
}

void BlockCache::settle() {
  for (Entry& block : entries_) {
    block.awaited = 0;
  }
}

std::int64_t BlockCache::dirty_bytes() const {
  std::int64_t bytes = 0;
  for (std::int32_t i = newest_; i >= 0; i = entries_[static_cast<std::size_t>(i)].older) {
    bytes += bytes_of(entries_[static_cast<std::size_t>(i)].dirty);
  }
  return bytes;
}

std::int32_t BlockCache::page_at(std::uint64_t key) {
  std::size_t slot = home(key);
  for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
    if (pages_[static_cast<std::size_t>(table_[slot])].key == key) {
      return table_[slot];
    }
  }
  return insert_page(key, slot);
}

std::int32_t BlockCache::insert_page(std::uint64_t key, std::size_t slot) {
  std::int32_t page = 0;
  if (free_.empty()) {
    page = static_cast<std::int32_t>(pages_.size());
    pages_.emplace_back();
    entries_.resize(entries_.size() + kPageBlocks);
  } else {
    page = free_.back();
    free_.pop_back();
  }
  pages_[static_cast<std::size_t>(page)] = {key, 0};
  table_[slot] = page;
  return page;
}

void BlockCache::erase_page(std::int32_t page) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = home(pages_[static_cast<std::size_t>(page)].key);
  while (table_[hole] != page) {
    hole = (hole + 1) & mask;
  }
  // Later pages of the run move up unless that would put them before their home.
  for (std::size_t slot = (hole + 1) & mask; table_[slot] >= 0; slot = (slot + 1) & mask) {
    const std::size_t wanted = home(pages_[static_cast<std::size_t>(table_[slot])].key);
    if (((slot - wanted) & mask) >= ((slot - hole) & mask)) {
      table_[hole] = table_[slot];
      hole = slot;
    }
  }
  table_[hole] = -1;
  free_.push_back(page);
  if (last_page_ == page) {
    last_page_ = -1;
  }
}

void BlockCache::unlink(std::int32_t index) {
  const Entry& block = entry(index);
  (block.newer >= 0 ? entry(block.newer).older : newest_) = block.older;
  (block.older >= 0 ? entry(block.older).newer : oldest_) = block.newer;
}

void BlockCache::link_newest(std::int32_t index) {
  Entry& block = entry(index);
  block.newer = -1;
  block.older = newest_;
  (newest_ >= 0 ? entry(newest_).newer : oldest_) = index;
  newest_ = index;
}

void BlockCache::shrink(std::vector<Eviction>& evicted) {
  while (used_bytes_ > capacity_bytes_ && oldest_ >= 0 && oldest_ != newest_) {
    const std::int32_t index = oldest_;
    const Entry& block = entry(index);
    const std::int32_t page_index = index / kPageBlocks;
    Page& page = pages_[static_cast<std::size_t>(page_index)];
    evicted.push_back({tensor_of(page.key, kPageBlocks), bytes_of(block.dirty)});
    used_bytes_ -= kBlockBytes * std::popcount(block.partitions);
    unlink(index);
    page.present &= ~(1U << (index % kPageBlocks));
    if (page.present == 0) {
      erase_page(page_index);
    }
  }
}

BlockCache::Entry& BlockCache::visit(std::uint64_t key) {
  const std::uint64_t page_key = key / kPageBlocks;
  if (last_page_ < 0 || pages_[static_cast<std::size_t>(last_page_)].key != page_key) {
    last_page_ = page_at(page_key);
  }
  const auto in_page = static_cast<std::int32_t>(key % kPageBlocks);
  const std::int32_t index = last_page_ * kPageBlocks + in_page;
  Entry& block = entry(index);
  // Neighbours in a block mostly follow one another.
  if (index != newest_) {
    Page& page = pages_[static_cast<std::size_t>(last_page_)];
    if ((page.present >> in_page & 1U) == 0) {
      page.present |= 1U << in_page;
      // The home copy always exists; an SM of another partition adds one there, reading or writing.
      block = Entry{.partitions = 1U << (block_of(key) % home_partitions_)};
      used_bytes_ += kBlockBytes;
    } else {
      unlink(index);
    }
    link_newest(index);
  }
  return block;
}

void BlockCache::add_copies(Entry& block, std::uint32_t partitions) {
  partitions |= block.partitions;
  if (partitions != block.partitions) {
    used_bytes_ += kBlockBytes * (std::popcount(partitions) - std::popcount(block.partitions));
    block.partitions = partitions;
  }
}

void BlockCache::await(Entry& block, std::uint64_t mask, std::int64_t now, Lookup& result) const {
  const bool on_the_way = now - block.asked_at < fill_cycles_;
  const std::uint64_t awaited = on_the_way ? block.awaited : 0;
  if ((awaited & mask) != 0) {
    block.asked_at = std::min(now, block.asked_at);
    result.awaited_bytes += bytes_of(awaited & mask);
    result.asked_at = std::max(result.asked_at, block.asked_at);
  }
  if (const std::uint64_t missing = mask & ~block.valid; missing != 0) {
    block.awaited = awaited | missing;
    block.asked_at = now;
  }
}

Lookup BlockCache::access(BlockId first, std::int64_t first_sector, std::int64_t sectors, bool write,
                          std::uint32_t partitions, std::vector<Eviction>& evicted, std::int64_t now_cycles) {
  // Unsigned, the divisions are shifts.
  auto sector = static_cast<std::uint64_t>(first_sector);
  const auto end = sector + static_cast<std::uint64_t>(sectors);
  const std::uint64_t key = key_of(first);
  Lookup result;
  std::int64_t hits = 0;
  std::int64_t newly_dirty = 0;
  while (sector < end) {
    const std::uint64_t in_block = sector % kSectorsPerBlock;
    const std::uint64_t count = std::min(kSectorsPerBlock - in_block, end - sector);
    const std::uint64_t mask = sector_mask(in_block, count);
    Entry& block = visit(key + sector / kSectorsPerBlock);
    add_copies(block, partitions);
    hits += std::popcount(block.valid & mask);
    if (write) {
      newly_dirty += std::popcount(mask & ~block.dirty);
      block.dirty |= mask;
    } else {
      await(block, mask, now_cycles, result);
    }
    block.valid |= mask;
    if (used_bytes_ > capacity_bytes_) {
      shrink(evicted);
    }
    sector += count;
  }
  result.hit_bytes = hits * kSectorBytes;
  result.miss_bytes = write ? 0 : (sectors - hits) * kSectorBytes;
  result.newly_dirty_bytes = newly_dirty * kSectorBytes;
  return result;
}

}  // namespace warpscope::memory
