// A slice of the L2 with the channel of HBM behind it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/memory/hbm_channel.hpp"
#include "model/memory/hit_latency.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "model/memory/piece.hpp"
#include "model/memory/tensor_extent.hpp"
#include "model/memory/write_port.hpp"
#include "model/metrics/moved_bytes.hpp"

namespace warpscope::memory {

/// Timing of all slices, in units of 1/kQueueUnits SM cycles.
struct SliceTiming {
  std::int64_t units_per_byte = 0;
  std::int64_t units_per_written_sector = 0;  ///< written by an SM or brought by HBM
  std::int64_t units_per_line = 0;
  std::int64_t units_per_lane = 0;   ///< of a reduction
  std::int64_t reduced_sectors = 1;  ///< that reductions wait for in a slice at a time
  std::int64_t hbm_units = 0;        ///< more for what HBM brings, besides its wait for a page
  std::int64_t page_keys = 1;        ///< blocks per page, at least one
  int pages_per_block = 1;
  std::array<std::int64_t, 256> page_wait_units{};  ///< quantiles of the wait for one page
  std::int64_t mean_page_wait_units = 0;
  HitLatency hit;  ///< SM to SM, without waiting
  ChannelTiming channel;
};

/// Timing of one of config.l2.slices equal slices while SMs run at this clock.
SliceTiming slice_timing(const hw::HwConfig& config, double sm_clock_mhz);

/// How long the lookups of a piece take the slice.
std::int64_t service_units(const SliceTiming& timing, const Piece& piece);
/// Bytes between the L2 and all SMs that make the access.
std::uint64_t moved_bytes(const Piece& piece);

/// Bytes that a piece writes into a slice, in whole sectors.
inline std::int64_t written_bytes(const Piece& piece) {
  return piece.kind == AccessKind::write ? piece.sectors * static_cast<std::int64_t>(kSectorBytes) : 0;
}

/// What comes into slices, in whole sectors.
struct TakenIn {
  std::int64_t bytes = 0;          ///< written by SMs or brought by HBM
  std::int64_t reduced_units = 0;  ///< see L2Slice::waiting_units()
};

/// State of one slice. It answers pieces in the order in which they come, which is that of their times.
class L2Slice {
 public:
  L2Slice(const CacheShape& shape, std::size_t tensors);

  /// `timing` must outlive the launch. Slices are at different places of their batches of writes: this one at
  /// `turn` of `turns`.
  void begin_launch(const SliceTiming& timing, bool keep_contents, std::size_t turn, std::size_t turns);
  /// Of the launch before, or of somebody else, the block is dirty.
  void leave_dirty(std::uint64_t key) { cache_.leave_dirty(key, written_); }
  /// So much comes into it that nobody waits for.
  void add_background(std::int64_t time_cycles, const TakenIn& taken_in);
  /// Takes the next piece, looked up at `start` in queue units, and fills in when it is answered.
  void serve(Piece& piece, std::int64_t start);
  /// Likewise, but nobody waits for the answer. `address` is that of locate(). Returns what HBM brings.
  TakenIn touch(const Piece& piece, const BlockAddress& address, std::int64_t time_cycles);
  /// Where the piece is looked up: of many pieces best found ahead, as the host then waits less for each.
  BlockAddress locate(const Piece& piece) const { return cache_.locate(piece.key); }

  /// By tensor; behind them what leave_dirty() left.
  const std::vector<metrics::MovedBytes>& traffic() const { return traffic_; }
  std::int64_t used_bytes() const { return cache_.used_bytes(); }

 private:
  /// Looks the piece up and has `fetch` bring what is missing: it is given the bytes and says when they are
  /// there. Returns when all of them are.
  template <typename Fetch>
  std::int64_t look_up(const Piece& piece, const BlockAddress& address, std::int64_t start,
                       const Fetch& fetch);
  /// How long these bytes, in whole sectors, take the way into the slice.
  std::int64_t write_units(std::int64_t bytes) const;
  /// A reduction that waits `latency` for so many bytes takes as much of the slice's places as one that takes
  /// all of them for this long.
  std::int64_t waiting_units(std::int64_t bytes, std::int64_t latency) const;
  /// Until the pages are open that hold the piece.
  std::int64_t page_wait(const Piece& piece) const;
  /// Has `write` take the bytes that the lookup drove out.
  template <typename Write>
  void write_back(const Write& write);

  const SliceTiming* timing_ = nullptr;
  PartitionedCache cache_;
  HbmChannel channel_;
  WritePort write_port_;
  Server reductions_;          ///< that wait for HBM
  std::int64_t accepted_ = 0;  ///< the last write-back had room from here on
  std::vector<WriteBack> written_;
  std::vector<metrics::MovedBytes> traffic_;
};

}  // namespace warpscope::memory
