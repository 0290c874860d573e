#include "model/memory/memory_system.hpp"

#include <algorithm>
#include <bit>

#include "model/memory/shared_lines.hpp"

namespace warpscope::memory {
namespace {

/// What a piece can count; far more than the SMs of any chip.
constexpr std::uint32_t kMostAccesses = 65535;

/// Slices of blocks one behind the other. As many blocks as there are slices, a row, are in as many slices.
/// Each row begins by chance, so that no distance favours some slices
/// (experiments/reference/measured-h200/l2_contents.md).
class SliceWalk {
 public:
  SliceWalk(std::uint64_t key, std::size_t slices)
      : slices_(slices), row_(key / slices), column_(key - row_ * slices) {
    begin_row();
  }
  /// Of the block where it is.
  std::uint64_t slice() const {
    const std::uint64_t sum = column_ + row_begin_;
    return sum < slices_ ? sum : sum - slices_;
  }
  /// Goes on by so many blocks.
  void advance(std::uint64_t blocks) {
    column_ += blocks;
    if (column_ >= slices_) {
      row_ += column_ / slices_;
      column_ %= slices_;
      begin_row();
    }
  }

 private:
  void begin_row() { row_begin_ = chance_hash(row_) * slices_ >> 32; }

  std::uint64_t slices_;
  std::uint64_t row_;
  std::uint64_t column_;
  std::uint64_t row_begin_ = 0;
};

/// An L2 of less than a whole set for each slice has smaller sets.
int ways_of(const hw::L2& l2) {
  const std::int64_t blocks = l2.capacity_bytes / l2.partitions / l2.slices / kBlockBytes;
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, l2.ways));
}

/// Sets that slice number `slice` holds in each partition, so that all slices together hold the capacity.
std::int64_t sets_of(const hw::L2& l2, std::int64_t slice) {
  const std::int64_t sets = l2.capacity_bytes / l2.partitions / ways_of(l2) / kBlockBytes;
  return std::max<std::int64_t>(1, (slice + 1) * sets / l2.slices - slice * sets / l2.slices);
}

}  // namespace

MemorySystem::MemorySystem(const hw::HwConfig& config, const std::vector<TensorExtent>& tensors)
    : config_(config), addresses_(tensors), tensors_(tensors) {
  const hw::L2& l2 = config_.l2;
  const int ways = ways_of(l2);
  for (int slice = 0; slice < l2.slices; ++slice) {
    slices_.emplace_back(CacheShape{.capacity_bytes = sets_of(l2, slice) * l2.partitions * ways * kBlockBytes,
                                    .ways = ways,
                                    .dirty_bytes = std::max<std::int64_t>(1, l2.dirty_bytes / l2.slices),
                                    .partitions = l2.partitions,
                                    .dealt_to = l2.slices,
                                    .number = slice},
                         tensors.size());
  }
  orders_.resize(slices_.size());
}

void MemorySystem::begin_launch(double sm_clock_mhz, bool keep_contents) {
  timing_ = slice_timing(config_, sm_clock_mhz);
  told_.clear();
  lookups_.assign(slices_.size(), {Lookups(static_cast<std::int64_t>(slices_.size())), 0});
  for (std::size_t slice = 0; slice < slices_.size(); ++slice) {
    slices_[slice].begin_launch(timing_, keep_contents, slice, slices_.size());
  }
  if (!keep_contents) {
    leave_dirty();
  }
}

void MemorySystem::leave_dirty() {
  const auto behind_tensors = static_cast<std::uint32_t>(tensors_.size());
  const std::int64_t blocks = std::min(config_.l2.left_dirty_bytes, config_.l2.dirty_bytes) / kBlockBytes;
  SliceWalk walk(block_key(behind_tensors, 0), slices_.size());
  for (std::int64_t block = 0; block < blocks; ++block) {
    slices_[walk.slice()].leave_dirty(block_key(behind_tensors, block));
    walk.advance(1);
  }
}

