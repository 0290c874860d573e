// How long the pipes of a sub-core are taken. Every instruction comes by here, so these are inline.
#pragma once

#include <algorithm>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

constexpr std::size_t slot(PipeSlot pipe) {
  return static_cast<std::size_t>(pipe);
}

/// An instruction for a pipe other than the MIO issues.
inline void SmCore::take_pipe(SubCoreState& sub_core, const DecodedInstruction& instruction,
                              std::int32_t time) {
  sub_core.pipe_free[slot(instruction.pipe)] = time + instruction.interval;
  counters_.pipe_busy_cycles[slot(instruction.pipe)] += instruction.interval;
}

/// An instruction issues in cycle `time` and stands at the register ports until it may read its operands.
/// Returns when it does: from then on it takes its pipe, and its stall count runs.
inline std::int32_t read_operands(SubCoreState& sub_core, const DecodedInstruction& instruction,
                                  std::int32_t time) {
  // Which instruction it is can hardly be predicted, so no branches.
  constexpr std::size_t kTensor = slot(PipeSlot::tensor);
  const std::int32_t read = std::max(time, sub_core.operands_free[slot(instruction.pipe)]);
  const std::int32_t tensor_free = sub_core.operands_free[kTensor];
  const std::int32_t next = sub_core.pipe_free[kTensor];
  // All ones where the tensor pipe is taken, which it is not when an instruction of its own issues.
  const std::int32_t taken = -static_cast<std::int32_t>(read < next);
  const std::int32_t put_off = (std::max(tensor_free, next) + instruction.tensor_hold) & taken;
  const std::int32_t free = std::max({tensor_free, put_off, read + instruction.port_cycles});
  // A tensor instruction makes those of FMA and ALU wait, all others make it wait.
  static_assert(kTensor == 0 && slot(PipeSlot::fma) == 1 && slot(PipeSlot::alu) == 2);
  const auto is_tensor = static_cast<std::size_t>(instruction.pipe == PipeSlot::tensor);
  sub_core.operands_free[is_tensor] = free;
  sub_core.operands_free[2 * is_tensor] = free;
  return read;
}

}  // namespace warpscope::sm
