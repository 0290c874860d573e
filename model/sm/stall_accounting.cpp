// Where the cycles of resident warps went.
#include "model/sm/stall_accounting.hpp"

namespace warpscope::sm {

void SmCore::finish_accounting(std::int32_t end) {
  for (int s = 0; s < spec_.sub_cores; ++s) {
    const SubCoreState& sub_core = state_.sub_cores[at(s)];
    histories_[at(s)].go_on_to(end);
    for (int i = 0; i < sub_core.warp_count; ++i) {
      const int local = sub_core.by_age[at(i)];
      WarpState& warp = state_.warps[at(local * spec_.sub_cores + s)];
      if (watched_ != nullptr) {
        watch_stalls(sub_core, local, warp, histories_[at(s)]);
      }
      account_stalls(sub_core, local, warp, histories_[at(s)]);
      warp.attributed = std::max(warp.attributed, end);
    }
  }
}

}  // namespace warpscope::sm
