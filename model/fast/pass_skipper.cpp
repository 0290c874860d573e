#include "model/fast/pass_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "model/fast/loop_footprint.hpp"

namespace warpscope::fast {
namespace {

/// So many parts are compared with so many: what happens once in a pass is counted too roughly in single
/// ones.
constexpr std::size_t kAveraged = 2;

bool holds_others(const sm::DecodedLoop& loop) {
  return loop.depth == 0 && !loop.innermost;
}

bool is_within(const sm::DecodedLoop& inner, const sm::DecodedLoop& outer) {
  return inner.depth > outer.depth && inner.begin >= outer.begin && inner.end <= outer.end;
}

std::uint64_t hbm_read_bytes(const LaunchProgress& part) {
  return std::accumulate(part.hbm.begin(), part.hbm.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HbmBytes& bytes) { return sum + bytes.read_bytes; });
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
      applies_(std::ranges::any_of(decoded.loops, holds_others) &&
               !(decoded.is_asynchronous && has_unequal_passes(decoded))),
      ends_(kAveraged) {}

double PassSkipper::trips_of(const sm::DecodedLoop& loop, const sm::ResidentCta& cta,
                             std::uint32_t iteration) const {
  return std::max(0.0, static_cast<double>(cta.cta_class->trip_counts[loop.trip_slot]) +
                           static_cast<double>(loop.trips_per_iteration[0]) * iteration);
}

double PassSkipper::entries_of(const sm::DecodedLoop& loop, const sm::ResidentCta& cta,
                               std::uint32_t iteration) const {
  double entries = 1;
  for (const sm::DecodedLoop& around : decoded_.loops) {
    entries *= around.depth > 0 && is_within(loop, around) ? trips_of(around, cta, iteration) : 1;
  }
  return entries;
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
        const sm::ResidentCta& cta = *ctas_[number].resident;
        work +=
            (trips_of(loop, cta, iteration) - 1) * (loop.end - loop.begin) * entries_of(loop, cta, iteration);
      }
    }
  }
  return work;
}

double PassSkipper::left_out(std::size_t number, std::uint32_t iterations) const {
  const Cta& cta = ctas_[number];
  double work = 0;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    work += work_of_pass(number, cta.iteration + i);
  }
  // Of loops that are behind it in this iteration it has left out what they will be longer or shorter by.
  for (std::size_t warp = 0; warp < decoded_.warps_per_cta; ++warp) {
    const int outermost = outer_loops_[number * decoded_.warps_per_cta + warp];
    for (const sm::DecodedLoop& loop : decoded_.loops) {
      if (outermost >= 0 && loop.end <= cta.pc &&
          is_within(loop, decoded_.loops[static_cast<std::size_t>(outermost)])) {
        work += (trips_of(loop, *cta.resident, cta.iteration + iterations) -
                 trips_of(loop, *cta.resident, cta.iteration)) *
                (loop.end - loop.begin);
      }
    }
  }
  return work;
}

double PassSkipper::longest_pass(std::size_t number, std::uint32_t iteration) const {
  double work = 0;
  for (std::size_t warp = 0; warp < decoded_.warps_per_cta; ++warp) {
    const int outermost = outer_loops_[number * decoded_.warps_per_cta + warp];
    double longest = 0;
    for (const sm::DecodedLoop& loop : decoded_.loops) {
      if (outermost >= 0 && is_within(loop, decoded_.loops[static_cast<std::size_t>(outermost)])) {
        longest =
            std::max(longest, trips_of(loop, *ctas_[number].resident, iteration) * (loop.end - loop.begin));
      }
    }
    work += longest;
  }
  return work;
}

std::uint32_t PassSkipper::unequal_passes(const LaunchProgress& part, const std::vector<int>& members,
                                          std::uint32_t most) const {
  const double read_per_work = static_cast<double>(hbm_read_bytes(part)) / part.work;
  const auto exceeds = [&](std::uint32_t later) {
    double work = 0;
    for (std::size_t number = 0; number < ctas_.size(); ++number) {
      work += longest_pass(number, ctas_[number].iteration + later) * members[ctas_[number].sm];
    }
    return work * read_per_work >= static_cast<double>(l2_bytes_);
  };
  if (!exceeds(0)) {
    return most;
  }
  while (most > 0 && !exceeds(most)) {
    --most;
  }
  return most;
}

double PassSkipper::most_trips(const sm::DecodedLoop& outer, const Cta& cta) const {
  double most = 0;
  for (const sm::DecodedLoop& loop : decoded_.loops) {
    most = loop.innermost && is_within(loop, outer)
               ? std::max(most, trips_of(loop, *cta.resident, cta.iteration))
               : most;
  }
  return most;
}

bool PassSkipper::is_pass(const sm::DecodedLoop& loop, const sm::DecodedLoop& outer, const Cta& cta,
                          double most) const {
  return loop.innermost && is_within(loop, outer) && 2 * trips_of(loop, *cta.resident, cta.iteration) >= most;
}

