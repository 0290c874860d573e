// Operands that come out of the register file.
#pragma once

#include <cstdint>

#include "model/trace/instruction.hpp"

namespace warpscope::sm {

/// Cycles that operands take the ports: of a tensor instruction A, and B with C; of another all of them.
struct PortCycles {
  std::uint8_t first : 4 = 0;
  std::uint8_t second : 4 = 0;
  constexpr PortCycles() = default;
  constexpr PortCycles(int first_cycles, int second_cycles)
      : first(static_cast<std::uint8_t>(first_cycles) & kMost),
        second(static_cast<std::uint8_t>(second_cycles) & kMost) {}
  static constexpr std::uint8_t kMost = 15;

  bool operator==(const PortCycles&) const = default;
};

/// Of a tensor instruction behind the one `before` it; null: there is none. An operand that `before` has in
/// the same place is still at hand (compilers mark it with .reuse).
PortCycles product_reads(const trace::Instruction& instruction, const trace::Instruction* before, int banks);

/// The same of an FMA or ALU instruction: as many as it reads registers of the bank of which it reads most.
PortCycles lane_reads(const trace::Instruction& instruction, const trace::Instruction* before, int banks);

}  // namespace warpscope::sm
