// Passes through loops repeat: CTAs that go through loops of one text again and again may leave many passes
// out at once.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "model/sim/event_queue.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/warp_path.hpp"

namespace warpscope::sm {

/// Where the warps of a CTA go on behind what is left out.
struct PathTarget {
  const LoopPass* from = nullptr;  ///< the pass that all its warps are in; null: the slot is empty
  const LoopPass* to = nullptr;
  std::int64_t iterations = 0;  ///< to add to each warp's own
};

/// Parts of the paths of all CTAs of an SM that are left out together.
struct PathSkip {
  sim::Cycles cycles = 0;  ///< a multiple of the arrival grid
  std::uint64_t issued = 0;
  std::vector<PathTarget> targets;  ///< by CTA slot
};

/// Follows the CTAs of one SM along their paths. A window ends where the first of them enters another long
/// pass. The pace of each CTA over the last windows says where it would be some time later; it goes on there,
/// in the same instruction of a loop of the same text. Who knows the whole chip says when
/// (gpu/path_watch.hpp).
class PathSkipper {
 public:
  explicit PathSkipper(const DecodedLaunch& decoded) : decoded_(decoded) {}

  /// The CTAs of the SM have changed.
  void reset();
  /// Whether the CTAs have paths of so many passes that windows are taken.
  bool follows() const { return !resident_.empty(); }
  /// Whether a window may end here, at the end of a slice. Looks at loop counters alone.
  bool may_end_window(const SmCore& core);
  /// Ends it if all CTAs are in loops; true if it has.
  bool end_window(const SmCore& core, sim::Cycles now);
  /// Cycles that all CTAs can leave out before one of them comes to its last passes; 0 where no window has
  /// ended.
  sim::Cycles room() const;
  /// What it takes to leave out about `cycles` from here on, at the mean pace of the last `windows`; nothing
  /// if some CTA is just between two loops.
  std::optional<PathSkip> skip(const SmCore& core, sim::Cycles cycles, std::size_t windows) const;
  /// The CTAs have left that out: the next window begins where the first of them enters another pass.
  void go_on(const PathSkip& skip);

 private:
  struct Path {
    const trace::CtaClass* cta_class = nullptr;
    std::vector<LoopPass> passes;
    std::vector<std::uint32_t> longest_left;  ///< trips of the longest pass from each on
  };
  /// A point in time, or what lies between two.
  struct Window {
    sim::Cycles time = 0;
    std::vector<double> work;  ///< by CTA slot: instructions of its first warp; 0: empty
  };

  /// The next mark begins a window and ends none.
  void start_anew();
  const Path& path_of(const trace::CtaClass& cta_class);
  /// The paths of the CTAs on the SM; null for empty slots. No paths where some are not worth it.
  void find_paths(const SmCore& core);
  /// Instructions per cycle of each warp of a CTA over the last `windows`.
  double pace(std::size_t slot, std::size_t windows) const;
  /// Whether the first CTA is near the end of a pass.
  bool is_late(const SmCore& core) const;
  /// Where the CTA goes on if its first warp is to be at about `work`: at the addresses that it would access
  /// now.
  std::optional<PathTarget> target(const SmCore& core, std::size_t slot, double work) const;

  const DecodedLaunch& decoded_;
  std::list<Path> paths_;                ///< of the classes of resident CTAs
  std::vector<const Path*> resident_;    ///< by CTA slot; empty where no windows are taken
  bool known_ = false;                   ///< `resident_` holds for the CTAs on the SM
  std::size_t reference_ = 0;            ///< the first slot that is taken
  LoopCounters last_;                    ///< of its first warp when it was last looked at
  const LoopPass* last_pass_ = nullptr;  ///< in which a window ended last
  bool due_ = false;                     ///< the first CTA has entered another pass, maybe a long one
  std::optional<Window> last_end_;       ///< absent where what lies behind it was left out
  std::vector<Window> windows_;          ///< the last ones, what lies between their ends
};

}  // namespace warpscope::sm
