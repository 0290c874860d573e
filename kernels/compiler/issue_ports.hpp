// When the compiler lets an instruction follow those before it, as far as the pipes decide.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/opcode_kinds.hpp"

namespace warpscope::kernels {

/// The pipes of a warp's code in the order in which it issues, in cycles from the start of a basic block.
class IssuePorts {
 public:
  IssuePorts(const CompilerTarget& target, int xu_interval) : target_(target), xu_interval_(xu_interval) {}

  /// The first cycle in which the pipes take `opcode`.
  int earliest(trace::Opcode opcode) const { return free_[port_of(opcode)]; }
  /// From when on the order may be settled on `opcode`, which then waits until the pipes take it.
  int earliest_choice(trace::Opcode opcode) const {
    return earliest(opcode) - (is_hmma(opcode) ? target_.hmma_early_cycles : 0);
  }

  /// `instruction` issues in cycle `time`. What follows a dead load follows it at once
  /// (experiments/reference/measured-h200/checked_columns.md).
  void issue(const trace::Instruction& instruction, int time) {
    const trace::Opcode opcode = instruction.opcode;
    const bool xu = trace::info(opcode).pipe == trace::Pipe::xu;
    const int interval = xu ? xu_interval_ : is_dead_load(instruction) ? 1 : issue_interval(target_, opcode);
    free_[port_of(opcode)] = time + interval;
    if (is_hmma(opcode)) {
      for (const std::size_t port : {kFma, kAlu, kImad}) {
        free_[port] = std::max(free_[port], time + target_.lanes_behind_hmma);
      }
    }
  }

 private:
  static constexpr std::size_t kFma = static_cast<std::size_t>(trace::Pipe::fma);
  static constexpr std::size_t kAlu = static_cast<std::size_t>(trace::Pipe::alu);
  /// IMAD runs on half of the FMA lanes and is kept apart from FFMA.
  static constexpr std::size_t kImad = 7;

  static std::size_t port_of(trace::Opcode opcode) {
    const trace::OpcodeInfo& info = trace::info(opcode);
    return info.op_class == trace::OpClass::imad ? kImad : static_cast<std::size_t>(info.pipe);
  }

  const CompilerTarget& target_;
  int xu_interval_;
  std::array<int, kImad + 1> free_{};
};

}  // namespace warpscope::kernels
