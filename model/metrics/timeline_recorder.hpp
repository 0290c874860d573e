// Records a timeline while a simulation runs.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/metrics/sm_timeline.hpp"
#include "model/metrics/timeline_data.hpp"

namespace warpscope::metrics {

struct TimelineRequest {
  int sm = -1;                       ///< whose warps to record; -1: the first that gets a CTA
  CycleSpan cta_window = kAlways;    ///< of which cycles to record CTAs and bytes
  CycleSpan sm_window = kAlways;     ///< of which to record what the SM does
  std::size_t most_spans = 1000000;  ///< of CTAs, and of what the SM does
};

/// To be handed to one simulation.
class TimelineRecorder : public Observer {
 public:
  explicit TimelineRecorder(const TimelineRequest& request);

  /// What has been recorded; afterwards there is nothing left.
  TimelineData take() { return std::exchange(data_, {}); }

  void launch_begins(const LaunchBegin& launch) override;
  void launch_ends(std::int64_t cycles) override;
  void cta_begins(const CtaBegin& cta) override;
  void cta_ends(int sm, int slot, std::int64_t cycle) override;
  bool watches(int sm, std::int64_t cycle) override;
  void slice(int sm, std::int64_t start, std::int64_t end, std::span<const SmEvent> events) override;
  void moved(std::int64_t start, std::int64_t end, const MovedBytes& bytes) override;

 private:
  std::int64_t origin() const { return data_.launches.back().span.begin; }
  void halve_bins();

  TimelineRequest request_;
  TimelineData data_;
  SmTimeline sm_timeline_;
  std::map<std::pair<int, int>, TimelineCta> resident_;  ///< by SM and slot
  std::vector<MovedBytes> bins_;                         ///< of this launch
  std::int64_t bin_cycles_ = 0;
};

}  // namespace warpscope::metrics
