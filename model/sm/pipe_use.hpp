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
  std::int32_t& tensor_free = sub_core.tensor_operands_free;
  if (instruction.pipe == PipeSlot::tensor) {
    const std::int32_t read = std::max(time, tensor_free);
    sub_core.lane_operands_free = read + instruction.port_cycles;
    return read;
  }
  const bool in_lanes = instruction.pipe == PipeSlot::fma || instruction.pipe == PipeSlot::alu;
  const std::int32_t read = in_lanes ? std::max(time, sub_core.lane_operands_free) : time;
  const std::int32_t next = sub_core.pipe_free[slot(PipeSlot::tensor)];
  if (read < next) {
    tensor_free = std::max(tensor_free, next) + instruction.tensor_hold;
  }
  tensor_free = std::max(tensor_free, read + instruction.port_cycles);
  return read;
}

}  // namespace warpscope::sm
