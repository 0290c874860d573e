#include "model/gpu/launch_memo.hpp"

#include <algorithm>
#include <iterator>

namespace warpscope::gpu {

trace::Trace without_names(trace::Trace trace) {
  for (trace::Tensor& tensor : trace.tensors) {
    tensor.name.clear();
  }
  for (trace::Launch& launch : trace.launches) {
    launch.name.clear();
    for (trace::WarpProgram& program : launch.programs) {
      program.name.clear();
      program.operations.clear();
      for (trace::Instruction& instruction : program.code) {
        instruction.operation = 0;
      }
    }
  }
  return trace;
}

const LaunchOutcome* LaunchMemo::find(const LaunchCase& launch) {
  const auto found = std::ranges::find(launches_, launch, &std::pair<LaunchCase, LaunchOutcome>::first);
  if (found == launches_.end()) {
    return nullptr;
  }
  std::rotate(found, std::next(found), launches_.end());
  return &launches_.back().second;
}

void LaunchMemo::keep(LaunchCase launch, LaunchOutcome outcome) {
  if (launches_.size() == kLaunches) {
    launches_.erase(launches_.begin());
  }
  launches_.emplace_back(std::move(launch), std::move(outcome));
}

}  // namespace warpscope::gpu