template <typename Place, typename Use>
int MemorySystem::for_each_piece(const Access& access, const Place& place, const Use& use) const {
  const std::int64_t least_lines = (std::int64_t{access.bytes} + kLineBytes - 1) / kLineBytes;
  const std::int64_t lines = std::max<std::int64_t>(access.lines, least_lines);
  const std::int64_t end = access.offset + access.bytes;
  // Most pieces are whole blocks or the whole access, and divisions take long.
  const std::int64_t lines_of_block = access.bytes > kBlockBytes ? lines * kBlockBytes / access.bytes : lines;
  const auto lines_of = [&](std::int64_t bytes) {
    const std::int64_t part = bytes == kBlockBytes    ? lines_of_block
                              : bytes == access.bytes ? lines
                                                      : lines * bytes / access.bytes;
    return static_cast<std::uint16_t>(std::max<std::int64_t>(1, part));
  };
  const auto partitions = static_cast<std::uint16_t>(
      access.partitions != 0 ? access.partitions : partition_of_sm(access.sm, config_.l2));
  int count = 0;
  const auto add = [&](std::uint64_t key, std::uint64_t slice, std::int64_t bytes, std::uint64_t mask) {
    // Filled in where it stays: a copy of what was just stored in parts waits for them.
    Piece& piece = place();
    piece.time_cycles = access.time_cycles;
    piece.key = key;
    piece.mask = mask;
    piece.number = access.number + static_cast<std::uint32_t>(count);
    piece.request = access.request;
    piece.sm = access.sm;
    piece.slice = static_cast<std::uint16_t>(slice);
    piece.bytes = static_cast<std::uint16_t>(bytes);
    piece.lines = lines_of(bytes);
    piece.partitions = partitions;
    piece.accesses = static_cast<std::uint16_t>(std::min<std::uint32_t>(access.accesses, kMostAccesses));
    piece.apart_cycles = access.apart_cycles;
    piece.again_sectors = static_cast<std::uint16_t>(
        count == 0 ? std::min<std::int64_t>(access.again_bytes / kSectorBytes, kMostAccesses) : 0);
    ++count;
    piece.kind = access.kind;
    return &piece;
  };
  const TensorExtent& tensor = tensors_[access.tensor];
  if (tensor.line_segments > 1) {
    const auto begin_block = static_cast<std::int64_t>(addresses_.address(access.tensor, 0, 0)) / kBlockBytes;
    SharedLines(tensor, access.segment).for_each(access.offset, end, [&](const LinesOfRows& part) {
      const std::uint64_t key = block_key(access.tensor, begin_block + part.block);
      Piece* piece = add(key, SliceWalk(key, slices_.size()).slice(), part.bytes,
                         access.kind == AccessKind::read ? part.lines : part.asked);
      piece->first_sector = static_cast<std::uint16_t>(std::countr_zero(part.asked));
      piece->sectors = static_cast<std::uint16_t>(std::popcount(part.asked));
      use(*piece);
    });
    return count;
  }
  const SegmentBlocks blocks = addresses_.blocks(access.tensor, access.segment);
  SliceWalk walk(block_key(access.tensor, blocks.first + access.offset / kBlockBytes * blocks.step),
                 slices_.size());
  for (std::int64_t begin = access.offset; begin < end;) {
    const std::int64_t stop = std::min(end, (begin | (kBlockBytes - 1)) + 1);  // a power of two
    const std::int64_t in_block = begin % kBlockBytes;
    const std::uint64_t key = block_key(access.tensor, blocks.first + begin / kBlockBytes * blocks.step);
    const std::int64_t first_sector = in_block / kSectorBytes;
    const std::int64_t sectors = (in_block + stop - begin - 1) / kSectorBytes - first_sector + 1;
    Piece* piece = add(key, walk.slice(), stop - begin,
                       ~std::uint64_t{0} >> (kSectorsPerBlock - sectors) << first_sector);
    piece->first_sector = static_cast<std::uint16_t>(first_sector);
    piece->sectors = static_cast<std::uint16_t>(sectors);
    use(*piece);
    walk.advance(static_cast<std::uint64_t>(blocks.step));
    begin = stop;
  }
  return count;
}

