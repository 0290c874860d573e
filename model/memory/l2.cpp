#include "model/memory/l2.hpp"

#include <algorithm>
#include <cmath>

namespace warpscope::memory {
namespace {

/// SM counts are rounded up to a sixteenth of the chip and write fractions to an eighth, so that the tail of
/// a launch passes through few different shares.
constexpr int kShareSteps = 16;
constexpr int kWriteSteps = 8;
constexpr int kUtilisationSteps = 32;
/// SMs that read the same data take turns in coming first, region by region.
constexpr std::int64_t kTurnBytes = 16 * 1024;
/// Ages of data on its way are rounded down to this, so that there are few different responses.
constexpr std::int64_t kAgeStepCycles = 64;

}  // namespace

L2::L2(const sc_core::sc_module_name& name, const hw::HwConfig& config,
       const std::vector<TensorExtent>& tensors)
    : sc_module(name),
      sm_side("sm_side"),
      hbm_side("hbm_side"),
      config_(config),
      cache_({.capacity_bytes = config.l2.capacity_bytes,
              .ways = config.l2.ways,
              .dirty_bytes = config.l2.dirty_bytes,
              .partitions = config.l2.partitions,
              .reads_per_refresh = config.l2.copy_reads_per_refresh}),
      traffic_(tensors.size()) {
  std::int64_t base = 0;
  for (const TensorExtent& tensor : tensors) {
    blocks_per_segment_.push_back((tensor.segment_bytes + kBlockBytes - 1) / kBlockBytes);
    tensor_base_.push_back(base);
    base += tensor.segments * blocks_per_segment_.back();
  }
  sm_side.register_b_transport(this, &L2::b_transport);
  hbm_payload_.set_extension(&hbm_transaction_);
}

// A payload deletes its extensions; this one is a member.
L2::~L2() {
  hbm_payload_.clear_extension(&hbm_transaction_);
}

void L2::begin_launch(double sm_clock_mhz, bool keep_contents) {
  sm_clock_mhz_ = sm_clock_mhz;
  hbm_latency_cycles_ = sm_cycles(config_.hbm.latency_ns, sm_clock_mhz);
  fill_cycles_ = sm_cycles(config_.hbm.latency_ns + config_.hbm.page_wait_ns, sm_clock_mhz);
  cache_.set_fill_cycles(fill_cycles_);
  if (keep_contents) {
    cache_.settle();
  } else {
    cache_.clear();
  }
  traffic_.assign(traffic_.size(), {});
  load_.clear();
  conditions_.clear();
  levels_.clear();
  current_epoch_ = -1;
  active_sms_ = 1;
  peak_bytes_per_epoch_ = config_.hbm.peak_gb_per_s * 1e3 / sm_clock_mhz * static_cast<double>(kEpochCycles);
}

void L2::set_active_sms(int active_sms) {
  const int step = std::max(1, (config_.gpu.sm_count + kShareSteps - 1) / kShareSteps);
  active_sms_ = std::min(config_.gpu.sm_count, (active_sms + step - 1) / step * step);
  current_epoch_ = -1;
}

L2::Load L2::mean_load(std::int64_t begin_cycles, std::int64_t end_cycles) const {
  const auto begin = static_cast<std::size_t>(begin_cycles / kEpochCycles);
  const auto end = std::min(load_.size(), static_cast<std::size_t>(end_cycles / kEpochCycles));
  Load sum;
  for (std::size_t epoch = begin; epoch < end; ++epoch) {
    sum.read_bytes += load_[epoch].read_bytes;
    sum.write_bytes += load_[epoch].write_bytes;
  }
  const std::size_t epochs = std::max(begin + 1, end) - begin;
  return {sum.read_bytes / epochs, sum.write_bytes / epochs};
}

void L2::add_load(const Load& load, double share, std::int64_t begin_cycles, std::int64_t end_cycles) {
  const auto end = static_cast<std::size_t>(end_cycles / kEpochCycles);
  load_.resize(std::max(load_.size(), end));
  for (auto epoch = static_cast<std::size_t>(begin_cycles / kEpochCycles); epoch < end; ++epoch) {
    load_[epoch].read_bytes +=
        static_cast<std::uint64_t>(std::llround(static_cast<double>(load.read_bytes) * share));
    load_[epoch].write_bytes +=
        static_cast<std::uint64_t>(std::llround(static_cast<double>(load.write_bytes) * share));
  }
}

L2::LoadLevel L2::next_level(std::int64_t epoch, const LoadLevel& held) const {
  Load sum;
  for (std::int64_t past = std::max<std::int64_t>(0, epoch - kEpochDelay - kEpochsAveraged + 1);
       past <= epoch - kEpochDelay && past < static_cast<std::int64_t>(load_.size()); ++past) {
    sum.read_bytes += load_[static_cast<std::size_t>(past)].read_bytes;
    sum.write_bytes += load_[static_cast<std::size_t>(past)].write_bytes;
  }
  const auto epochs = static_cast<double>(std::min(kEpochsAveraged, epoch - kEpochDelay + 1));
  const auto total = static_cast<double>(sum.read_bytes + sum.write_bytes);
  const double writes = total > 0 ? static_cast<double>(sum.write_bytes) / total : 0;
  const double utilisation = std::min(1.0, total / epochs / peak_bytes_per_epoch_);
  // A level is held until the load has moved by a whole step: in a steady state conditions must not flicker.
  const auto settle = [](double value, int steps, int level) {
    return std::abs(value * steps - level) < 1 ? level : static_cast<int>(std::lround(value * steps));
  };
  return {settle(utilisation, kUtilisationSteps, held.utilisation), settle(writes, kWriteSteps, held.writes)};
}

const L2::Conditions& L2::conditions_at(std::int64_t epoch) {
  if (epoch == current_epoch_) {
    return *current_;
  }
  while (static_cast<std::int64_t>(levels_.size()) <= epoch) {
    const auto next = static_cast<std::int64_t>(levels_.size());
    // Before anything is known of the load, a launch starts on all SMs at once.
    levels_.push_back(next < kEpochDelay ? LoadLevel{.utilisation = kUtilisationSteps}
                                         : next_level(next, levels_.back()));
  }
  current_epoch_ = epoch;
  current_ = &conditions_of(levels_[static_cast<std::size_t>(epoch)]);
  return *current_;
}

const L2::Conditions& L2::conditions_of(const LoadLevel& level) {
  const int key =
      (active_sms_ * (kUtilisationSteps + 1) + level.utilisation) * (kWriteSteps + 1) + level.writes;
  const auto [found, is_new] = conditions_.try_emplace(key);
  if (is_new) {
    const double writes = static_cast<double>(level.writes) / kWriteSteps;
    const double utilisation = static_cast<double>(level.utilisation) / kUtilisationSteps;
    found->second.share = bandwidth_share(config_, sm_clock_mhz_, active_sms_, writes,
                                          utilisation / hbm_efficiency(config_.hbm, writes));
    found->second.l2_slack_units =
        port_units(config_.hbm.sm_burst_bytes, found->second.share.l2_units_per_byte);
    found->second.dram_slack_units =
        port_units(config_.hbm.sm_burst_bytes, found->second.share.dram_read_units_per_byte);
    found->second.page_wait_cycles = hbm_wait_cycles(config_.hbm, sm_clock_mhz_, utilisation, writes);
  }
  return found->second;
}

std::int64_t L2::turn_of(const Place& place) {
  const std::int64_t region = place.offset / kTurnBytes + place.segment;
  return region % place.accesses;
}

void L2::access(const Transaction& transaction, std::span<const Place> places, Lookup& found) {
  const std::int64_t base = tensor_base_[transaction.tensor];
  const std::int64_t blocks_per_segment = blocks_per_segment_[transaction.tensor];
  const bool write = transaction.kind != AccessKind::read;
  std::uint64_t bytes = 0;
  for (const Place& place : places) {
    // Offsets are not negative; unsigned, the divisions are shifts.
    const std::uint64_t first = static_cast<std::uint64_t>(place.offset) / kSectorBytes;
    const std::uint64_t end = (static_cast<std::uint64_t>(place.offset) + place.bytes - 1) / kSectorBytes + 1;
    const std::uint64_t sectors = end - first;
    const SectorAccess access{
        .first_block = block_key(transaction.tensor, base + place.segment * blocks_per_segment),
        .first_sector = static_cast<std::int64_t>(first),
        .sectors = static_cast<std::int64_t>(sectors),
        .partitions = place.partitions,
        .now_cycles = transaction.time_cycles};
    if (write) {
      cache_.write(access, found, written_back_);
      bytes += std::uint64_t{place.bytes} * place.accesses;
    } else {
      cache_.read(access, found, written_back_);
      bytes += (sectors * kSectorBytes + place.again_bytes) * place.accesses;
    }
  }
  L2Traffic& traffic = traffic_[transaction.tensor];
  if (write) {
    traffic.write_bytes += bytes;
  } else {
    // Where several SMs ask for the same, one brings it and the others find it.
    traffic.read_bytes += bytes;
    traffic.read_hit_bytes += bytes - static_cast<std::uint64_t>(found.miss_bytes);
  }
}

void L2::to_hbm(tlm::tlm_command command, std::uint32_t tensor, std::int64_t bytes, sc_core::sc_time& delay) {
  hbm_payload_.set_command(command);
  hbm_payload_.set_data_length(static_cast<unsigned>(bytes));
  hbm_transaction_.tensor = static_cast<std::uint16_t>(tensor);
  hbm_side->b_transport(hbm_payload_, delay);
}

void L2::b_transport(int /*id*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  Transaction* transaction = nullptr;
  payload.get_extension(transaction);
  Lookup of_others;
  if (!transaction->companions.empty()) {
    access(*transaction, transaction->companions, of_others);
  }
  Lookup found;
  if (transaction->place.bytes > 0) {
    access(*transaction, {&transaction->place, 1}, found);
  }
  const std::int64_t missed = of_others.miss_bytes + found.miss_bytes;
  const std::int64_t newly_dirty = of_others.newly_dirty_bytes + found.newly_dirty_bytes;

  const std::int64_t epoch = transaction->time_cycles / kEpochCycles;
  delay +=
      sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(config_.l2.hit_latency_cycles));
  if (const std::int64_t turn = found.miss_bytes > 0 ? turn_of(transaction->place) : 0; turn > 0) {
    const std::int64_t age = turn * transaction->place.apart_cycles;
    const std::int64_t awaited = age < fill_cycles_ ? found.miss_bytes : 0;
    found = {found.hit_bytes + found.miss_bytes, 0, 0, awaited, transaction->time_cycles - age};
  }
  sc_core::sc_time ignored;
  if (missed > 0) {
    to_hbm(tlm::TLM_READ_COMMAND, transaction->tensor, missed, found.miss_bytes > 0 ? delay : ignored);
  }
  for (const WriteBack& written : written_back_) {
    to_hbm(tlm::TLM_WRITE_COMMAND, written.tensor, written.dirty_bytes, ignored);
  }
  written_back_.clear();

  if (epoch >= static_cast<std::int64_t>(load_.size())) {
    load_.resize(static_cast<std::size_t>(epoch) + 1);
  }
  Load& load = load_[static_cast<std::size_t>(epoch)];
  load.read_bytes += static_cast<std::uint64_t>(missed);
  load.write_bytes += static_cast<std::uint64_t>(newly_dirty);

  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (!transaction->timed) {
    return;
  }
  // A line that turns dirty will cross the pins later, when it is evicted; its share of HBM is taken now.
  const Conditions& conditions = conditions_at(epoch);
  const BandwidthShare& share = conditions.share;
  Response& response = transaction->response;
  response.latency_cycles = static_cast<std::int32_t>(delay.value());
  response.sm_port_units = port_units(transaction->place.bytes, share.port_units_per_byte);
  response.l2_port_units = std::max(port_units(transaction->place.bytes, share.l2_units_per_byte),
                                    port_units(transaction->lines, share.l2_units_per_line));
  response.l2_slack_units = conditions.l2_slack_units;
  response.dram_port_units = port_units(found.miss_bytes, share.dram_read_units_per_byte) +
                             port_units(found.newly_dirty_bytes, share.dram_write_units_per_byte);
  if (found.miss_bytes > 0) {
    response.dram_slack_units = conditions.dram_slack_units;
    response.dram_bytes = static_cast<std::int32_t>(found.miss_bytes);
    response.page_wait_cycles = conditions.page_wait_cycles;
  } else if (found.awaited_bytes > 0) {
    // It comes when it comes for those that asked for it: the same waits, less the time that has passed.
    const std::int64_t age = (transaction->time_cycles - found.asked_at) / kAgeStepCycles * kAgeStepCycles;
    const std::int64_t latency_left = hbm_latency_cycles_ - age;
    delay += sc_core::sc_time::from_value(
        static_cast<sc_core::sc_time::value_type>(std::max<std::int64_t>(0, latency_left)));
    response.latency_cycles = static_cast<std::int32_t>(delay.value());
    response.dram_bytes = static_cast<std::int32_t>(found.awaited_bytes);
    response.page_wait_cycles = static_cast<std::int32_t>(
        std::max<std::int64_t>(0, conditions.page_wait_cycles + std::min<std::int64_t>(0, latency_left)));
  }
}

}  // namespace warpscope::memory
