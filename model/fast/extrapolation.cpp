#include "model/fast/extrapolation.hpp"

#include <algorithm>
#include <cmath>

#include "model/gpu/time_limit.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

/// Standard deviation of the cycles of sampled launches from those of detailed mode beyond what scatter in
/// the sample explains, as a part of them: found on the 67 sampled forward points of detailed_mode.csv, of
/// which 19 in 20 lie within two deviations.
constexpr double kMethodDeviation = 0.019;

template <typename Count>
void scale(Count& count, double factor) {
  count = static_cast<Count>(std::llround(static_cast<double>(count) * factor));
}

/// Instructions of the launch over those that the simulated CTAs stood for.
double whole_over_sample(const std::vector<std::uint64_t>& class_work,
                         const std::vector<std::uint64_t>& whole, const std::vector<std::uint64_t>& sample) {
  const auto instructions = [&](const std::vector<std::uint64_t>& ctas) {
    double sum = 0;
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      sum += static_cast<double>(class_work[c]) * static_cast<double>(ctas[c]);
    }
    return sum;
  };
  return instructions(whole) / instructions(sample);
}

/// `value` in all repeats.
template <typename Count>
Count repeated(const SkippedWaves& skipped, Count value) {
  return static_cast<Count>(std::llround(static_cast<double>(value) * skipped.repeats));
}

/// What was left out counts as much per work as what stands for it.
void add_skipped_waves(gpu::LaunchCounts& counts, const hw::HwConfig& config, const SkippedWaves& skipped) {
  const sm::SmCounters& counted = skipped.part.counted;
  for (std::size_t i = 0; i < sm::kCountedPipes; ++i) {
    counts.counters.pipe_busy_cycles[i] += repeated(skipped, counted.pipe_busy_cycles[i]);
  }
  counts.counters.data_path_cycles += repeated(skipped, counted.data_path_cycles);
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    counts.counters.stall_warp_cycles[i] += repeated(skipped, counted.stall_warp_cycles[i]);
  }
  for (std::size_t t = 0; t < counts.tensors.size(); ++t) {
    counts.tensors[t].hbm_read += repeated(skipped, skipped.part.hbm[t].read_bytes);
    counts.tensors[t].hbm_write += repeated(skipped, skipped.part.hbm[t].write_bytes);
  }
  const std::uint64_t cycles = repeated(skipped, static_cast<std::uint64_t>(skipped.part.time));
  counts.cycles += static_cast<sim::Cycles>(cycles);
  counts.sm_active_cycles += cycles * static_cast<std::uint64_t>(config.gpu.sm_count);
}

/// What was estimated for parts of a launch may not be more than all of it has room for.
void keep_within_active(gpu::LaunchCounts& counts, int sub_cores) {
  const auto active = static_cast<std::int64_t>(counts.sm_active_cycles);
  for (std::int64_t& cycles : counts.counters.pipe_busy_cycles) {
    cycles = std::min(cycles, active * sub_cores);
  }
  counts.counters.data_path_cycles = std::min(counts.counters.data_path_cycles, active);
}

/// Cycles of a launch and their standard deviation.
struct End {
  double cycles = 0;
  double deviation = 0;
};

/// For so many waves of like CTAs the older of two that share an SM ends first on all of them, so that the
/// last CTAs find an SM each. A schedule by chance puts some of them together, which takes FlashAttention-2
/// (d 128, 2.4 waves) 18 % too long. Later SMs are out of step.
constexpr std::uint64_t kWavesInStep = 3;

