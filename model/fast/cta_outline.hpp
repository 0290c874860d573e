// What the CTAs of a class read and write, and after how many instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/memory/access_kind.hpp"
#include "model/sm/decoded_launch.hpp"

namespace warpscope::fast {

/// Adjacent accesses of the warps of a CTA.
struct OutlineAccess {
  memory::AccessKind kind = memory::AccessKind::read;
  bool spilled = false;       ///< registers
  std::uint32_t operand = 0;  ///< of the first one; all depend alike on CTA and loops
  std::int64_t offset = 0;    ///< of its warp
  std::int64_t bytes = 0;
  std::uint32_t lines = 0;  ///< of 128 bytes, counted for each access; 0: as few as can
};

/// A step of all warps of a CTA together.
struct OutlineStep {
  enum class Kind : std::uint8_t { straight, loop_begins, loop_ends };
  Kind kind = Kind::straight;
  std::uint64_t instructions = 0;  ///< of a straight piece
  std::vector<OutlineAccess> accesses;
  sm::DecodedLoop loop;   ///< that begins or ends
  std::size_t other = 0;  ///< where it ends or begins
};

using CtaOutline = std::vector<OutlineStep>;

/// Nothing if the warps of a CTA go through different loops.
std::optional<CtaOutline> outline_of(const trace::Trace& trace, const sm::DecodedLaunch& decoded,
                                     const trace::CtaClass& cta_class);

}  // namespace warpscope::fast
