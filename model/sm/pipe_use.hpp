// How long the pipes of a sub-core and the ports of its registers are taken. Every instruction comes by here,
// so these are inline.
#pragma once

#include <algorithm>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

constexpr std::size_t slot(PipeSlot pipe) {
  return static_cast<std::size_t>(pipe);
}

/// An instruction for a pipe other than the MIO issues. Returns the cycle from which its latency runs: one
/// for the XU may wait in front of it, where there is room for one.
inline std::int32_t SmCore::take_pipe(SubCoreState& sub_core, const DecodedInstruction& instruction,
                                      std::int32_t time) {
  std::int32_t& free = sub_core.pipe_free[slot(instruction.pipe)];
  counters_.pipe_busy_cycles[slot(instruction.pipe)] += instruction.interval;
  if (instruction.pipe != PipeSlot::xu) {
    free = time + instruction.interval;
    return time;
  }
  free = sub_core.xu_free;
  sub_core.ports.go_on_to(time);
  // In front of the pipe it reads when the one before has been in it for as long as its own way there takes.
  const std::int32_t before_it = sub_core.xu_free - instruction.interval + spec_.xu.entry_cycles;
  const std::int32_t due = std::max(time + spec_.operands.late_cycles, before_it);
  const std::int32_t begin =
      xu_begin(sub_core.xu_free, read_later(sub_core.ports, &RegisterPorts::by_xu, due));
  sub_core.xu_free = begin + instruction.interval;
  return begin - spec_.xu.entry_cycles;
}

/// An instruction of warp `local` issues in cycle `time` and stands at the register ports until it may read
/// its operands. Returns when it goes on: from then on it takes its pipe, and its stall count runs.
inline std::int32_t SmCore::read_operands(SubCoreState& sub_core, const DecodedInstruction& instruction,
                                          std::uint8_t local, std::int32_t time) {
  // What an instruction has left for the next one of its warp is lost when another warp issues; for tensor
  // instructions, which have their own place for it, when another warp issues one of those.
  if (instruction.pipe == PipeSlot::tensor) {
    const bool kept = local == sub_core.last_product_warp;
    sub_core.last_product_warp = local;
    return read_product(sub_core, kept ? instruction.kept : instruction.anew, instruction.read_cycles, time);
  }
  const bool reads = instruction.pipe == PipeSlot::fma || instruction.pipe == PipeSlot::alu;
  const int cycles = (local == sub_core.last_warp ? instruction.kept : instruction.anew).first;
  return reads ? read_for_lanes(sub_core.ports, cycles, spec_.operands.window_cycles, time) : time;
}

}  // namespace warpscope::sm
