// Where the memory operands of a CTA point.
#pragma once

#include <array>
#include <cstdint>

#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// The CTA in a slot: where it is in the grid and what its class says.
struct ResidentCta {
  const trace::CtaClass* cta_class = nullptr;
  std::array<std::uint32_t, 3> block{};
  bool occupied = false;
};

/// A byte of a tensor; may lie outside of it.
struct Address {
  std::int64_t segment = 0;
  std::int64_t offset = 0;

  bool operator==(const Address&) const = default;
};

/// What an operand refers to for warp 0 of `cta` in iteration `turn` of the outermost loop, as far as a table
/// says, and in the first iteration of all loops otherwise.
Address base_address(const trace::MemoryOperand& operand, const ResidentCta& cta, std::uint32_t turn = 0);

}  // namespace warpscope::sm
