// Where a CTA program is: the block index, the class of the CTA and the iterations of the loops it is in.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/machine/machine.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

struct LoopState {
  std::int64_t iteration = 0;
  std::int64_t trips = 0;
};

class CtaPosition {
 public:
  CtaPosition(const PlanClass& cta_class, std::array<std::uint32_t, 3> block)
      : class_(&cta_class), block_(block) {}

  /// Throws std::logic_error where `value` names a loop or a symbol that does not exist here.
  std::int64_t evaluate(const Affine& value) const;
  std::int64_t trips_of(const Trips& trips) const;

  std::vector<LoopState>& loops() { return loops_; }

 private:
  const PlanClass* class_;
  std::array<std::uint32_t, 3> block_;
  std::vector<LoopState> loops_;  ///< outermost first
};

}  // namespace warpscope::kernels
