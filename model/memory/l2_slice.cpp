#include "model/memory/l2_slice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/base/spread_hash.hpp"

namespace warpscope::memory {
namespace {

constexpr std::uint32_t kLaneBytes = 4;
constexpr std::uint64_t kTurnBlocks = 8;

std::int64_t units(double cycles) {
  return std::llround(cycles * static_cast<double>(kQueueUnits));
}

}  // namespace

std::int64_t service_units(const SliceTiming& timing, const Piece& piece) {
  const std::int64_t lanes = piece.kind == AccessKind::reduce ? piece.bytes / kLaneBytes : 0;
  return std::max({piece.bytes * timing.units_per_byte, piece.lines * timing.units_per_line,
                   lanes * timing.units_per_lane});
}

SliceTiming slice_timing(const hw::HwConfig& config, double sm_clock_mhz) {
  SliceTiming timing;
  const double slices = config.l2.slices;
  timing.units_per_byte = units(slices / config.l2.bytes_per_clk);
  timing.units_per_written_sector =
      units(slices * static_cast<double>(kSectorBytes) / config.l2.write_bytes_per_clk);
  timing.units_per_line = units(slices / config.l2.lines_per_clk);
  timing.units_per_lane = units(slices / config.l2.reduce_lanes_per_clk);
  timing.reduced_sectors = std::max(1, config.l2.reduce_waiting_sectors / config.l2.slices);
  timing.hit = HitLatency(config.l2);
  timing.hbm_units = units(config.hbm.latency_ns * sm_clock_mhz / 1e3);
  timing.page_keys = std::max<std::int64_t>(1, config.hbm.page_bytes / kBlockBytes);
  timing.pages_per_block = static_cast<int>(std::max<std::int64_t>(1, kBlockBytes / config.hbm.page_bytes));
  const double mean_cycles = config.hbm.page_wait_ns * sm_clock_mhz / 1e3;
  const auto count = static_cast<double>(timing.page_wait_units.size());
  for (std::size_t i = 0; i < timing.page_wait_units.size(); ++i) {
    timing.page_wait_units[i] = units(-std::log((static_cast<double>(i) + 0.5) / count) * mean_cycles);
  }
  timing.mean_page_wait_units = units(mean_cycles);
  timing.channel = channel_timing(config.hbm, config.l2.slices, sm_clock_mhz);
  return timing;
}

L2Slice::L2Slice(const CacheShape& shape, std::size_t tensors) : cache_(shape), traffic_(tensors + 1) {}

void L2Slice::begin_launch(const SliceTiming& timing, bool keep_contents, std::size_t turn,
                           std::size_t turns) {
  timing_ = &timing;
  if (keep_contents) {
    cache_.settle();
  } else {
    cache_.clear();
  }
  const std::int64_t batch_bytes = timing.channel.write_batch_bytes;
  channel_.begin_launch(timing.channel,
                        batch_bytes * static_cast<std::int64_t>(turn + 1) / static_cast<std::int64_t>(turns));
  write_port_ = {};
  reductions_ = {};
  accepted_ = 0;
  traffic_.assign(traffic_.size(), {});
}

std::int64_t L2Slice::page_wait(const Piece& piece) const {
  const std::int64_t page_bytes = kBlockBytes / timing_->pages_per_block;
  const auto page_of = [&](std::int64_t sector) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(piece.key) / timing_->page_keys *
                                          timing_->pages_per_block +
                                      sector * kSectorBytes / page_bytes);
  };
  // Pages open independently; the piece waits for the last of them.
  std::int64_t wait = 0;
  const std::uint64_t last = page_of(static_cast<std::int64_t>(std::bit_width(piece.mask)) - 1);
  for (std::uint64_t page = page_of(piece.first_sector); page <= last; ++page) {
    wait = std::max(wait, timing_->page_wait_units[spread_hash(page + 1) % timing_->page_wait_units.size()]);
  }
  return wait;
}

template <typename Write>
void L2Slice::write_back(const Write& write) {
  for (const WriteBack& written : written_) {
    traffic_[written.tensor].hbm_write += static_cast<std::uint64_t>(written.dirty_bytes);
    write(written.dirty_bytes);
  }
  written_.clear();
}

std::uint64_t moved_bytes(const Piece& piece) {
  const int bytes = piece.kind == AccessKind::read
                        ? (piece.sectors + piece.again_sectors) * static_cast<int>(kSectorBytes)
                        : piece.bytes;
  return static_cast<std::uint64_t>(bytes) * piece.accesses;
}

