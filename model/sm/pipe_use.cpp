#include "model/sm/pipe_use.hpp"

namespace warpscope::sm {

void SmCore::count_busy_behind(std::int32_t time, int sign) {
  const auto behind = [&](std::int32_t until) { return std::int64_t{sign} * std::max(0, until - time); };
  for (const SubCoreState& sub_core : state_.sub_cores) {
    counters_.pipe_busy_cycles[slot(PipeSlot::tensor)] += behind(sub_core.pipe_free[slot(PipeSlot::tensor)]);
    for (const PipeSlot pipe : {PipeSlot::fma, PipeSlot::alu, PipeSlot::xu}) {
      counters_.pipe_busy_cycles[slot(pipe)] += behind(sub_core.pipe_free[slot(pipe)]);
    }
  }
  counters_.data_path_cycles += behind(state_.lsu_free);
}

}  // namespace warpscope::sm
