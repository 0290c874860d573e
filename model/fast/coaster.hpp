// When an SM may leave out iterations of its loops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::fast {

/// Iterations that all CTAs of an SM leave out together.
struct Coast {
  sim::Cycles cycles = 0;
  std::vector<int> loops;                 ///< by warp, the loop it is in; -1: none
  std::vector<std::uint32_t> iterations;  ///< by CTA slot
  sm::SmCounters measured;                ///< what stands for it
  double repeats = 0;                     ///< how often that fits into `cycles`
};

/// What iterations took of CTAs that share an SM, and what they counted meanwhile.
struct LoopPace {
  struct Iterations {
    std::uint32_t count = 0;
    sim::Cycles time = 0;
  };
  std::vector<Iterations> by_age;  ///< that were measured, and their cycles, of the oldest CTA first
  sm::SmCounters counted;          ///< meanwhile
  std::uint32_t iterations = 0;    ///< that went on like this so far, at least

  /// Of one iteration.
  double cycles(std::size_t age) const;
  void add(const LoopPace& more);
};

/// By the texts of the loops, that of the oldest CTA first.
using LoopPaces = std::map<std::vector<std::uint32_t>, LoopPace>;

/// Watches one SM between windows. Once all its CTAs have gone through some iterations of one loop each, and
/// go on evenly, they may leave out iterations: as many cycles as the first of them needs to come near the
/// end of its loop, and each as many iterations as it makes in that time. All SMs jump at one pace: CTAs on
/// two of them that read the same go on doing so at the same time. On an SM the older CTA has precedence, so
/// that it is faster.
class Coaster {
 public:
  /// `known` is of all SMs; both must outlive it.
  Coaster(const sm::DecodedLaunch& decoded, LoopPaces& known) : decoded_(decoded), known_(known) {}

  /// A CTA has come to the slot.
  void begin(std::size_t slot);
  /// It has gone.
  void end(std::size_t slot);
  /// They have left something out.
  void start_anew() { pass_ = {}; }
  /// `counted` is what the SM has counted up to `now`, which its core calls `now - origin`.
  std::optional<Coast> consider(const sm::SmCore& core, const sm::SmCounters& counted, sim::Cycles origin,
                                sim::Cycles now);

 private:
  struct Mark {
    sim::Cycles now = 0;
    std::vector<LoopPace::Iterations> slots;
    sm::SmCounters counted;
  };
  /// One time that the CTAs go through their loops.
  struct Pass {
    std::vector<int> loops;               ///< by warp
    std::vector<sm::LoopCounters> outer;  ///< of the first warp of each slot, when its loop was entered

    bool operator==(const Pass& other) const = default;
  };
  const sm::DecodedLoop& loop_of(std::size_t slot) const;
  std::vector<std::uint32_t> texts() const;
  LoopPace measured(const Mark& begin, const Mark& end) const;
  /// As far as the CTAs may go at this pace.
  std::optional<Coast> coast(const sm::SmCore& core, LoopPace& pace);
  /// Finds the loops of all warps; false unless those of each CTA are in one and the same.
  bool find_loops(const sm::SmCore& core);
  Mark mark(const sm::SmCore& core, const sm::SmCounters& counted, sim::Cycles origin, sim::Cycles now) const;
  std::uint32_t fewest_since(const Mark& begin, const sm::SmCore& core) const;
  bool even(const Mark& a, const Mark& b, const Mark& c) const;

  const sm::DecodedLaunch& decoded_;
  std::vector<std::size_t> by_age_;  ///< slots of the CTAs, the oldest first
  Pass pass_;                        ///< in which the marks were made; empty: not known to be in loops
  std::vector<int> found_;
  std::vector<Mark> marks_;
  std::uint32_t fewest_ = 0;  ///< iterations of a CTA since the last mark
  Pass coasted_;              ///< in which something was left out last
  LoopPaces& known_;
};

}  // namespace warpscope::fast
