// SMs that read the same tensors at their own pace.
#pragma once

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace warpscope::tests {

/// What a step of a reader was.
enum class Step { hit, missed, ended };

/// Lets readers number 0 to `readers` - 1 take steps until all have ended. `step` is called with a number
/// and tells what that step was. A step that missed takes as much longer as HBM is further away than the L2
/// (an H200: 676 and 280 cycles), so that readers whose data is there run ahead of the others.
template <typename TakeStep>
void read_in_time(int readers, const TakeStep& take_step) {
  constexpr double kMissTime = 676.0 / 280.0;
  using Turn = std::pair<double, int>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (int reader = 0; reader < readers; ++reader) {
    turns.emplace(0.0, reader);
  }
  while (!turns.empty()) {
    const auto [time, reader] = turns.top();
    turns.pop();
    const Step step = take_step(reader);
    if (step != Step::ended) {
      turns.emplace(time + (step == Step::missed ? kMissTime : 1.0), reader);
    }
  }
}

}  // namespace warpscope::tests
