// Loops repeat: once the iterations of an SM take a steady time, many of them can be left out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

/// Iterations to leave out on one SM: as if its last window had been repeated.
struct LoopSkip {
  std::int32_t cycles = 0;                ///< a multiple of the arrival grid
  std::uint32_t windows = 0;              ///< repetitions
  std::size_t first_slice = 0;            ///< slices of the window, as the caller numbered them
  std::size_t last_slice = 0;             ///< first one behind it
  std::vector<std::uint32_t> iterations;  ///< by CTA slot
  std::vector<int> loops;                 ///< by warp slot: the loop it is in; -1 if the slot is empty
};

/// Watches one SM whose resident CTAs are all in innermost loops. Time per iteration is compared over
/// windows, which grow while they disagree. When one agrees with the one before within a tolerance, it may be
/// repeated without being executed, up to a horizon that keeps SMs together and short of the end of every
/// loop; then the next window is executed again. An SM in an exact limit cycle is thus found after its first
/// periods, and one that never repeats exactly is followed on average. Where the same CTAs come back to their
/// loops, one window at the pace of earlier passes is enough.
class LoopSkipper {
 public:
  explicit LoopSkipper(const DecodedLaunch& decoded) : decoded_(decoded) { reset(); }

  /// The CTAs of the SM have changed.
  void reset();
  /// Another pass through the loops begins.
  void start_anew();
  /// Whether a window begins or ends here, at the end of a slice. Looks at the loop counters of `core` alone.
  bool wants_sample(const SmCore& core, sim::Cycles now);
  /// Takes the state at the end of slice number `slice - 1`.
  void sample(const SmCore& core, sim::Cycles now, std::size_t slice);
  /// What may be left out now that a sample has been taken, if anything. It counts as left out.
  std::optional<LoopSkip> skip(const SmCore& core);

 private:
  struct Sample {
    sim::Cycles time = 0;
    std::size_t slice = 0;
    std::vector<double> progress;        ///< by CTA slot: iterations of its first warp; -1: empty
    std::vector<int> loops;              ///< by warp slot
    std::vector<LoopCounters> counters;  ///< by warp slot
  };

  /// The CTA whose iterations are counted; -1 if it is in no loop.
  int reference_slot(const SmCore& core) const;
  std::optional<Sample> take(const SmCore& core, sim::Cycles now, std::size_t slice) const;
  /// The texts of the loops that the warps are in.
  std::vector<int> texts(const Sample& sample) const;
  /// Cycles per iteration of one CTA.
  static double pace(const Sample& from, const Sample& to);
  bool steady() const;
  /// Whether the same CTAs went through loops of the same text at this pace before.
  bool goes_on_as_known() const;

  const DecodedLaunch& decoded_;
  std::uint32_t window_iterations_ = 0;
  std::uint32_t next_iteration_ = 0;  ///< of the reference when a sample is due
  bool may_skip_ = false;
  std::vector<Sample> samples_;  ///< up to three: the ends of two windows
  /// Texts of the loops by warp slot when windows last agreed; empty where none have since the CTAs came.
  std::vector<int> known_texts_;
  double known_pace_ = 0;  ///< of these windows
};

}  // namespace warpscope::sm