std::uint32_t PassSkipper::passes_of(const sm::DecodedLoop& outer, const Cta& cta) const {
  const double most = most_trips(outer, cta);
  std::uint32_t passes = 0;  // of an iteration
  std::uint32_t behind = 0;
  for (const sm::DecodedLoop& loop : decoded_.loops) {
    const bool counts = is_pass(loop, outer, cta, most);
    passes += counts ? 1 : 0;
    behind += counts && loop.end <= cta.pc ? 1 : 0;
  }
  return cta.iteration * passes + behind;
}

bool PassSkipper::are_together(const sm::SmCore& core, int slot, const sm::DecodedLoop& outer,
                               const Cta& cta) const {
  const auto first = static_cast<std::size_t>(slot) * decoded_.warps_per_cta;
  const int inner = innermost_loop(decoded_, core.state().warps[first].pc);
  const sm::DecodedLoop& loop = decoded_.loops[static_cast<std::size_t>(inner)];
  if (!is_pass(loop, outer, cta, most_trips(outer, cta))) {
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
  std::uint32_t most = 0;
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
    most = std::max(most, counters.iteration[0]);
    cta.left = std::min(cta.left, counters.trips[0] - counters.iteration[0] - 1);
  }
  cta.pc = core.state().warps[first].pc;
  cta.pass = cta.iteration;
  if (!decoded_.is_asynchronous) {
    const sm::DecodedLoop& outer = decoded_.loops[static_cast<std::size_t>(outer_loops_.back())];
    if (!are_together(core, slot, outer, cta)) {
      return false;
    }
    cta.pass = passes_of(outer, cta);
  }
  if (most - cta.iteration > apart_) {
    // Warps that still draw apart, as one that fills a ring does, tell little of the time of all.
    apart_ = most - cta.iteration;
    start_anew();
  }
  ctas_.push_back(cta);
  return loop_ != found_ || cta.pass > last_;
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

bool PassSkipper::part_ends(const std::vector<std::unique_ptr<engine::SmUnit>>& sms, sim::Cycles now) {
  if ((loop_ >= 0 && !ends_.may_end(now)) || !find_ctas(sms)) {
    return false;  // between two loops or two passes, or in the same as at the last mark
  }
  const std::uint32_t last = std::ranges::min(ctas_, {}, &Cta::pass).pass;
  if (loop_ != found_) {
    loop_ = found_;
    ends_.clear();
  }
  last_ = last;
  return true;
}

std::optional<SkippedPasses> PassSkipper::observe(LaunchProgress progress, const std::vector<int>& members) {
  std::uint32_t left = ~std::uint32_t{0};
  for (const Cta& cta : ctas_) {
    left = std::min(left, cta.left);
  }
  ends_.add(std::move(progress));
  // One more is executed at the end.
  std::uint32_t passes = left > 1 ? left - 1 : 0;
  // How often the parts fit is added up only where their pace is steady.
  if (passes == 0 || !ends_.complete() || !ends_.is_steady(0, l2_bytes_) || !ends_.moves_as_much()) {
    return std::nullopt;
  }
  SkippedPasses skipped;
  skipped.part = ends_.all();
  if (has_unequal_passes(decoded_)) {
    passes = unequal_passes(skipped.part, members, passes);
  }
  if (passes == 0) {
    return std::nullopt;
  }
  skipped.passes = passes;
  double work = 0;
  for (std::size_t number = 0; number < ctas_.size(); ++number) {
    const Cta& cta = ctas_[number];
    skipped.instructions.resize(std::max(skipped.instructions.size(), cta.sm + 1), 0);
    const double of_cta = left_out(number, passes);
    skipped.instructions[cta.sm] += of_cta;
    work += of_cta * members[cta.sm];
  }
  skipped.repeats = work / skipped.part.work;
  if (!ends_.is_steady(skipped.repeats, l2_bytes_)) {
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
    const sm::DecodedLoop& loop = decoded_.loops[static_cast<std::size_t>(inner)];
    const std::int64_t longer = std::int64_t{loop.trips_per_iteration[0]} * skipped.passes;
    const auto iteration_of = [&](const sm::LoopCounters& counters) {
      return counters.iteration[loop.depth];
    };
    const auto [least, most] = std::ranges::minmax(warps, {}, iteration_of);
    // Where the pass is shorter by now, no warp is beyond its end, and all keep their distances: barriers
    // bind them together.
    const std::int64_t trips = std::max(std::int64_t{warps[0].trips[loop.depth]} + longer,
                                        std::int64_t{iteration_of(most)} - iteration_of(least) + 1);
    const auto back = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(iteration_of(most) - trips + 1, 0, iteration_of(least)));
    for (sm::LoopCounters& counters : warps) {
      counters.iteration[loop.depth] -= back;
      counters.trips[loop.depth] = static_cast<std::uint32_t>(trips);
    }
  }
}

}  // namespace warpscope::fast
