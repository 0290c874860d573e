#include "model/gpu/launch_memo.hpp"

#include <algorithm>
#include <iterator>

namespace warpscope::gpu {
namespace {

/// Tensors from the first of the trace to the last one that the launch names.
std::size_t tensors_up_to_last_named(const trace::Launch& launch) {
  std::size_t count = 0;
  for (const trace::WarpProgram& program : launch.programs) {
    for (const trace::MemoryOperand& operand : program.memory_operands) {
      if (operand.tensor != trace::kSharedMemory) {
        count = std::max(count, std::size_t{operand.tensor} + 1);
      }
    }
  }
  return count;
}

}  // namespace

LaunchCase launch_case(const std::string& gpu, Mode mode, const std::vector<SmGroup>& groups,
                       const trace::Trace& trace, const trace::Launch& launch) {
  const auto end = trace.tensors.begin() + static_cast<std::ptrdiff_t>(tensors_up_to_last_named(launch));
  return {gpu, mode, groups, {trace.tensors.begin(), end}, launch};
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
