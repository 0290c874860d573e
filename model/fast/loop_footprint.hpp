// What a loop reads and writes per iteration, joined to as few accesses as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "model/fast/member_accesses.hpp"
#include "model/memory/access_kind.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::fast {

/// Adjacent accesses of the warps of a CTA in one iteration; the next iteration has the same ones, `step`
/// further on.
struct Stretch {
  memory::AccessKind kind = memory::AccessKind::read;
  std::uint16_t tensor = 0;
  sm::Address begin;
  std::int64_t bytes = 0;
  sm::Address step;
  std::uint32_t lines = 0;           ///< of 128 bytes, counted for each access; 0: as few as can
  const MemberRuns* runs = nullptr;  ///< of the CTAs that keep step; equal for all accesses joined
};

/// The innermost loop around `pc`; -1 outside of loops.
int innermost_loop(const sm::DecodedLaunch& decoded, std::uint32_t pc);

/// The accesses of the CTA in `slot` to tensors in one iteration of the loops its warps are in: `loops` by
/// warp of the CTA. Iterations count from where the warps are now.
std::vector<Stretch> loop_footprint(const sm::SmCore& core, const sm::DecodedLaunch& decoded,
                                    const std::vector<int>& loops, int slot, MemberAccesses& accesses);

}  // namespace warpscope::fast
