// Waves repeat: once a launch of many like CTAs runs steadily, whole waves can be left out and accounted for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/fast/progress.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::fast {

/// Windows that were left out, and the mean of those before them.
struct SkippedWaves {
  LaunchProgress part;     ///< what stands for them, from its beginning to its end
  double repeats = 0;      ///< work that was left out over the work of that part
  std::uint64_t ctas = 0;  ///< in all of them
};

/// After how many CTAs of the launch what the L2 brings repeats. One of the segments that share lines brings
/// the others' bytes too, which those find there (trace::Tensor::line_segments); likewise, of CTAs of unequal
/// length that read the same keys, the longer ones bring what is theirs alone. 1: neither is so.
std::uint64_t l2_period(const trace::Trace& trace, const trace::Launch& launch);

/// Watches a launch in windows of whole periods, a wave of CTAs at least, which end as their last CTA starts.
/// When the last one took as long for its work as the one before, within a tolerance, all that follow but the
/// last may be skipped. The error is that tolerance; tests hold it against detailed runs. Nothing is skipped
/// while the L2 fills up, as it writes nothing back before it is full.
class WaveSkipper {
 public:
  /// `slots` CTAs run at a time on the whole chip, and what they find in the L2 repeats after `period`.
  /// `launch` must outlive this.
  WaveSkipper(const trace::Launch& launch, std::uint64_t slots,
              std::int64_t l2_bytes = std::numeric_limits<std::int64_t>::max(), std::uint64_t period = 1);

  bool may_skip() const { return may_skip_; }
  /// True if the last CTA of a window is among those `dispatched` since the last call, and its progress is
  /// wanted.
  bool window_ends(std::uint64_t dispatched) {
    const bool ends = may_skip_ && dispatched / window_ > windows_dispatched_;
    windows_dispatched_ = dispatched / window_;
    return ends;
  }
  /// Takes the progress at the end of a window, its work in instructions; returns what may be skipped now.
  std::optional<SkippedWaves> observe(LaunchProgress progress, std::uint64_t dispatched);

 private:
  /// Instructions of `count` CTAs from `first` on, in order of dispatch.
  double work(std::uint64_t first, std::uint64_t count);
  /// Likewise of CTAs [begin, end) of a row of the grid, whose y and z add up to class `base_class`.
  double work_of_row(std::uint32_t base_class, std::uint64_t begin, std::uint64_t end);

  const trace::Launch& launch_;
  std::vector<std::uint64_t> class_work_;
  std::vector<double> work_of_rows_;  ///< of whole rows, by base class; 0: not known
  std::int64_t l2_capacity_;
  bool one_class_;
  std::uint64_t ctas_;
  std::uint64_t window_;
  bool may_skip_;
  std::uint64_t windows_dispatched_;  ///< at first those of the CTAs that the chip holds at once
  LastParts ends_{1};
};

}  // namespace warpscope::fast
