#include "model/sm/path_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/sm/loop_footprint.hpp"

namespace warpscope::sm {
namespace {

/// Paths of fewer passes are executed.
constexpr std::size_t kFewPasses = 8;
/// Shorter passes belong to the windows of others.
constexpr std::uint32_t kLongPass = 8;
/// Iterations at both ends of a pass in which nobody lands.
constexpr std::int64_t kFirstIterations = 2;
constexpr std::int64_t kLastIterations = 4;
/// Paths are left where so many iterations of a pass are left: what the passes behind still access is in the
/// L2 as it will be then.
constexpr std::uint32_t kLate = 8;
/// Windows that are remembered.
constexpr std::size_t kMostWindows = 16;
/// Windows that are executed at the end of a path.
constexpr double kLastWindows = 2;

std::uint32_t length(const DecodedLoop& loop) {
  return loop.end - loop.begin;
}

/// Whether the outer loops of a warp have come to this pass.
bool is_in(const LoopPass& pass, const LoopCounters& counters, std::size_t depth) {
  return std::equal(counters.iteration.begin(),
                    counters.iteration.begin() + static_cast<std::ptrdiff_t>(depth),
                    pass.counters.iteration.begin());
}

/// The pass of the path that a warp is in; null if it is in none.
const LoopPass* pass_of(const SmCore& core, const DecodedLaunch& decoded, const std::vector<LoopPass>& passes,
                        int warp) {
  const int loop = innermost_loop(decoded, core.state().warps[static_cast<std::size_t>(warp)].pc);
  if (loop < 0 || !decoded.loops[static_cast<std::size_t>(loop)].innermost) {
    return nullptr;
  }
  const std::size_t depth = decoded.loops[static_cast<std::size_t>(loop)].depth;
  const auto found = std::ranges::find_if(passes, [&](const LoopPass& pass) {
    return pass.loop == static_cast<std::uint32_t>(loop) && is_in(pass, core.loop_counters_of(warp), depth);
  });
  return found == passes.end() ? nullptr : &*found;
}

/// The pass that all warps of a CTA are in; null if there is none.
const LoopPass* common_pass(const SmCore& core, const DecodedLaunch& decoded,
                            const std::vector<LoopPass>& passes, std::size_t slot) {
  const int first = static_cast<int>(slot * decoded.warps_per_cta);
  const LoopPass* pass = pass_of(core, decoded, passes, first);
  if (pass == nullptr) {
    return nullptr;
  }
  const DecodedLoop& loop = decoded.loops[pass->loop];
  for (int warp = first + 1; warp < first + static_cast<int>(decoded.warps_per_cta); ++warp) {
    const std::uint32_t pc = core.state().warps[static_cast<std::size_t>(warp)].pc;
    if (pc < loop.begin || pc >= loop.end || !is_in(*pass, core.loop_counters_of(warp), loop.depth)) {
      return nullptr;
    }
  }
  return pass;
}

/// Instructions that a warp in this pass has executed.
double work_at(const SmCore& core, const DecodedLaunch& decoded, const LoopPass& pass, int warp) {
  const DecodedLoop& loop = decoded.loops[pass.loop];
  const std::uint64_t iteration = core.loop_counters_of(warp).iteration[loop.depth];
  const std::uint32_t pc = core.state().warps[static_cast<std::size_t>(warp)].pc;
  return static_cast<double>(pass.work_before + iteration * length(loop) + (pc - loop.begin));
}

/// By how many iterations the addresses of pass `to` begin behind those of `from`.
std::int64_t iterations_between(const SmCore& core, const DecodedLaunch& decoded, int warp,
                                const LoopPass& from, const LoopPass& to) {
  const DecodedLoop& old_loop = decoded.loops[from.loop];
  const DecodedLoop& new_loop = decoded.loops[to.loop];
  for (std::uint32_t i = 0; i < length(old_loop); ++i) {
    const DecodedInstruction& instruction = decoded.code[old_loop.begin + i];
    if (!leaves_sm(instruction)) {
      continue;
    }
    const std::int64_t step =
        decoded.memory_operands[instruction.memory].offset.per_iteration[old_loop.depth];
    if (step == 0) {
      continue;
    }
    const memory::AccessKind kind = access_kind(instruction.op_class);
    const Address a = core.request(instruction.memory, kind, warp, from.counters).asked;
    const Address b = core.request(decoded.code[new_loop.begin + i].memory, kind, warp, to.counters).asked;
    return a.segment == b.segment ? (b.offset - a.offset) / step : 0;
  }
  return 0;
}

}  // namespace

void PathSkipper::reset() {
  known_ = false;
  windows_.clear();
  last_ = {};
  last_pass_ = nullptr;
  start_anew();
}

void PathSkipper::start_anew() {
  last_end_.reset();
  due_ = false;
}

void PathSkipper::go_on(const PathSkip& skip) {
  start_anew();
  last_pass_ = skip.targets[reference_].to;
}

const PathSkipper::Path& PathSkipper::path_of(const trace::CtaClass& cta_class) {
  const auto found =
      std::ranges::find_if(paths_, [&](const Path& path) { return path.cta_class == &cta_class; });
  if (found != paths_.end()) {
    return *found;
  }
  Path& path = paths_.emplace_back();
  path.cta_class = &cta_class;
  const std::vector<std::uint16_t>& programs = cta_class.program_of_warp;
  if (std::ranges::adjacent_find(programs, std::ranges::not_equal_to()) != programs.end()) {
    return path;
  }
  path.passes = warp_path(decoded_, programs[0], cta_class);
  path.longest_left.resize(path.passes.size());
  std::uint32_t longest = 0;
  for (std::size_t i = path.passes.size(); i-- > 0;) {
    longest = std::max(longest, path.passes[i].trips);
    path.longest_left[i] = longest;
  }
  return path;
}

void PathSkipper::find_paths(const SmCore& core) {
  known_ = true;
  resident_.assign(static_cast<std::size_t>(core.cta_slots()), nullptr);
  reference_ = resident_.size();
  for (std::size_t slot = resident_.size(); slot-- > 0;) {
    const ResidentCta& cta = core.cta(static_cast<int>(slot));
    if (!cta.occupied) {
      continue;
    }
    reference_ = slot;
    resident_[slot] = &path_of(*cta.cta_class);
  }
  // Classes may be many, and paths long.
  std::erase_if(paths_,
                [&](const Path& path) { return std::ranges::find(resident_, &path) == resident_.end(); });
  if (std::ranges::any_of(paths_, [](const Path& path) { return path.passes.size() < kFewPasses; })) {
    resident_.clear();
  }
}

bool PathSkipper::may_end_window(const SmCore& core) {
  if (!known_) {
    find_paths(core);
  }
  if (resident_.empty() || reference_ == resident_.size()) {
    return false;
  }
  const LoopCounters& now = core.loop_counters_of(static_cast<int>(reference_ * decoded_.warps_per_cta));
  bool goes_on = now.trips == last_.trips;
  for (std::size_t depth = 0; depth < trace::kMaxLoopDepth && goes_on; ++depth) {
    const bool innermost = depth + 1 == trace::kMaxLoopDepth || now.trips[depth + 1] == 0;
    goes_on = innermost ? now.iteration[depth] >= last_.iteration[depth]
                        : now.iteration[depth] == last_.iteration[depth];
  }
  last_ = now;
  due_ = due_ || !goes_on;
  return due_;
}

bool PathSkipper::end_window(const SmCore& core, sim::Cycles now) {
  const Path& path = *resident_[reference_];
  const LoopPass* entered = common_pass(core, decoded_, path.passes, reference_);
  if (entered == nullptr) {
    return false;
  }
  const auto number = static_cast<std::size_t>(entered - path.passes.data());
  if (entered == last_pass_ || entered->trips < kLongPass || entered->trips < path.longest_left[number] / 2) {
    due_ = false;
    return false;
  }
  Window here{now, std::vector<double>(resident_.size(), 0)};
  for (std::size_t slot = 0; slot < resident_.size(); ++slot) {
    if (resident_[slot] == nullptr) {
      continue;
    }
    const LoopPass* pass = common_pass(core, decoded_, resident_[slot]->passes, slot);
    if (pass == nullptr) {
      return false;
    }
    here.work[slot] = work_at(core, decoded_, *pass, static_cast<int>(slot * decoded_.warps_per_cta));
  }
  due_ = false;
  last_pass_ = entered;
  if (last_end_) {
    Window window = here;
    window.time -= last_end_->time;
    for (std::size_t slot = 0; slot < window.work.size(); ++slot) {
      window.work[slot] -= last_end_->work[slot];
    }
    windows_.push_back(std::move(window));
    if (windows_.size() > kMostWindows) {
      windows_.erase(windows_.begin());
    }
  }
  last_end_ = std::move(here);
  return true;
}

double PathSkipper::pace(std::size_t slot, std::size_t windows) const {
  double work = 0;
  double time = 0;
  for (std::size_t i = windows_.size() - std::min(windows, windows_.size()); i < windows_.size(); ++i) {
    work += windows_[i].work[slot];
    time += static_cast<double>(windows_[i].time);
  }
  return work / time;
}

sim::Cycles PathSkipper::room() const {
  if (windows_.empty() || !last_end_) {
    return 0;
  }
  double room = std::numeric_limits<double>::max();
  for (std::size_t slot = 0; slot < resident_.size(); ++slot) {
    if (resident_[slot] == nullptr) {
      continue;
    }
    const std::vector<LoopPass>& passes = resident_[slot]->passes;
    const auto last = std::find_if(passes.rbegin(), passes.rend(),
                                   [](const LoopPass& pass) { return pass.trips >= kLongPass; });
    if (last == passes.rend()) {
      return 0;
    }
    const double end = static_cast<double>(last->work_before +
                                           std::uint64_t{last->trips} * length(decoded_.loops[last->loop]));
    const double left = end - kLastWindows * windows_.back().work[slot] - last_end_->work[slot];
    room = std::min(room, left / pace(slot, 1));
  }
  constexpr double kMost = 1e9;
  return static_cast<sim::Cycles>(std::clamp(room, 0.0, kMost));
}

std::optional<PathTarget> PathSkipper::target(const SmCore& core, std::size_t slot, double work) const {
  const std::vector<LoopPass>& passes = resident_[slot]->passes;
  const LoopPass* from = common_pass(core, decoded_, passes, slot);
  if (from == nullptr) {
    return std::nullopt;
  }
  const DecodedLoop& loop = decoded_.loops[from->loop];
  const int warp = static_cast<int>(slot * decoded_.warps_per_cta);
  const std::int64_t iteration = core.loop_counters_of(warp).iteration[loop.depth];
  const double in_iteration = core.state().warps[static_cast<std::size_t>(warp)].pc - loop.begin;
  PathTarget best{from, nullptr, 0};
  double nearest = 0;
  for (const LoopPass* to = from + 1; to < passes.data() + passes.size(); ++to) {
    const std::int64_t last = std::int64_t{to->trips} - kLastIterations;
    if (decoded_.loops[to->loop].text != loop.text || last <= kFirstIterations) {
      continue;
    }
    const std::int64_t aligned = iteration - iterations_between(core, decoded_, warp, *from, *to);
    const std::int64_t there = std::clamp(aligned, kFirstIterations, last);
    const double at =
        static_cast<double>(to->work_before) + in_iteration + static_cast<double>(there) * length(loop);
    const double distance =
        std::abs(at - work) + static_cast<double>(std::abs(there - aligned)) * length(loop);
    if (best.to == nullptr || distance < nearest) {
      best = {from, to, there - iteration};
      nearest = distance;
    }
  }
  return best.to == nullptr ? std::nullopt : std::optional(best);
}

bool PathSkipper::is_late(const SmCore& core) const {
  const int warp = static_cast<int>(reference_ * decoded_.warps_per_cta);
  const LoopPass* pass = common_pass(core, decoded_, resident_[reference_]->passes, reference_);
  return pass != nullptr &&
         core.loop_counters_of(warp).iteration[decoded_.loops[pass->loop].depth] + kLate >= pass->trips;
}

std::optional<PathSkip> PathSkipper::skip(const SmCore& core, sim::Cycles cycles, std::size_t windows) const {
  if (!is_late(core)) {
    return std::nullopt;
  }
  PathSkip result;
  double sum = 0;
  int ctas = 0;
  for (std::size_t slot = 0; slot < resident_.size(); ++slot) {
    result.targets.emplace_back();
    if (resident_[slot] == nullptr) {
      continue;
    }
    const LoopPass* pass = common_pass(core, decoded_, resident_[slot]->passes, slot);
    if (pass == nullptr) {
      return std::nullopt;
    }
    const double here = work_at(core, decoded_, *pass, static_cast<int>(slot * decoded_.warps_per_cta));
    const auto found = target(core, slot, here + pace(slot, windows) * static_cast<double>(cycles));
    if (!found) {
      return std::nullopt;
    }
    result.targets.back() = *found;
    const auto left_out = static_cast<std::int64_t>(found->to->work_before - found->from->work_before) +
                          found->iterations * length(decoded_.loops[found->from->loop]);
    if (left_out <= 0) {
      return std::nullopt;
    }
    result.issued += static_cast<std::uint64_t>(left_out) * decoded_.warps_per_cta;
    sum += static_cast<double>(left_out) / pace(slot, windows);
    ++ctas;
  }
  const auto mean = static_cast<sim::Cycles>(sum / std::max(1, ctas));
  result.cycles = (mean + kArrivalGrid / 2) / kArrivalGrid * kArrivalGrid;
  return result;
}

}  // namespace warpscope::sm
