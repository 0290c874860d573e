// Where the cycles of resident warps went.
#include "model/sm/stall_accounting.hpp"

namespace warpscope::sm {

void SmCore::finish_accounting(std::int32_t end) {
  for (int s = 0; s < spec_.sub_cores; ++s) {
    const SubCoreState& sub_core = state_.sub_cores[at(s)];
    IssueHistory& kept = histories_[at(s)];
    kept.go_on_to(std::max(end, kept.end));
    const IssueHistory history = kept.as_of(end);
    for (int i = 0; i < sub_core.warp_count; ++i) {
      const int local = sub_core.by_age[at(i)];
      WarpState& warp = state_.warps[at(local * spec_.sub_cores + s)];
      if (watched_ != nullptr) {
        watch_stalls(sub_core, local, warp, history);
      }
      const std::int32_t ready = std::max(warp.attributed, std::min(warp.ready, end));
      const std::int32_t own = std::max(ready, std::min(sub_core.own[at(local)], end));
      account_stalls(sub_core, local, warp, {ready, own, end}, history);
      warp.attributed = std::max(warp.attributed, end);
    }
  }
}

}  // namespace warpscope::sm
