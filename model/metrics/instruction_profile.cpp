#include "model/metrics/instruction_profile.hpp"

#include <numeric>

namespace warpscope::metrics {

std::uint64_t InstructionCycles::all() const {
  return std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0});
}

void InstructionCycles::add(const InstructionCycles& other) {
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    cycles[i] += other.cycles[i];
  }
}

void InstructionProfile::launch_begins(const LaunchBegin& launch) {
  launches_.push_back({launch.launch->name, launch.launch->programs, {}});
  std::size_t instructions = 0;
  for (const trace::WarpProgram& program : launch.launch->programs) {
    instructions += program.code.size();
  }
  counts_.assign(instructions, {});
}

void InstructionProfile::launch_ends(std::int64_t /*cycles*/) {
  LaunchProfile& launch = launches_.back();
  auto next = counts_.begin();
  for (const trace::WarpProgram& program : launch.programs) {
    const auto end = next + static_cast<std::ptrdiff_t>(program.code.size());
    launch.counts.emplace_back(next, end);
    next = end;
  }
}

void InstructionProfile::slice(int /*sm*/, std::int64_t /*start*/, std::int64_t /*end*/,
                               std::span<const SmEvent> events) {
  for (const SmEvent& event : events) {
    if (event.kind == SmEvent::Kind::issue) {
      ++counts_[event.pc].cycles[static_cast<std::size_t>(Stall::selected)];
    } else if (event.kind == SmEvent::Kind::stall) {
      counts_[event.pc].cycles[event.detail] += static_cast<std::uint64_t>(event.end - event.begin);
    }
  }
}

}  // namespace warpscope::metrics
