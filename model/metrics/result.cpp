#include "model/metrics/result.hpp"

namespace warpscope::metrics {

const char* name(Stall stall) {
  static constexpr std::array<const char*, kStallReasons> kNames = {
      "selected",         "wait",           "long_scoreboard",
      "short_scoreboard", "barrier",        "math_pipe_throttle",
      "mio_throttle",     "lg_throttle",    "dispatch_stall",
      "not_selected",     "no_instruction", "imc_miss",
      "branch_resolving", "drain"};
  return kNames[static_cast<std::size_t>(stall)];
}

std::string metric(Stall stall) {
  return std::string("smsp__average_warps_issue_stalled_") + name(stall) + "_per_issue_active.ratio";
}

}  // namespace warpscope::metrics
