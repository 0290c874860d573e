// The channel of HBM behind one slice of the L2, as a queue.
#pragma once

#include <array>
#include <cstdint>

#include "model/hw/hw_config.hpp"

namespace warpscope::memory {

/// Timing of a channel, in units of 1/kQueueUnits SM cycles.
struct ChannelTiming {
  std::int64_t read_units_per_byte = 0;
  std::int64_t write_units_per_byte = 0;
  std::int64_t turnaround_units = 0;  ///< for a batch of writes between reads
  std::int64_t write_batch_bytes = 0;
};

/// Timing of each of `channels` equal channels. Refresh and row misses make bytes cost more than at peak;
/// what equal reads and writes lose beyond the mean of both is the turnaround.
ChannelTiming channel_timing(const hw::Hbm& hbm, int channels, double sm_clock_mhz);

/// Reads are served in order. Writes wait until a batch of them is complete, which goes out in one piece at a
/// chance moment while the next one gathers, ahead of the reads that come after it: that is what lets the
/// mean wait of reads grow with the writes and not with the reads, whoever writes and when
/// (experiments/reference/measured-h200/loaded_latency.md). The bus never moves more than its peak.
class HbmChannel {
 public:
  /// The first batch of writes is shorter, so that channels do not write all at once.
  void begin_launch(const ChannelTiming& timing, std::int64_t first_batch_bytes);
  /// When the last byte of a read that reaches the channel at `start` has crossed the bus.
  std::int64_t read(std::int64_t start, std::int64_t bytes);
  /// When there is room for a write that comes at `start`.
  std::int64_t write(std::int64_t start, std::int64_t bytes);
  /// What SMs ask for that another one stands for is known together with what that one asks for, but comes
  /// at chance moments, as SMs are apart. Who waits for the same bytes later gets them as if they had come
  /// soon; when that is, is returned.
  std::int64_t read_in_background(std::int64_t now, std::int64_t bytes);
  void write_in_background(std::int64_t now, std::int64_t bytes);

 private:
  /// The background of so many moments is known ahead.
  static constexpr std::size_t kMoments = 32;
  struct Batch {
    std::int64_t time = 0;
    std::int64_t bytes = 0;  ///< 0: none
  };
  /// What comes at one moment in the background.
  struct Coming {
    std::int64_t read_bytes = 0;
    std::int64_t write_bytes = 0;
  };
  /// Serves of the background what comes up to `time`.
  void go_on_to(std::int64_t time);
  std::int64_t take_bus(std::int64_t start, std::int64_t service);
  std::int64_t serve_read(std::int64_t start, std::int64_t bytes);
  std::int64_t serve_write(std::int64_t start, std::int64_t bytes);
  /// Where to note what comes at a chance moment from `now` on.
  Coming& coming(std::int64_t now);
  /// Lets the batch that is complete go out if its time has come.
  void write_batch(std::int64_t now);

  ChannelTiming timing_;
  std::int64_t bus_free_ = 0;
  Batch batch_;                     ///< complete, not yet begun
  std::uint64_t batches_ = 0;       ///< so far, from another number on in each channel
  std::int64_t gathers_since_ = 0;  ///< the one that is not yet complete
  std::int64_t begun_ = 0;          ///< when the last one began
  bool reads_ = false;              ///< since then
  std::int64_t complete_at_bytes_ = 0;
  std::int64_t waiting_bytes_ = 0;         ///< of the batch that is not yet complete
  std::array<Coming, kMoments> coming_{};  ///< a ring
  std::uint32_t filled_ = 0;               ///< its places where something comes, a bit mask
  std::int64_t come_ = 0;                  ///< moments so far
  std::uint64_t drawn_ = 0;                ///< chance numbers
};

}  // namespace warpscope::memory
