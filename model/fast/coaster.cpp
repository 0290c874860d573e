#include "model/fast/coaster.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/fast/loop_footprint.hpp"
#include "model/fast/progress.hpp"

namespace warpscope::fast {
namespace {

/// Iterations that are executed before anything is measured, and at the end.
constexpr std::uint32_t kEdgeIterations = 2;
/// Iterations in each part of what is measured: two say too little of how CTAs meet (FlashAttention-1's
/// backward pass, 7.6 instead of 5 % off at worst).
constexpr std::uint32_t kPartIterations = 3;
/// A part takes at least so long: what is counted is known at the ends of windows only.
constexpr sim::Cycles kMeasuredCycles = 1024;
/// What has gone on evenly for so many iterations goes on so for this many times more, at most.
constexpr std::uint32_t kFarthest = 2;
/// Of CTAs in like loops, so many iterations tell how fast they are, and no more are measured (an eighth of
/// what FlashAttention-1 executes of the grid of 216 points).
constexpr std::uint32_t kKnownIterations = 64;

}  // namespace

void Coaster::begin(std::size_t slot) {
  start_anew();
  coasted_ = {};
  by_age_.push_back(slot);
}

void Coaster::end(std::size_t slot) {
  start_anew();
  std::erase(by_age_, slot);
}

bool Coaster::find_loops(const sm::SmCore& core) {
  const auto warps_per_cta = static_cast<int>(decoded_.warps_per_cta);
  found_.assign(static_cast<std::size_t>(core.warp_slots()), -1);
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    if (!core.cta(slot).occupied) {
      continue;
    }
    const int first = slot * warps_per_cta;
    const int loop = innermost_loop(decoded_, core.state().warps[static_cast<std::size_t>(first)].pc);
    if (loop < 0 || !decoded_.loops[static_cast<std::size_t>(loop)].innermost) {
      return false;
    }
    const sm::DecodedLoop& text = decoded_.loops[static_cast<std::size_t>(loop)];
    for (int warp = first; warp < first + warps_per_cta; ++warp) {
      const sm::WarpState& state = core.state().warps[static_cast<std::size_t>(warp)];
      if (state.status == sm::WarpStatus::empty || state.pc < text.begin || state.pc >= text.end) {
        return false;
      }
      found_[static_cast<std::size_t>(warp)] = loop;
    }
  }
  return true;
}

Coaster::Mark Coaster::mark(const sm::SmCore& core, const sm::SmCounters& counted, sim::Cycles origin,
                            sim::Cycles now) const {
  Mark result{now, {}, counted};
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    const sm::LoopHead& head = core.loop_head(slot);
    result.slots.push_back({head.count, origin + head.time});
  }
  return result;
}

std::uint32_t Coaster::fewest_since(const Mark& begin, const sm::SmCore& core) const {
  std::uint32_t fewest = ~std::uint32_t{0};
  for (const std::size_t slot : by_age_) {
    fewest = std::min(fewest, core.loop_head(static_cast<int>(slot)).count - begin.slots[slot].count);
  }
  return fewest;
}

bool Coaster::even(const Mark& a, const Mark& b, const Mark& c) const {
  double first = 0;
  double second = 0;
  for (const std::size_t slot : by_age_) {
    first += static_cast<double>(b.slots[slot].count - a.slots[slot].count) /
             static_cast<double>(std::max<sim::Cycles>(1, b.slots[slot].time - a.slots[slot].time));
    second += static_cast<double>(c.slots[slot].count - b.slots[slot].count) /
              static_cast<double>(std::max<sim::Cycles>(1, c.slots[slot].time - b.slots[slot].time));
  }
  return are_even(first, second);
}

const sm::DecodedLoop& Coaster::loop_of(std::size_t slot) const {
  return decoded_.loops[static_cast<std::size_t>(pass_.loops[slot * decoded_.warps_per_cta])];
}

