#include "model/sm/warp_path.hpp"

#include <algorithm>

namespace warpscope::sm {
namespace {

/// Passes, and iterations of the loops around them.
constexpr std::size_t kLongestPath = 65536;

class Walk {
 public:
  Walk(const DecodedLaunch& decoded, const trace::CtaClass& cta_class)
      : decoded_(decoded), cta_class_(cta_class) {}

  /// Walks instructions [begin, end) inside of `depth` loops; false once the path is too long.
  bool through(std::uint32_t begin, std::uint32_t end, std::size_t depth, LoopCounters counters) {
    std::uint32_t pc = begin;
    while (pc < end) {
      const DecodedLoop* loop = loop_at(pc, depth);
      if (loop == nullptr) {
        ++pc;
        ++work_;
        continue;
      }
      counters.trips[depth] = trips_of(*loop, cta_class_, counters);
      counters.iteration[depth] = 0;
      if (!(loop->innermost ? pass(*loop, counters) : repeat(*loop, counters))) {
        return false;
      }
      counters.trips[depth] = counters.iteration[depth] = 0;
      pc = loop->end;
    }
    return true;
  }

  std::vector<LoopPass> path;

 private:
  const DecodedLoop* loop_at(std::uint32_t pc, std::size_t depth) const {
    const std::uint32_t begun = decoded_.loop_ends[pc].begun;
    for (std::uint32_t i = begun; i < begun + decoded_.code[pc].loops_begun; ++i) {
      if (decoded_.loops[i].depth == depth) {
        return &decoded_.loops[i];
      }
    }
    return nullptr;
  }

  bool pass(const DecodedLoop& loop, const LoopCounters& counters) {
    const std::uint32_t trips = counters.trips[loop.depth];
    if (trips > 0) {
      path.push_back({static_cast<std::uint32_t>(&loop - decoded_.loops.data()), counters, work_, trips});
      work_ += std::uint64_t{trips} * (loop.end - loop.begin);
    }
    return ++steps_ <= kLongestPath;
  }

  bool repeat(const DecodedLoop& loop, LoopCounters counters) {
    for (std::uint32_t i = 0; i < counters.trips[loop.depth]; ++i) {
      counters.iteration[loop.depth] = i;
      if (++steps_ > kLongestPath || !through(loop.begin, loop.end, std::size_t{loop.depth} + 1, counters)) {
        return false;
      }
    }
    return true;
  }

  const DecodedLaunch& decoded_;
  const trace::CtaClass& cta_class_;
  std::uint64_t work_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

std::uint32_t trips_of(const DecodedLoop& loop, const trace::CtaClass& cta_class,
                       const LoopCounters& counters) {
  std::int64_t trips = cta_class.trip_counts[loop.trip_slot];
  for (std::size_t k = 0; k < loop.depth; ++k) {
    trips += std::int64_t{loop.trips_per_iteration[k]} * counters.iteration[k];
  }
  return static_cast<std::uint32_t>(std::max<std::int64_t>(0, trips));
}

std::vector<LoopPass> warp_path(const DecodedLaunch& decoded, std::size_t program,
                                const trace::CtaClass& cta_class) {
  const std::uint32_t end = program + 1 < decoded.program_begin.size()
                                ? decoded.program_begin[program + 1]
                                : static_cast<std::uint32_t>(decoded.code.size());
  Walk walk(decoded, cta_class);
  return walk.through(decoded.program_begin[program], end, 0, {}) ? std::move(walk.path)
                                                                  : std::vector<LoopPass>{};
}

}  // namespace warpscope::sm
