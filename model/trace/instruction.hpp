// One warp instruction: opcode, register dependences, optional compiler control bits, memory operand.
#pragma once

#include <array>
#include <cstdint>

#include "model/trace/opcode.hpp"

namespace warpscope::trace {

/// `count` consecutive registers from `first`; count 0 means none. Predicates start at kFirstPredicate.
struct RegisterRange {
  std::uint16_t first = 0;
  std::uint8_t count = 0;

  bool operator==(const RegisterRange&) const = default;
};

/// Register numbers from here on are predicates P0, P1, ...
inline constexpr std::uint16_t kFirstPredicate = 4096;
inline constexpr std::uint8_t kNoScoreboard = 7;
inline constexpr int kScoreboards = 6;
inline constexpr int kBarrierNames = 16;
inline constexpr std::uint32_t kNoMemory = 0xffffffff;

/// What the compiler encodes beside an instruction so that the hardware need not check registers.
struct ControlBits {
  std::uint8_t stall_cycles = 1;                  ///< cycles until this warp may issue again, 1..15
  std::uint8_t write_scoreboard = kNoScoreboard;  ///< 0..5: released when the result is written
  std::uint8_t read_scoreboard = kNoScoreboard;   ///< 0..5: released when the sources have been read
  std::uint8_t wait_mask = 0;                     ///< bit i: scoreboard i must be zero before issue

  bool operator==(const ControlBits&) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::NOP;
  std::uint8_t operation =
      0;  ///< what it is part of: one more than an index of WarpProgram::operations; 0: none
  RegisterRange destination;
  std::array<RegisterRange, 4> sources{};
  bool has_control = false;  ///< false: the register scoreboard decides when the instruction may issue
  ControlBits control;
  std::uint32_t memory = kNoMemory;  ///< index into WarpProgram::memory_operands
  /// BAR.SYNC: barrier 0..15, plus kBarrierNames times the warps that take part, 0 for all of the CTA;
  /// DEPBAR.LE and WARPGROUP.DEPBAR.LE: groups that may stay pending; HGMMA: 1 if it is the last of a group;
  /// SYNCS and UTMA: number of the ring of mbarriers; LDC and ULDC: line of the constants.
  std::uint16_t immediate = 0;

  bool operator==(const Instruction&) const = default;
};

}  // namespace warpscope::trace
