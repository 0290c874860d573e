// Translates positions of a CTA program into the affine indices of the trace.
#pragma once

#include <vector>

#include "kernels/compiler/class_tables.hpp"
#include "model/trace/program.hpp"

namespace warpscope::kernels {

/// Knows the loops around the instruction that is being emitted. A condition is a trace loop of at most one
/// trip; the last iteration of a loop may stand by itself, its number then being the class's trip count minus
/// one.
class IndexResolver {
 public:
  explicit IndexResolver(ClassTables& tables) : tables_(tables) {}

  /// Depth of CtaMachine::loop nesting.
  int loop_depth() const;
  /// Throws std::logic_error if regions nest deeper than the trace allows.
  void enter_loop(const Trips& trips);
  void enter_last_iteration(const Trips& trips);
  void enter_condition();
  void leave();

  trace::AffineIndex resolve(const Affine& position) const;
  /// Trips::per_loop of a loop about to be entered, by nesting level of the trace.
  std::array<std::int32_t, trace::kMaxLoopDepth> trips_per_iteration(const Trips& trips) const;

 private:
  enum class Region : std::uint8_t { loop, last_iteration, condition };
  struct Level {
    Region region;
    Trips trips;
  };
  void enter(Region region, const Trips& trips);

  ClassTables& tables_;
  std::vector<Level> levels_;
};

}  // namespace warpscope::kernels
