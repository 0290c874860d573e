#include "model/fast/pass_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/fast/loop_footprint.hpp"

namespace warpscope::fast {
namespace {

/// Two means of so many parts are compared. Where every SM is simulated, fewer will do that take so long
/// together; samples scatter more.
constexpr std::size_t kAveraged = 4;
constexpr sim::Cycles kAveragedCycles = 16384;
/// Passes at the end that are executed, or one where every SM is simulated.
constexpr std::uint32_t kLastPasses = 2;
/// Where passes become shorter, no more than this part of what is left is left out at once.
constexpr std::uint32_t kPartOfUnequal = 2;

bool holds_others(const sm::DecodedLoop& loop) {
  return loop.depth == 0 && !loop.innermost;
}

bool is_within(const sm::DecodedLoop& inner, const sm::DecodedLoop& outer) {
  return inner.depth == outer.depth + 1 && inner.begin >= outer.begin && inner.end <= outer.end;
}

bool has_unequal_passes(const sm::DecodedLaunch& decoded) {
  return std::ranges::any_of(decoded.loops,
                             [](const sm::DecodedLoop& loop) { return loop.trips_per_iteration[0] != 0; });
}

}  // namespace

PassSkipper::PassSkipper(const sm::DecodedLaunch& decoded, sim::Cycles window_cycles, std::int64_t l2_bytes)
    : decoded_(decoded),
      window_cycles_(window_cycles),
      l2_bytes_(l2_bytes),
      applies_(std::ranges::any_of(decoded.loops, holds_others)) {}

double PassSkipper::trips_of(const sm::DecodedLoop& loop, const sm::ResidentCta& cta,
                             std::uint32_t iteration) const {
  return std::max(0.0, static_cast<double>(cta.cta_class->trip_counts[loop.trip_slot]) +
                           static_cast<double>(loop.trips_per_iteration[0]) * iteration);
}

double PassSkipper::work_of_pass(std::size_t number, std::uint32_t iteration) const {
  double work = 0;
  for (std::size_t warp = 0; warp < decoded_.warps_per_cta; ++warp) {
    const int outermost = outer_loops_[number * decoded_.warps_per_cta + warp];
    if (outermost < 0) {
      continue;
    }
    const sm::DecodedLoop& outer = decoded_.loops[static_cast<std::size_t>(outermost)];
    work += outer.end - outer.begin;
    for (const sm::DecodedLoop& loop : decoded_.loops) {
      if (is_within(loop, outer)) {
        work += (trips_of(loop, *ctas_[number].resident, iteration) - 1) * (loop.end - loop.begin);
      }
    }
  }
  return work;
}

bool PassSkipper::are_together(const sm::SmCore& core, int slot, int outer) const {
  const auto first = static_cast<std::size_t>(slot) * decoded_.warps_per_cta;
  const int inner = innermost_loop(decoded_, core.state().warps[first].pc);
  const sm::DecodedLoop& loop = decoded_.loops[static_cast<std::size_t>(inner)];
  if (!is_within(loop, decoded_.loops[static_cast<std::size_t>(outer)])) {
    return false;
  }
  const std::uint32_t iteration = core.loop_counters_of(static_cast<int>(first)).iteration[0];
  for (std::size_t warp = first; warp < first + decoded_.warps_per_cta; ++warp) {
    const std::uint32_t pc = core.state().warps[warp].pc;
    if (pc < loop.begin || pc >= loop.end ||
        core.loop_counters_of(static_cast<int>(warp)).iteration[0] != iteration) {
      return false;
    }
  }
  return true;
}

bool PassSkipper::add_cta(const sm::SmCore& core, int slot, std::size_t sm) {
  Cta cta{.sm = sm, .resident = &core.cta(slot)};
  const auto first = static_cast<std::size_t>(slot) * decoded_.warps_per_cta;
  for (std::size_t warp = first; warp < first + decoded_.warps_per_cta; ++warp) {
    const sm::WarpState& state = core.state().warps[warp];
    outer_loops_.push_back(-1);
    if (state.status == sm::WarpStatus::empty) {
      if (!decoded_.is_asynchronous) {
        return false;  // others are about to end too
      }
      continue;
    }
    const auto outer = std::ranges::find_if(decoded_.loops, [&](const sm::DecodedLoop& loop) {
      return holds_others(loop) && loop.begin <= state.pc && state.pc < loop.end;
    });
    if (outer == decoded_.loops.end()) {
      return false;
    }
    outer_loops_.back() = static_cast<int>(outer - decoded_.loops.begin());
    const int name = decoded_.is_asynchronous ? outer->trip_slot : outer_loops_.back();
    if (found_ >= 0 && found_ != name) {
      return false;
    }
    found_ = name;
    const sm::LoopCounters& counters = core.loop_counters_of(static_cast<int>(warp));
    cta.iteration = std::min(cta.iteration, counters.iteration[0]);
    cta.left = std::min(cta.left, counters.trips[0] - counters.iteration[0] - 1);
  }
  if (!decoded_.is_asynchronous && !are_together(core, slot, outer_loops_.back())) {
    return false;
  }
  ctas_.push_back(cta);
  return loop_ != found_ || cta.iteration > last_;
}

bool PassSkipper::find_ctas(const std::vector<std::unique_ptr<engine::SmUnit>>& sms) {
  ctas_.clear();
  outer_loops_.clear();
  found_ = -1;
  for (std::size_t sm = 0; sm < sms.size(); ++sm) {
    const sm::SmCore& core = sms[sm]->core();
    for (int slot = 0; slot < core.cta_slots(); ++slot) {
      if (core.cta(slot).occupied && !add_cta(core, slot, sm)) {
        return false;
      }
    }
  }
  return !ctas_.empty();
}

bool PassSkipper::part_ends(const std::vector<std::unique_ptr<engine::SmUnit>>& sms) {
  if (!find_ctas(sms)) {
    return false;  // between two loops or two passes, or in the same as at the last mark
  }
  const std::uint32_t last = std::ranges::min(ctas_, {}, &Cta::iteration).iteration;
  if (loop_ != found_) {
    loop_ = found_;
    ends_.clear();
    counted_.clear();
  }
  last_ = last;
  return true;
}

std::optional<SkippedPasses> PassSkipper::observe(LaunchProgress progress, const sm::SmCounters& counted,
                                                  const std::vector<int>& members) {
  std::uint32_t left = ~std::uint32_t{0};
  for (const Cta& cta : ctas_) {
    left = std::min(left, cta.left);
  }
  ends_.push_back(std::move(progress));
  counted_.push_back(counted);
  const bool unequal = has_unequal_passes(decoded_);
  const bool sampled = std::ranges::any_of(members, [](int sms) { return sms > 1; });
  const std::uint32_t last = sampled ? kLastPasses : 1;
  std::uint32_t passes = left > last ? left - last : 0;
  passes = unequal ? passes / kPartOfUnequal : passes;
  std::size_t averaged = sampled ? kAveraged : 1;
  while (averaged < kAveraged && averaged < ends_.size() &&
         ends_.back().time - ends_[ends_.size() - 1 - averaged].time < kAveragedCycles) {
    averaged *= 2;
  }
  if (passes == 0 || !is_steady(ends_, averaged, passes, l2_bytes_)) {
    return std::nullopt;
  }
  SkippedPasses skipped;
  skipped.loop = loop_;
  skipped.passes = passes;
  const std::size_t begin = ends_.size() - 1 - 2 * averaged;
  skipped.part = between(ends_[begin], ends_.back());
  skipped.counted = counted_.back();
  skipped.counted.subtract(counted_[begin]);
  double work = 0;
  for (std::size_t number = 0; number < ctas_.size(); ++number) {
    const Cta& cta = ctas_[number];
    skipped.instructions.resize(std::max(skipped.instructions.size(), cta.sm + 1), 0);
    for (std::uint32_t i = 1; i <= passes; ++i) {
      const double of_pass = work_of_pass(number, cta.iteration + i);
      skipped.instructions[cta.sm] += of_pass;
      work += of_pass * members[cta.sm];
    }
  }
  skipped.repeats = work / skipped.part.work;
  if (skipped.repeats < kFewestRepeats) {
    return std::nullopt;
  }
  const double windows =
      static_cast<double>(skipped.part.time) * skipped.repeats / static_cast<double>(window_cycles_);
  skipped.cycles = std::llround(windows) * window_cycles_;
  start_anew();
  return skipped;
}

void PassSkipper::advance(sm::SmCore& core, const SkippedPasses& skipped) const {
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    if (!core.cta(slot).occupied) {
      continue;
    }
    const auto first = static_cast<std::size_t>(slot) * decoded_.warps_per_cta;
    const std::span<sm::LoopCounters> warps(&core.loop_counters()[first], decoded_.warps_per_cta);
    std::ranges::for_each(warps,
                          [&](sm::LoopCounters& counters) { counters.iteration[0] += skipped.passes; });
    if (!has_unequal_passes(decoded_)) {
      continue;
    }
    const int inner = innermost_loop(decoded_, core.state().warps[first].pc);
    const std::int64_t longer =
        std::int64_t{decoded_.loops[static_cast<std::size_t>(inner)].trips_per_iteration[0]} * skipped.passes;
    const auto iteration_of = [](const sm::LoopCounters& counters) { return counters.iteration[1]; };
    const auto [least, most] = std::ranges::minmax(warps, {}, iteration_of);
    // Where the pass is shorter by now, no warp is beyond its end, and all keep their distances.
    const std::int64_t trips = std::max<std::int64_t>(1, std::int64_t{warps[0].trips[1]} + longer);
    const auto back = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(iteration_of(most) - trips + 1, 0, iteration_of(least)));
    for (sm::LoopCounters& counters : warps) {
      counters.iteration[1] -= back;
      counters.trips[1] =
          static_cast<std::uint32_t>(std::max<std::int64_t>(trips, counters.iteration[1] + 1));
    }
  }
}

}  // namespace warpscope::fast
