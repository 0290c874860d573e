#include "model/fast/wave_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/fast/group_policy.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

/// Two windows are compared, one is left out at least, and the last is executed, so that the tail of the
/// launch is real.
constexpr std::uint64_t kFewestWindows = 4;

bool has_one_class(const trace::Launch& launch) {
  return std::ranges::all_of(launch.class_of_block, [](const std::vector<std::uint32_t>& classes) {
    return std::ranges::adjacent_find(classes, std::not_equal_to<>{}) == classes.end();
  });
}

}  // namespace

std::uint64_t l2_period(const trace::Trace& trace, const trace::Launch& launch) {
  const bool alike = has_like_ctas(launch);
  std::uint64_t period = 1;
  for (const trace::WarpProgram& program : launch.programs) {
    for (const trace::MemoryOperand& operand : program.memory_operands) {
      if (operand.tensor == trace::kSharedMemory ||
          trace.tensors[operand.tensor].kind == trace::TensorKind::local) {
        continue;
      }
      // Longer CTAs read further, and what they bring others find.
      if (!alike && operand.segment.per_block[0] == 0 && operand.offset.per_block[0] == 0) {
        period = std::max<std::uint64_t>(period, launch.grid[0]);
      }
      const auto sharing = static_cast<std::uint64_t>(trace.tensors[operand.tensor].line_segments);
      std::uint64_t ctas = 1;  // to the next CTA in this direction of the grid
      for (std::size_t k = 0; sharing > 1 && k < launch.grid.size(); ctas *= launch.grid[k], ++k) {
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
      window_((slots + period - 1) / period * period),
      may_skip_(ctas_ >= window_ * kFewestWindows),
      windows_dispatched_(slots / window_) {}

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
    return static_cast<double>(count) * static_cast<double>(class_work_[trace::class_of(launch_, 0, 0, 0)]);
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
  if (!ends_.may_end(progress.time)) {
    return std::nullopt;
  }
  ends_.add(std::move(progress));
  const std::uint64_t windows_left = (ctas_ - dispatched) / window_;
  if (windows_left <= 1) {
    may_skip_ = false;
    return std::nullopt;
  }
  if (!ends_.complete()) {
    return std::nullopt;
  }
  SkippedWaves skipped;
  // Whoever comes next begins a period: what it shares with others nobody has brought that is left out.
  skipped.ctas = (windows_left - 1) * window_ - dispatched % window_;
  skipped.part = ends_.all();
  skipped.repeats = work(dispatched, skipped.ctas) / skipped.part.work;
  if (!ends_.is_steady(skipped.repeats, l2_capacity_)) {
    return std::nullopt;
  }
  may_skip_ = false;
  return skipped;
}

}  // namespace warpscope::fast
