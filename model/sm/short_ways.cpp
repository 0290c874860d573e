#include "model/sm/short_ways.hpp"

#include <cstddef>
#include <vector>

namespace warpscope::sm {
namespace {

using trace::OpClass;

bool is_plain(const DecodedInstruction& instruction, const DecodedInstruction& next) {
  const bool only_pipe =
      instruction.pipe < PipeSlot::mio && instruction.write_scoreboard == trace::kNoScoreboard;
  const bool goes_on = !instruction.closes_loop && next.loops_begun == 0 && next.line == instruction.line;
  return only_pipe && goes_on;
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
    launch.code[i].plain = !launch.needs_register_scoreboard && i + 1 < launch.code.size() &&
                           is_plain(launch.code[i], launch.code[i + 1]);
  }
}

}  // namespace warpscope::sm
