#include "model/sm/pipe_use.hpp"

#include <algorithm>
#include <cstdint>

#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

/// Cycles that an instruction takes the XU.
std::int32_t xu_cycles(const hw::Sm& sm) {
  return kWarpLanes / sm.xu.lanes;
}

}  // namespace

std::int32_t SmCore::read_product(SubCoreState& sub_core, const PortCycles& reads, int cycles,
                                  std::int32_t time) {
  const ProductLeaves leaves = read_for_product(sub_core.ports, {reads.first, reads.second, cycles}, time);
  if (leaves.xu_reads >= 0) {
    const std::int32_t begin = xu_begin(sub_core.pipe_free[slot(PipeSlot::xu)], leaves.xu_reads);
    sub_core.xu_free = std::max(sub_core.xu_free, begin + xu_cycles(spec_));
  }
  if (leaves.memory_waits > 0) {
    put_off_memory(sub_core, leaves.memory_waits);
  }
  return leaves.time;
}

void SmCore::hold_others(SubCoreState& sub_core, std::int32_t time, std::int32_t cycles) {
  sub_core.pipe_free[slot(PipeSlot::tensor)] += cycles;
  const auto index = static_cast<std::size_t>(&sub_core - state_.sub_cores.data());
  for (int i = 0; i < sub_core.warp_count; ++i) {
    const std::uint8_t local = sub_core.by_age[static_cast<std::size_t>(i)];
    WarpState& warp = state_.warps[local * static_cast<std::size_t>(spec_.sub_cores) + index];
    // One that has not begun has no stall count, and what ends at a barrier or branch is none.
    const bool counts = warp.ready_reason == reason(metrics::Stall::wait) && warp.attributed <= time;
    if (counts && warp.status == WarpStatus::running && warp.ready > time) {
      warp.ready += cycles;
      update_own(sub_core, local, warp, code_[warp.pc]);
    }
  }
}

void SmCore::count_busy_behind(std::int32_t time, int sign) {
  const std::int64_t of_xu = xu_cycles(spec_);
  const auto behind = [&](std::int32_t until) { return std::int64_t{sign} * std::max(0, until - time); };
  for (const SubCoreState& sub_core : state_.sub_cores) {
    counters_.pipe_busy_cycles[slot(PipeSlot::tensor)] += behind(sub_core.pipe_free[slot(PipeSlot::tensor)]);
    for (const PipeSlot pipe : {PipeSlot::fma, PipeSlot::alu}) {
      counters_.pipe_busy_cycles[slot(pipe)] += behind(sub_core.pipe_free[slot(pipe)]);
    }
    // The last two that were issued.
    for (const std::int32_t end : {sub_core.xu_free, sub_core.pipe_free[slot(PipeSlot::xu)]}) {
      const std::int64_t cycles = std::min<std::int64_t>(std::max(0, end - time), of_xu);
      counters_.pipe_busy_cycles[slot(PipeSlot::xu)] += sign * cycles;
    }
  }
  counters_.data_path_cycles += behind(state_.lsu_free);
}

}  // namespace warpscope::sm
