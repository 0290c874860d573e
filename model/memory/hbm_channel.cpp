#include "model/memory/hbm_channel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "model/base/spread_hash.hpp"
#include "model/memory/server.hpp"

namespace warpscope::memory {
namespace {

constexpr std::int64_t kBackgroundUnits = kBackgroundCycles * kQueueUnits;
/// What SMs miss that another one stands for crosses the bus within so long. With 8 periods launches that
/// read all of their data from HBM are up to 5 % too short, with one up to 8 % too long, as the few SMs that
/// are simulated ask in bursts.
constexpr std::int64_t kApartUnits = 4 * kBackgroundUnits;
/// Between two moments at which something comes: about as long as a block takes on the bus. With a quarter of
/// it, fast mode is 1.0 instead of 0.7 % off on the recorded points of FA1, 0.7 instead of 0.5 % on those of
/// standard attention.
constexpr std::int64_t kMomentUnits = 128 * kQueueUnits;

/// Chance number `number`, evenly spread below `period`.
std::int64_t chance_part(std::uint64_t number, std::int64_t period) {
  constexpr std::int64_t kParts = 1024;
  return period * (static_cast<std::int64_t>(spread_hash(number)) % kParts) / kParts;
}

}  // namespace

ChannelTiming channel_timing(const hw::Hbm& hbm, int channels, double sm_clock_mhz) {
  const double bytes_per_clk = hbm.peak_gb_per_s * 1e3 / sm_clock_mhz / channels;
  const double units_per_byte = static_cast<double>(kQueueUnits) / bytes_per_clk;
  const double read = units_per_byte / hbm.read_efficiency;
  const double write = units_per_byte / hbm.write_efficiency;
  // As many bytes are read as written, so that a batch of writes turns the bus for twice its bytes.
  const double lost = std::max(0.0, 2 * units_per_byte / hbm.mixed_efficiency - read - write);
  return {.read_units_per_byte = std::llround(read),
          .write_units_per_byte = std::llround(write),
          .turnaround_units = std::llround(lost * static_cast<double>(hbm.write_batch_bytes)),
          .write_batch_bytes = hbm.write_batch_bytes};
}

void HbmChannel::begin_launch(const ChannelTiming& timing, std::int64_t first_batch_bytes) {
  timing_ = timing;
  bus_free_ = 0;
  waiting_bytes_ = 0;
  complete_at_bytes_ = first_batch_bytes;
  gathers_since_ = 0;
  batch_ = {};
  batches_ = static_cast<std::uint64_t>(first_batch_bytes);
  begun_ = 0;
  reads_ = false;
  coming_ = {};
  filled_ = 0;
  come_ = 0;
  drawn_ = 0;
}

void HbmChannel::write_batch(std::int64_t now) {
  if (batch_.bytes > 0 && batch_.time <= now) {
    const std::int64_t units = batch_.bytes * timing_.write_units_per_byte;
    begun_ = take_bus(batch_.time, units + (reads_ ? timing_.turnaround_units : 0));
    batch_.bytes = 0;
    reads_ = false;
  }
}

std::int64_t HbmChannel::take_bus(std::int64_t start, std::int64_t service) {
  const std::int64_t begin = std::max(bus_free_, start);
  bus_free_ = begin + service;
  return begin;
}

std::int64_t HbmChannel::read(std::int64_t start, std::int64_t bytes) {
  go_on_to(start);
  return serve_read(start, bytes);
}

std::int64_t HbmChannel::serve_read(std::int64_t start, std::int64_t bytes) {
  write_batch(start);
  reads_ = true;
  const std::int64_t service = bytes * timing_.read_units_per_byte;
  return take_bus(start, service) + service;
}

HbmChannel::Coming& HbmChannel::coming(std::int64_t now) {
  go_on_to(now);
  const std::int64_t moment = come_ + chance_part(++drawn_ + batches_, kApartUnits) / kMomentUnits;
  const std::size_t place = static_cast<std::size_t>(moment) % kMoments;
  filled_ |= 1U << place;
  return coming_[place];
}

std::int64_t HbmChannel::read_in_background(std::int64_t now, std::int64_t bytes) {
  coming(now).read_bytes += bytes;
  return now + chance_part(++drawn_ + batches_, kBackgroundUnits) +
         std::max<std::int64_t>(0, bus_free_ - now) + bytes * timing_.read_units_per_byte;
}

void HbmChannel::write_in_background(std::int64_t now, std::int64_t bytes) {
  coming(now).write_bytes += bytes;
}

void HbmChannel::go_on_to(std::int64_t time) {
  const std::int64_t end = time / kMomentUnits + 1;
  while (filled_ != 0) {
    const int first = static_cast<int>(come_ % std::int64_t{kMoments});
    const std::int64_t moment = come_ + std::countr_zero(std::rotr(filled_, first));
    if (moment >= end) {
      break;
    }
    come_ = moment + 1;
    const std::int64_t now = moment * kMomentUnits;
    const std::size_t place = static_cast<std::size_t>(moment) % kMoments;
    filled_ &= ~(1U << place);
    const Coming here = std::exchange(coming_[place], {});
    if (here.read_bytes > 0) {
      serve_read(now, here.read_bytes);
    }
    for (std::int64_t left = here.write_bytes; left > 0; left -= timing_.write_batch_bytes) {
      serve_write(now, std::min(left, timing_.write_batch_bytes));
    }
  }
  come_ = std::max(come_, end);
}

std::int64_t HbmChannel::write(std::int64_t start, std::int64_t bytes) {
  go_on_to(start);
  return serve_write(start, bytes);
}

std::int64_t HbmChannel::serve_write(std::int64_t start, std::int64_t bytes) {
  waiting_bytes_ += bytes;
  if (waiting_bytes_ < complete_at_bytes_) {
    return start;
  }
  complete_at_bytes_ = timing_.write_batch_bytes;
  // There is room for two batches: the one before goes now at the latest.
  batch_.time = std::min(batch_.time, start);
  write_batch(start);
  const std::int64_t gathered_for = start - std::exchange(gathers_since_, start);
  batch_.time = start + chance_part(++batches_, gathered_for);
  batch_.bytes = std::exchange(waiting_bytes_, 0);
  return std::max(start, begun_);
}

}  // namespace warpscope::memory
