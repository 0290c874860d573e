#include "model/sm/short_ways.hpp"

#include <cstddef>
#include <vector>

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// `next` stands behind it in the text.
Reach reach_of(const DecodedInstruction& instruction, const DecodedInstruction& next) {
  const bool goes_on = !instruction.closes_loop && next.loops_begun == 0 && next.line == instruction.line;
  const bool meets_others =
      instruction.pipe == PipeSlot::mio || instruction.op_class == OpClass::barrier ||
      instruction.op_class == OpClass::exit || instruction.op_class == OpClass::constant_load ||
      is_asynchronous(instruction.op_class) || next.op_class == OpClass::constant_operand;
  if (!goes_on || meets_others) {
    return Reach::sm;
  }
  const bool only_pipe =
      instruction.pipe < PipeSlot::mio && instruction.write_scoreboard == trace::kNoScoreboard;
  return only_pipe ? Reach::pipe : Reach::sub_core;
}

bool waits(const DecodedInstruction& instruction) {
  return instruction.wait_mask != 0 || !instruction.has_control || instruction.op_class == OpClass::exit ||
         instruction.op_class == OpClass::async_wait || instruction.op_class == OpClass::wgmma_wait ||
         instruction.op_class == OpClass::mbarrier_wait || instruction.op_class == OpClass::constant_operand;
}

}  // namespace

// Traces have what is executed: a branch right in front of a BSYNC jumps over code to it.
void find_jumps(DecodedLaunch& launch) {
  std::vector<DecodedInstruction>& code = launch.code;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (code[i].op_class == OpClass::branch && !code[i].closes_loop &&
        code[i + 1].op_class == OpClass::convergence) {
      code[i].op_class = OpClass::convergence;
    }
  }
}

void find_short_ways(DecodedLaunch& launch) {
  for (std::size_t i = 0; i < launch.code.size(); ++i) {
    launch.code[i].waits = waits(launch.code[i]);
    if (!launch.needs_register_scoreboard && i + 1 < launch.code.size()) {
      launch.code[i].reach = reach_of(launch.code[i], launch.code[i + 1]);
    }
  }
}

}  // namespace warpscope::sm
