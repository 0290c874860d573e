#include "model/sm/pipe_use.hpp"

#include <algorithm>
#include <cstdint>

namespace warpscope::sm {

std::int32_t SmCore::read_product(SubCoreState& sub_core, const DecodedInstruction& instruction,
                                  std::int32_t time) {
  const PortCycles reads = sub_core.product_kept ? instruction.kept : instruction.anew;
  sub_core.product_kept = true;
  const ProductLeaves leaves =
      read_for_product(sub_core.ports, {reads.first, reads.second, instruction.read_cycles}, time);
  if (leaves.memory_waits > 0) {
    put_off_memory(sub_core, leaves.memory_waits);
  }
  return leaves.time;
}

void SmCore::count_busy_behind(std::int32_t time, int sign) {
  const std::int64_t xu_cycles = kWarpLanes / spec_.xu.lanes;
  const auto behind = [&](std::int32_t until) { return std::int64_t{sign} * std::max(0, until - time); };
  for (const SubCoreState& sub_core : state_.sub_cores) {
    counters_.pipe_busy_cycles[slot(PipeSlot::tensor)] += behind(sub_core.pipe_free[slot(PipeSlot::tensor)]);
    for (const PipeSlot pipe : {PipeSlot::fma, PipeSlot::alu}) {
      counters_.pipe_busy_cycles[slot(pipe)] += behind(sub_core.pipe_free[slot(pipe)]);
    }
    // The last two that were issued.
    for (const std::int32_t end : {sub_core.xu_free, sub_core.pipe_free[slot(PipeSlot::xu)]}) {
      const std::int64_t cycles = std::min<std::int64_t>(std::max(0, end - time), xu_cycles);
      counters_.pipe_busy_cycles[slot(PipeSlot::xu)] += sign * cycles;
    }
  }
  counters_.data_path_cycles += behind(state_.lsu_free);
}

}  // namespace warpscope::sm