/// When the launch ends: that of the schedule of all its CTAs, or, where all SMs were simulated, all CTAs run
/// at once, like CTAs are in step or one more or less at the end does not matter, `continued_end`, when those
/// SMs ended that were simulated.
End end_of_launch(const hw::HwConfig& config, const trace::Launch& launch, const Sample& sample,
                  const std::vector<std::uint64_t>& class_work, sim::Cycles continued_end) {
  const std::uint64_t ctas = trace::cta_count(launch);
  const bool whole =
      std::ranges::all_of(sample.groups, [](const gpu::SmGroup& group) { return group.sms == 1; });
  const auto continued = static_cast<double>(continued_end);
  if (whole) {
    return {continued, sample.skipped ? continued * kMethodDeviation : 0};
  }
  // The mean speed of all SMs is known as far as that of a few tells.
  const double pace_deviation =
      std::hypot(kMethodDeviation, sample.pace.spread_of_speeds() / std::sqrt(sample.groups.size()));
  const auto slots = static_cast<std::uint64_t>(config.gpu.sm_count * sample.pace.slots());
  const bool in_step = sample.alike && ctas > slots && ctas <= kWavesInStep * slots;
  if (ctas > kScheduledCtas || sample.at_once || in_step) {
    return {continued, continued * pace_deviation};
  }
  std::vector<std::uint64_t> work;
  for (std::uint64_t cta = 0; cta < ctas; ++cta) {
    const auto [x, y, z] = trace::block_of(launch, cta);
    work.push_back(class_work[trace::class_of(launch, x, y, z)]);
  }
  const std::size_t wave = sample.groups.size() * static_cast<std::size_t>(sample.pace.slots());
  const Makespans ends =
      makespans(sample.pace, work, config.gpu.sm_count, sample.pace.overhead_cycles(sample.simulated_ctas),
                sample.scatter.shares(wave));
  return {ends.mean, std::hypot(ends.deviation, ends.mean * pace_deviation)};
}

}  // namespace

void extrapolate(gpu::LaunchCounts& counts, const hw::HwConfig& config, const trace::Trace& trace,
                 const trace::Launch& launch, const Sample& sample) {
  const std::vector<std::uint64_t> class_work = trace::instructions_per_cta(launch);
  const double work = whole_over_sample(class_work, trace::ctas_per_class(launch), sample.ctas_of_class);
  scale(counts.counters.shared_load_wavefronts, work);
  scale(counts.counters.shared_store_wavefronts, work);
  if (sample.skipped) {
    add_skipped_waves(counts, config, *sample.skipped);
  } else {
    std::ranges::for_each(counts.counters.pipe_busy_cycles,
                          [&](std::int64_t& cycles) { scale(cycles, work); });
    scale(counts.counters.data_path_cycles, work);
    scale(counts.sm_active_cycles, work);
    std::ranges::for_each(counts.counters.stall_warp_cycles,
                          [&](std::uint64_t& cycles) { scale(cycles, work); });
  }
  keep_within_active(counts, config.sm.sub_cores);
  const End end = end_of_launch(config, launch, sample, class_work, counts.cycles);
  gpu::require_time(launch, end.cycles);
  counts.cycles = std::llround(end.cycles);
  counts.cycles_deviation = end.deviation;

  std::uint64_t& selected =
      counts.counters.stall_warp_cycles[static_cast<std::size_t>(metrics::Stall::selected)];
  selected = 0;
  for (const auto& [opcode, count] : trace::executed_instructions(launch)) {
    selected += count;
    counts.issued_by_opcode[static_cast<std::size_t>(opcode)] = count;
  }
  // Bytes asked for follow from the trace; how many of them move for each, from what was counted. A CTA that
  // stands for longer or shorter ones does not make all their accesses, so then only its own say that.
  const auto [least, most] = std::ranges::minmax(class_work);
  const bool all_counted = least == most;
  const auto moved = [](std::uint64_t requested, std::uint64_t asked, std::uint64_t bytes) {
    return asked == 0 ? 0
                      : static_cast<std::uint64_t>(
                            std::llround(static_cast<double>(requested) *
                                         (static_cast<double>(bytes) / static_cast<double>(asked))));
  };
  const std::vector<trace::RequestedBytes> requested = trace::requested_bytes(trace, launch);
  for (std::size_t t = 0; t < counts.tensors.size(); ++t) {
    metrics::MovedBytes& traffic = counts.tensors[t];
    const Demand& demand = sample.demand[t];
    traffic.l2_read =
        moved(requested[t].read, demand.read_asked, all_counted ? traffic.l2_read : demand.read_moved);
    traffic.l2_write =
        moved(requested[t].written, demand.write_asked, all_counted ? traffic.l2_write : demand.write_moved);
    traffic.l2_read_hit = traffic.l2_read - std::min(traffic.l2_read, traffic.hbm_read);
  }
}

}  // namespace warpscope::fast