std::optional<Coast> Coaster::consider(const sm::SmCore& core, const sm::SmCounters& counted,
                                       sim::Cycles origin, sim::Cycles now) {
  if (!find_loops(core)) {
    start_anew();
    return std::nullopt;
  }
  const std::size_t warps_per_cta = decoded_.warps_per_cta;
  std::vector<sm::LoopCounters> outer(static_cast<std::size_t>(core.cta_slots()));
  for (std::size_t slot = 0; slot < outer.size(); ++slot) {
    if (const int loop = found_[slot * warps_per_cta]; loop >= 0) {
      outer[slot] = core.loop_counters_of(static_cast<int>(slot * warps_per_cta));
      outer[slot].iteration[decoded_.loops[static_cast<std::size_t>(loop)].depth] = 0;
    }
  }
  Pass pass{found_, std::move(outer)};
  if (!(pass == pass_)) {
    pass_ = std::move(pass);
    marks_.assign(1, mark(core, counted, origin, now));
    fewest_ = 0;
    return std::nullopt;
  }
  // All marks lie where an iteration has just begun, so that whole iterations are between them.
  const std::uint32_t wanted = marks_.size() == 1 ? kEdgeIterations : kPartIterations;
  const std::uint32_t fewest = fewest_since(marks_.back(), core);
  const bool begins = fewest > std::exchange(fewest_, fewest);
  if (!begins || fewest < wanted || now - marks_.back().now < kMeasuredCycles) {
    return std::nullopt;
  }
  marks_.push_back(mark(core, counted, origin, now));
  fewest_ = 0;
  const auto of_others = pass_ == coasted_ ? known_.end() : known_.find(texts());
  // The first mark is where the loops were entered.
  if (of_others != known_.end()) {
    LoopPace& pace = of_others->second;
    if (marks_.size() == 3) {
      pace.add(measured(marks_[1], marks_[2]));
    }
    if (marks_.size() == 3 || pace.by_age.front().count >= kKnownIterations) {
      return coast(core, pace);
    }
  }
  if (marks_.size() < 4) {
    return std::nullopt;
  }
  marks_.erase(marks_.begin());
  if (!even(marks_[0], marks_[1], marks_[2])) {
    return std::nullopt;
  }
  const LoopPace pace = measured(marks_[0], marks_[2]);
  const auto [known, is_new] = known_.try_emplace(texts(), pace);
  if (!is_new) {
    known->second.add(pace);
  }
  return coast(core, known->second);
}

std::vector<std::uint32_t> Coaster::texts() const {
  std::vector<std::uint32_t> result;
  for (const std::size_t slot : by_age_) {
    result.push_back(loop_of(slot).text);
  }
  return result;
}

double LoopPace::cycles(std::size_t age) const {
  return static_cast<double>(by_age[age].time) / static_cast<double>(by_age[age].count);
}

void LoopPace::add(const LoopPace& more) {
  for (std::size_t age = 0; age < by_age.size(); ++age) {
    by_age[age].count += more.by_age[age].count;
    by_age[age].time += more.by_age[age].time;
  }
  counted.add(more.counted);
}

LoopPace Coaster::measured(const Mark& begin, const Mark& end) const {
  LoopPace pace;
  for (const std::size_t slot : by_age_) {
    pace.by_age.push_back(
        {end.slots[slot].count - begin.slots[slot].count, end.slots[slot].time - begin.slots[slot].time});
  }
  pace.counted = end.counted;
  pace.counted.subtract(begin.counted);
  return pace;
}

std::optional<Coast> Coaster::coast(const sm::SmCore& core, LoopPace& pace) {
  double room_cycles = 1e18;
  std::uint32_t fewest = ~std::uint32_t{0};
  for (std::size_t age = 0; age < by_age_.size(); ++age) {
    const std::size_t depth = loop_of(by_age_[age]).depth;
    const std::size_t first = by_age_[age] * decoded_.warps_per_cta;
    std::uint32_t room = ~std::uint32_t{0};
    for (std::size_t warp = first; warp < first + decoded_.warps_per_cta; ++warp) {
      const sm::LoopCounters& counters = core.loop_counters_of(static_cast<int>(warp));
      const std::uint32_t reserved = counters.iteration[depth] + 1 + kEdgeIterations;
      room = std::min({room, counters.trips[depth] > reserved ? counters.trips[depth] - reserved : 0,
                       kFarthest * (pace.iterations + counters.iteration[depth])});
      fewest = std::min(fewest, counters.iteration[depth]);
    }
    room_cycles = std::min(room_cycles, room * pace.cycles(age));
  }
  if (room_cycles < 1) {
    return std::nullopt;
  }
  pace.iterations += fewest;
  coasted_ = pass_;
  Coast coast;
  coast.cycles = std::llround(room_cycles);
  coast.loops = pass_.loops;
  coast.iterations.resize(pass_.loops.size() / decoded_.warps_per_cta);
  // So that as many instructions are counted as are left out.
  double left_out = 0;
  for (std::size_t age = 0; age < by_age_.size(); ++age) {
    const std::size_t slot = by_age_[age];
    const sm::DecodedLoop& loop = loop_of(slot);
    coast.iterations[slot] = static_cast<std::uint32_t>(std::llround(room_cycles / pace.cycles(age)));
    left_out +=
        static_cast<double>(coast.iterations[slot]) * (loop.end - loop.begin) * decoded_.warps_per_cta;
  }
  coast.repeats = left_out / static_cast<double>(pace.counted.issued());
  coast.measured = pace.counted;
  return coast;
}

}  // namespace warpscope::fast
