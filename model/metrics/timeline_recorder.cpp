#include "model/metrics/timeline_recorder.hpp"

#include <algorithm>

namespace warpscope::metrics {
namespace {

/// Bytes are summed over so many cycles each, more where a launch would have more than so many sums.
constexpr std::int64_t kFirstBinCycles = 512;
constexpr std::size_t kMostBins = 4096;

MovedBytes sum(const MovedBytes& a, const MovedBytes& b) {
  return {a.l2_read + b.l2_read, a.l2_read_hit + b.l2_read_hit, a.l2_write + b.l2_write,
          a.hbm_read + b.hbm_read, a.hbm_write + b.hbm_write};
}

/// What has moved in the first `part` of `whole` cycles, at a steady rate.
MovedBytes share(const MovedBytes& bytes, std::int64_t part, std::int64_t whole) {
  const auto of = [&](std::uint64_t count) {
    return count * static_cast<std::uint64_t>(part) / static_cast<std::uint64_t>(whole);
  };
  return {of(bytes.l2_read), of(bytes.l2_read_hit), of(bytes.l2_write), of(bytes.hbm_read),
          of(bytes.hbm_write)};
}

}  // namespace

TimelineRecorder::TimelineRecorder(const TimelineRequest& request)
    : request_(request), sm_timeline_(data_, request.most_spans) {
  data_.cta_window = request.cta_window;
  data_.sm_window = request.sm_window;
  data_.sm = request.sm;
}

void TimelineRecorder::launch_begins(const LaunchBegin& launch) {
  TimelineLaunch record;
  record.name = launch.launch->name;
  record.grid = launch.launch->grid;
  record.sm_clock_mhz = launch.sm_clock_mhz;
  record.sub_cores = launch.sub_cores;
  record.cta_slots = launch.cta_slots;
  record.warps_per_cta = static_cast<int>(trace::warps_per_cta(*launch.launch));
  if (!data_.launches.empty()) {
    const TimelineLaunch& before = data_.launches.back();
    record.span = {before.span.end, before.span.end};
    record.begin_us =
        before.begin_us + static_cast<double>(before.span.cycles()) / before.sm_clock_mhz + launch.gap_us;
  }
  for (const trace::Tensor& tensor : launch.trace->tensors) {
    record.tensors.push_back(tensor.name);
  }
  data_.launches.push_back(std::move(record));
  sm_timeline_.launch_begins(launch, origin());
  bins_.clear();
  bin_cycles_ = kFirstBinCycles;
}

void TimelineRecorder::launch_ends(std::int64_t cycles) {
  sm_timeline_.launch_ends();
  data_.launches.back().span.end += cycles;
  // What is still on its way then arrives for nobody: it belongs to the end of the launch.
  const auto bins = static_cast<std::size_t>((cycles + bin_cycles_ - 1) / bin_cycles_);
  while (bins_.size() > std::max<std::size_t>(1, bins)) {
    const MovedBytes behind = bins_.back();
    bins_.pop_back();
    bins_.back() = sum(bins_.back(), behind);
  }
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const std::int64_t begin = origin() + static_cast<std::int64_t>(i) * bin_cycles_;
    const CycleSpan span{begin, begin + bin_cycles_};
    if (span.overlaps(data_.cta_window)) {
      data_.moved.push_back({span.within(data_.launches.back().span), bins_[i]});
    }
  }
}

void TimelineRecorder::cta_begins(const CtaBegin& cta) {
  if (data_.sm < 0) {
    data_.sm = cta.sm;
  }
  if (cta.sm == data_.sm) {
    sm_timeline_.cta_begins(cta.slot);
  }
  TimelineCta& record = resident_[{cta.sm, cta.slot}];
  record.span = {origin() + cta.cycle, origin() + cta.cycle};
  record.launch = static_cast<std::uint32_t>(data_.launches.size() - 1);
  record.sm = cta.sm;
  record.slot = cta.slot;
  record.number = cta.number;
  record.block = cta.block;
  record.cta_class = cta.cta_class;
}

void TimelineRecorder::cta_ends(int sm, int slot, std::int64_t cycle) {
  TimelineCta& cta = resident_[{sm, slot}];
  cta.span.end = origin() + cycle;
  if (!cta.span.overlaps(data_.cta_window)) {
    return;
  }
  if (data_.ctas.size() < request_.most_spans) {
    data_.ctas.push_back(cta);
  } else {
    data_.ctas_stopped = true;
    data_.cta_window.end = std::min(data_.cta_window.end, cta.span.begin);
  }
}

bool TimelineRecorder::watches(int sm, std::int64_t cycle) {
  // From the start, so that copies and barriers under way when the window begins are known.
  return sm == data_.sm && origin() + cycle < data_.sm_window.end;
}

void TimelineRecorder::slice(int /*sm*/, std::int64_t start, std::int64_t /*end*/,
                             std::span<const SmEvent> events) {
  sm_timeline_.slice(start, events);
}

void TimelineRecorder::halve_bins() {
  for (std::size_t i = 0; i < kMostBins / 2; ++i) {
    bins_[i] = sum(bins_[2 * i], bins_[2 * i + 1]);
  }
  bins_.resize(kMostBins / 2);
  bin_cycles_ *= 2;
}

void TimelineRecorder::moved(std::int64_t start, std::int64_t end, const MovedBytes& bytes) {
  while (static_cast<std::size_t>((end - 1) / bin_cycles_) >= kMostBins) {
    bins_.resize(kMostBins);
    halve_bins();
  }
  MovedBytes before;
  for (std::int64_t cycle = start; cycle < end;) {
    const std::int64_t bin = cycle / bin_cycles_;
    cycle = std::min(end, (bin + 1) * bin_cycles_);
    const MovedBytes so_far = share(bytes, cycle - start, end - start);
    bins_.resize(std::max(bins_.size(), static_cast<std::size_t>(bin) + 1));
    bins_[static_cast<std::size_t>(bin)] = sum(bins_[static_cast<std::size_t>(bin)], so_far - before);
    before = so_far;
  }
}

}  // namespace warpscope::metrics
