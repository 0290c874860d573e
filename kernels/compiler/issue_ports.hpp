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

  /// `opcode` issues in cycle `time`.
  void issue(trace::Opcode opcode, int time) {
    const bool xu = trace::info(opcode).pipe == trace::Pipe::xu;
    free_[port_of(opcode)] = time + (xu ? xu_interval_ : issue_interval(target_, opcode));
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