template <typename Fetch>
std::int64_t L2Slice::look_up(const Piece& piece, const BlockAddress& address, std::int64_t start,
                              const Fetch& fetch) {
  // What is added is added at home, and no copy stays elsewhere.
  const std::uint32_t partitions = piece.kind == AccessKind::reduce ? 0 : piece.partitions;
  const BlockAccess access{
      .key = piece.key, .mask = piece.mask, .partitions = partitions, .now_cycles = start};
  const std::uint64_t moved = moved_bytes(piece);
  metrics::MovedBytes& traffic = traffic_[piece.key >> kTensorShift];
  std::int64_t there = start;
  Lookup found;
  const auto arrival = [&](std::int64_t missed_bytes) { return there = fetch(missed_bytes); };
  if (piece.kind != AccessKind::write) {
    // What is added to has to be there, too.
    cache_.read(access, address, found, written_, arrival);
    traffic.hbm_read += static_cast<std::uint64_t>(found.miss_bytes);
  }
  if (piece.kind == AccessKind::read) {
    traffic.l2_read += moved;
    // Of a line that comes whole, what was not asked for may be more.
    traffic.l2_read_hit += moved - std::min(moved, static_cast<std::uint64_t>(found.miss_bytes));
    // What others asked for comes when it comes for them.
    there = std::max(there, found.there_at);
  } else {
    cache_.write(access, address, found, written_);
    traffic.l2_write += moved;
  }
  return there;
}

std::int64_t L2Slice::write_units(std::int64_t bytes) const {
  return bytes / static_cast<std::int64_t>(kSectorBytes) * timing_->units_per_written_sector;
}

std::int64_t L2Slice::waiting_units(std::int64_t bytes, std::int64_t latency) const {
  return bytes / static_cast<std::int64_t>(kSectorBytes) * latency / timing_->reduced_sectors;
}

void L2Slice::serve(Piece& piece, std::int64_t start) {
  if (piece.kind == AccessKind::write) {
    start = write_port_.write(start, write_units(written_bytes(piece)));
  }
  std::int64_t there = look_up(piece, locate(piece), start, [&](std::int64_t bytes) {
    std::int64_t filled = channel_.read(start, bytes) + timing_->hbm_units + page_wait(piece);
    if (piece.kind == AccessKind::reduce) {
      filled += reductions_.serve(start, waiting_units(bytes, filled - start)) - start;
    }
    write_port_.fill(start, filled, write_units(bytes));
    return filled;
  });
  write_back([&](std::int64_t bytes) { accepted_ = std::max(accepted_, channel_.write(start, bytes)); });
  if (piece.kind == AccessKind::read) {
    // SMs with one request take turns in coming first, region by region. The first one waits for what is
    // missing.
    const auto turn = static_cast<std::int64_t>(piece.key / kTurnBlocks % piece.accesses);
    there = std::max(start, there - turn * piece.apart_cycles * kQueueUnits);
  } else {
    // A write has its place once what it drives out has left.
    there = std::max(there, accepted_);
  }
  piece.arrival_cycles = (there + timing_->hit.units(piece) + kQueueUnits - 1) / kQueueUnits;
}

void L2Slice::add_background(std::int64_t time_cycles, const TakenIn& taken_in) {
  write_port_.add_background(time_cycles * kQueueUnits, write_units(taken_in.bytes),
                             timing_->units_per_written_sector * kSectorsPerLine);
  reductions_.add_background(time_cycles * kQueueUnits, taken_in.reduced_units,
                             waiting_units(kSectorsPerLine * kSectorBytes, timing_->hbm_units));
}

TakenIn L2Slice::touch(const Piece& piece, const BlockAddress& address, std::int64_t time_cycles) {
  const std::int64_t now = time_cycles * kQueueUnits;
  const std::int64_t latency = timing_->hbm_units + timing_->mean_page_wait_units;
  TakenIn brought;
  look_up(piece, address, now, [&](std::int64_t bytes) {
    brought.bytes += bytes;
    // The channel says when the bytes come, which is at a chance moment of several periods: nobody waits that
    // long for them.
    brought.reduced_units += piece.kind == AccessKind::reduce ? waiting_units(bytes, latency) : 0;
    return channel_.read_in_background(now, bytes) + latency;
  });
  write_back([&](std::int64_t bytes) { channel_.write_in_background(now, bytes); });
  return brought;
}

}  // namespace warpscope::memory
