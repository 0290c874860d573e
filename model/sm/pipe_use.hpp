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

/// Until when the last tensor instruction takes its pipe, however long others put off the next one.
inline std::int32_t tensor_busy_until(const SubCoreState& sub_core) {
  const std::int32_t free = sub_core.pipe_free[slot(PipeSlot::tensor)];
  return free == sub_core.tensor_put_off_until ? sub_core.tensor_busy_before : free;
}

/// The tensor pipe starts nothing for so many cycles more, without being busy.
inline void put_off_tensor(SubCoreState& sub_core, std::int32_t cycles, std::int32_t time) {
  std::int32_t& free = sub_core.pipe_free[slot(PipeSlot::tensor)];
  sub_core.tensor_busy_before = tensor_busy_until(sub_core);
  free = sub_core.tensor_put_off_until = std::max(free, time) + cycles;
}

}  // namespace warpscope::sm
