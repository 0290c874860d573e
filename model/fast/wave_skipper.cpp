#include "model/fast/wave_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

/// Two means of so many windows are compared: more where there are more, as ends of windows jitter, fewer
/// where each is so long that queues settle in it.
constexpr std::uint64_t kWindowsAveraged = 2;
constexpr std::uint64_t kMostAveraged = 8;
/// Windows that are always executed at the end, so that the tail of the launch is real.
constexpr std::uint64_t kTailWindows = 1;

/// Nothing is left out before this: waits at full queues settle over the first tens of thousands of cycles.
constexpr sim::Cycles kLoadSettledCycles = 49152;

/// Pieces that a launch with several classes of CTAs is skipped in.
constexpr std::uint64_t kPieces = 2;

bool has_one_class(const trace::Launch& launch) {
  return std::ranges::all_of(launch.class_of_block, [](const std::vector<std::uint32_t>& classes) {
    return std::ranges::adjacent_find(classes, std::not_equal_to<>{}) == classes.end();
  });
}

}  // namespace

std::uint64_t line_period(const trace::Trace& trace, const trace::Launch& launch) {
  std::uint64_t period = 1;
  for (const trace::WarpProgram& program : launch.programs) {
    for (const trace::MemoryOperand& operand : program.memory_operands) {
      if (operand.tensor == trace::kSharedMemory || trace.tensors[operand.tensor].line_segments == 1) {
        continue;
      }
      const auto sharing = static_cast<std::uint64_t>(trace.tensors[operand.tensor].line_segments);
      std::uint64_t ctas = 1;  // to the next CTA in this direction of the grid
      for (std::size_t k = 0; k < launch.grid.size(); ctas *= launch.grid[k], ++k) {
        if (operand.segment.per_block[k] == 1) {
          const auto divisor = static_cast<std::uint64_t>(operand.segment.block_divisor[k]);
          period = std::max(period, sharing * divisor * ctas);
        }
      }
    }
  }
  return period;
}

WaveSkipper::WaveSkipper(const trace::Launch& launch, std::uint64_t slots, std::int64_t l2_bytes,
                         std::uint64_t period)
    : launch_(launch),
      class_work_(trace::instructions_per_cta(launch)),
      work_of_rows_(class_work_.size()),
      l2_capacity_(l2_bytes),
      one_class_(has_one_class(launch)),
      ctas_(trace::cta_count(launch)),
      window_(slots),
      pieces_left_(one_class_ ? 1 : kPieces) {
  const std::uint64_t fewest_windows = pieces_left_ * 2 + kTailWindows + 1;
  // Where that leaves too few windows, waves have to do.
  const std::uint64_t whole_periods = (slots + period - 1) / period * period;
  if (ctas_ >= whole_periods * fewest_windows) {
    window_ = whole_periods;
  }
  if (ctas_ < window_ * fewest_windows) {
    pieces_left_ = 0;
  }
}

double WaveSkipper::work_of_row(std::uint32_t base_class, std::uint64_t begin, std::uint64_t end) {
  const std::vector<std::uint32_t>& table = launch_.class_of_block[0];
  if (table.empty()) {
    return static_cast<double>(class_work_[base_class]) * static_cast<double>(end - begin);
  }
  const bool whole = end - begin == table.size();
  double& known = work_of_rows_[base_class];
  if (whole && known > 0) {
    return known;
  }
  double sum = 0;
  for (std::uint64_t x = begin; x < end; ++x) {
    sum += static_cast<double>(class_work_[base_class + table[x]]);
  }
  known = whole ? sum : known;
  return sum;
}

double WaveSkipper::work(std::uint64_t first, std::uint64_t count) {
  if (one_class_) {
    return static_cast<double>(count) * static_cast<double>(class_work_[0]);
  }
  const std::vector<std::uint32_t>& columns = launch_.class_of_block[0];
  double sum = 0;
  const std::uint64_t end = std::min(first + count, ctas_);
  while (first < end) {
    const auto [x, y, z] = trace::block_of(launch_, first);
    const std::uint64_t part = std::min<std::uint64_t>(end - first, launch_.grid[0] - x);
    const std::uint32_t of_column = columns.empty() ? 0 : columns[x];
    sum += work_of_row(trace::class_of(launch_, x, y, z) - of_column, x, x + part);
    first += part;
  }
  return sum;
}

std::optional<SkippedWaves> WaveSkipper::observe(LaunchProgress progress, std::uint64_t dispatched) {
  const sim::Cycles now = progress.time;
  ends_.push_back(std::move(progress));
  if (ends_.size() > 2 * kMostAveraged + 1) {
    ends_.erase(ends_.begin());
  }
  const std::uint64_t windows_left = (ctas_ - dispatched) / window_;
  if (windows_left <= kTailWindows) {
    pieces_left_ = 0;
    return std::nullopt;
  }
  if (now < kLoadSettledCycles) {
    return std::nullopt;
  }
  const bool long_windows = now >= kLoadSettledCycles * static_cast<sim::Cycles>(windows_ended_);
  const std::size_t fewest = long_windows ? 1 : kWindowsAveraged;
  std::size_t averaged = kMostAveraged;
  while (averaged >= fewest && !is_steady(ends_, averaged, windows_left, l2_capacity_)) {
    averaged /= 2;
  }
  if (averaged < fewest) {
    return std::nullopt;
  }
  SkippedWaves skipped;
  skipped.windows = (windows_left - kTailWindows) / pieces_left_;
  skipped.ctas = skipped.windows * window_;
  skipped.averaged = 2 * averaged;
  skipped.part = between(ends_[ends_.size() - 1 - skipped.averaged], ends_.back());
  skipped.repeats = work(dispatched, skipped.ctas) / skipped.part.work;
  if (skipped.repeats < kFewestRepeats) {
    return std::nullopt;
  }
  --pieces_left_;
  ends_.clear();
  return skipped;
}

}  // namespace warpscope::fast
