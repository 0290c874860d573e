// What a loop reads and writes per iteration, joined to as few accesses as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "model/memory/transaction.hpp"
#include "model/sm/member_accesses.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

/// Adjacent accesses of the warps of a CTA in one iteration; the next iteration has the same ones, `step`
/// further on.
struct Stretch {
  memory::AccessKind kind = memory::AccessKind::read;
  std::uint16_t tensor = 0;
  Address begin;
  std::int64_t bytes = 0;
  Address step;
  const MemberRuns* runs = nullptr;  ///< of the CTAs that keep step; equal for all accesses joined
};

/// The innermost loop around `pc`; -1 outside of loops.
int innermost_loop(const DecodedLaunch& decoded, std::uint32_t pc);

/// The accesses of the CTA in `slot` to tensors in one iteration of the loops its warps are in: `loops` by
/// warp of the CTA. Iterations count from where the warps are now.
std::vector<Stretch> loop_footprint(const SmCore& core, const DecodedLaunch& decoded,
                                    const std::vector<int>& loops, int slot, MemberAccesses& accesses);

}  // namespace warpscope::sm