int MemorySystem::split(const Access& access, std::vector<Piece>& pieces) const {
  return for_each_piece(
      access, [&]() -> Piece& { return pieces.emplace_back(); }, [](const Piece& /*piece*/) {});
}

void MemorySystem::touch(std::span<const Access> accesses, std::int64_t time_cycles) {
  std::int64_t units = 0;
  double by_piece = 0;
  TakenIn taken_in;
  touched_.clear();
  located_.clear();
  for (const Access& access : accesses) {
    for_each_piece(
        access, [&]() -> Piece& { return touched_.emplace_back(); },
        [&](const Piece& piece) {
          taken_in.bytes += written_bytes(piece) * piece.accesses;
          const std::int64_t service = service_units(timing_, piece);
          units += service * piece.accesses;
          by_piece += static_cast<double>(service) * static_cast<double>(service * piece.accesses);
          located_.push_back(slices_[piece.slice].locate(piece));
        });
  }
  // Who makes them is at another place of its loop than the SM that stands for it, and so of its tensors:
  // lookups come to all slices alike.
  const auto piece = units > 0 ? static_cast<std::int64_t>(by_piece / static_cast<double>(units)) : 0;
  told_.push_back({time_cycles * kQueueUnits, units, piece});
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const TakenIn brought = slices_[touched_[i].slice].touch(touched_[i], located_[i], time_cycles);
    taken_in.bytes += brought.bytes;
    taken_in.reduced_units += brought.reduced_units;
  }
  const auto slices = static_cast<std::int64_t>(slices_.size());
  for (L2Slice& slice : slices_) {
    slice.add_background(time_cycles, {taken_in.bytes / slices, taken_in.reduced_units / slices});
  }
}

void MemorySystem::serve(std::span<std::vector<Piece>* const> asked, std::size_t part, std::size_t parts) {
  const std::size_t first = slices_.size() * part / parts;
  const std::size_t end = slices_.size() * (part + 1) / parts;
  if (first == end) {
    return;  // more parts than slices
  }
  PieceOrder& order = orders_[first];
  order.clear();
  for (std::vector<Piece>* of_sm : asked) {
    for (Piece& piece : *of_sm) {
      order.add(piece);
    }
  }
  auto& [lookups, heard] = lookups_[first];
  for (; heard < told_.size(); ++heard) {
    lookups.add_background(told_[heard].time, told_[heard].service, told_[heard].piece);
  }
  for (Piece* piece : order.sorted()) {
    const std::int64_t start =
        lookups.serve(piece->time_cycles * kQueueUnits, service_units(timing_, *piece), piece->accesses);
    if (piece->slice >= first && piece->slice < end) {
      slices_[piece->slice].serve(*piece, start);
    }
  }
}

std::vector<metrics::MovedBytes> MemorySystem::traffic() const {
  std::vector<metrics::MovedBytes> sum(addresses_.tensors());
  for (const L2Slice& slice : slices_) {
    for (std::size_t t = 0; t < sum.size(); ++t) {
      sum[t] += slice.traffic()[t];
    }
  }
  return sum;
}

std::uint64_t MemorySystem::earlier_bytes() const {
  std::uint64_t bytes = 0;
  for (const L2Slice& slice : slices_) {
    bytes += slice.traffic().back().hbm_write;
  }
  return bytes;
}

std::int64_t MemorySystem::used_bytes() const {
  std::int64_t bytes = 0;
  for (const L2Slice& slice : slices_) {
    bytes += slice.used_bytes();
  }
  return bytes;
}

}  // namespace warpscope::memory
