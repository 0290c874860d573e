// The loops that a warp goes through, one after the other, with the instructions it has executed by then.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/decoded_launch.hpp"
#include "model/sm/sm_state.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// One pass of a warp through an innermost loop.
struct LoopPass {
  std::uint32_t loop = 0;         ///< into DecodedLaunch::loops
  LoopCounters counters;          ///< in its first iteration
  std::uint64_t work_before = 0;  ///< instructions that the warp executes before that
  std::uint32_t trips = 0;
};

/// All passes of the warps that run `program` in a CTA of this class, those of no trips left out. Empty where
/// there are more than some ten thousand of them.
std::vector<LoopPass> warp_path(const DecodedLaunch& decoded, std::size_t program,
                                const trace::CtaClass& cta_class);

/// Trips of a loop on entry, where the loops around it have come to these iterations.
std::uint32_t trips_of(const DecodedLoop& loop, const trace::CtaClass& cta_class,
                       const LoopCounters& counters);

}  // namespace warpscope::sm
