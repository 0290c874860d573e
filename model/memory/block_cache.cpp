#include "model/memory/block_cache.hpp"

#include <algorithm>
#include <bit>

namespace warpscope::memory {
namespace {

constexpr int kTensorShift = 48;

std::uint32_t tensor_of(std::uint64_t page_key) {
  return static_cast<std::uint32_t>(page_key * kPageBlocks >> kTensorShift);
}

}  // namespace

std::uint64_t block_key(std::uint32_t tensor, std::int64_t block) {
  return std::uint64_t{tensor} << kTensorShift | static_cast<std::uint64_t>(block);
}

BlockCache::BlockCache(std::int64_t capacity_bytes, int ways, std::int64_t dirty_limit_bytes)
    : ways_(ways),
      dirty_limit_bytes_(dirty_limit_bytes),
      sets_(static_cast<std::size_t>(std::max<std::int64_t>(1, capacity_bytes / kBlockBytes / ways))) {
  constexpr std::size_t kSlotsPerBlock = 4;
  const std::size_t slots =
      std::bit_ceil((static_cast<std::size_t>(capacity_bytes / kBlockBytes) + 2) * kSlotsPerBlock);
  table_.assign(slots, -1);
  slot_shift_ = 64 - std::countr_zero(slots);
}

void BlockCache::clear() {
  entries_.clear();
  pages_.clear();
  free_.clear();
  dirtied_.clear();
  std::ranges::fill(table_, -1);
  last_page_ = last_block_ = -1;
  std::ranges::fill(sets_, Set{});
  used_bytes_ = 0;
  dirty_bytes_ = 0;
}

void BlockCache::settle() {
  for (Entry& block : entries_) {
    block.awaited = 0;
  }
}

std::int32_t BlockCache::page_at(std::uint64_t key) {
  std::size_t slot = first_slot(key);
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
  std::size_t hole = first_slot(pages_[static_cast<std::size_t>(page)].key);
  while (table_[hole] != page) {
    hole = (hole + 1) & mask;
  }
  // Later pages of the run move up unless that would put them before their first slot.
  for (std::size_t slot = (hole + 1) & mask; table_[slot] >= 0; slot = (slot + 1) & mask) {
    const std::size_t wanted = first_slot(pages_[static_cast<std::size_t>(table_[slot])].key);
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

void BlockCache::unlink(Set& set, std::int32_t index) {
  const Entry& block = entry(index);
  (block.newer >= 0 ? entry(block.newer).older : set.newest) = block.older;
  (block.older >= 0 ? entry(block.older).newer : set.oldest) = block.newer;
}

void BlockCache::link_newest(Set& set, std::int32_t index) {
  Entry& block = entry(index);
  block.newer = -1;
  block.older = set.newest;
  (set.newest >= 0 ? entry(set.newest).newer : set.oldest) = index;
  set.newest = index;
}

void BlockCache::write_back(std::int32_t index, std::vector<WriteBack>& written) {
  Entry& block = entry(index);
  if (block.dirty == 0) {
    return;
  }
  const std::int64_t bytes = bytes_of(block.dirty);
  const std::uint32_t tensor = tensor_of(pages_[static_cast<std::size_t>(index / kPageBlocks)].key);
  if (!written.empty() && written.back().tensor == tensor) {
    written.back().dirty_bytes += bytes;
  } else {
    written.push_back({tensor, bytes});
  }
  dirty_bytes_ -= bytes;
  block.dirty = 0;
}

void BlockCache::shrink(Set& set, std::vector<WriteBack>& written) {
  while (set.blocks > ways_) {
    const std::int32_t index = set.oldest;
    const std::int32_t page_index = index / kPageBlocks;
    Page& page = pages_[static_cast<std::size_t>(page_index)];
    write_back(index, written);
    used_bytes_ -= kBlockBytes;
    --set.blocks;
    unlink(set, index);
    page.present &= ~(1U << (index % kPageBlocks));
    if (page.present == 0) {
      erase_page(page_index);
    }
  }
}

BlockCache::Entry& BlockCache::visit(std::uint64_t key, std::vector<WriteBack>& written) {
  const std::uint64_t page_key = key / kPageBlocks;
  if (last_page_ < 0 || pages_[static_cast<std::size_t>(last_page_)].key != page_key) {
    last_page_ = page_at(page_key);
  }
  const auto in_page = static_cast<std::int32_t>(key % kPageBlocks);
  const std::int32_t index = last_page_ * kPageBlocks + in_page;
  last_block_ = index;
  Set& set = set_of(key);
  if (index != set.newest) {
    Page& page = pages_[static_cast<std::size_t>(last_page_)];
    const bool is_new = (page.present >> in_page & 1U) == 0;
    if (is_new) {
      page.present |= 1U << in_page;
      entry(index) = Entry{};
      used_bytes_ += kBlockBytes;
      ++set.blocks;
    } else {
      unlink(set, index);
    }
    link_newest(set, index);
    if (is_new) {
      shrink(set, written);
    }
  }
  return entry(index);
}

Found BlockCache::read(std::uint64_t key, std::uint64_t mask, std::int64_t now,
                       std::vector<WriteBack>& written) {
  Entry& block = visit(key, written);
  Found found;
  found.missing = mask & ~block.valid;
  if ((block.awaited & mask) != 0 && now - block.asked_at < fill_cycles_) {
    block.asked_at = std::min(now, block.asked_at);
    found.awaited = block.awaited & mask;
    found.asked_at = block.asked_at;
  }
  block.valid |= mask;
  return found;
}

Found BlockCache::write(std::uint64_t key, std::uint64_t mask, std::vector<WriteBack>& written) {
  Entry& block = visit(key, written);
  Found found;
  found.newly_dirty = mask & ~block.dirty;
  if (block.dirty == 0) {
    block.dirtied_at = ++dirtied_count_;
    dirtied_.push_back({last_block_, block.dirtied_at});
  }
  block.dirty |= mask;
  block.valid |= mask;
  dirty_bytes_ += bytes_of(found.newly_dirty);
  while (dirty_bytes_ > dirty_limit_bytes_ && dirtied_.size() > 1) {
    const Dirtied first = dirtied_.front();
    if (entry(first.index).dirtied_at == first.at) {
      write_back(first.index, written);
    }
    dirtied_.pop_front();
  }
  return found;
}

void BlockCache::await(std::uint64_t mask, std::int64_t now) {
  Entry& block = entry(last_block_);
  const bool more = now - block.asked_at < fill_cycles_;
  block.awaited = more ? block.awaited | mask : mask;
  block.asked_at = now;
}

}  // namespace warpscope::memory
