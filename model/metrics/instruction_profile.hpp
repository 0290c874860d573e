// Where the cycles of a kernel went, instruction by instruction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/metrics/observer.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::metrics {

/// What warps did at one instruction, over all CTAs. `cycles` are warp cycles by reason: the one in which it
/// issued counts as selected, the others are the waits before it.
struct InstructionCycles {
  std::array<std::uint64_t, kStallReasons> cycles{};

  std::uint64_t issued() const { return cycles[static_cast<std::size_t>(Stall::selected)]; }
  std::uint64_t all() const;
  void add(const InstructionCycles& other);
};

/// One launch: its programs with what was counted at each of their instructions.
struct LaunchProfile {
  std::string name;
  std::vector<trace::WarpProgram> programs;
  std::vector<std::vector<InstructionCycles>> counts;  ///< [program][instruction]
};

/// Counts what every SM does. To be handed to one simulation.
class InstructionProfile : public Observer {
 public:
  const std::vector<LaunchProfile>& launches() const { return launches_; }

  void launch_begins(const LaunchBegin& launch) override;
  void launch_ends(std::int64_t cycles) override;
  bool watches(int /*sm*/, std::int64_t /*cycle*/) override { return true; }
  void slice(int sm, std::int64_t start, std::int64_t end, std::span<const SmEvent> events) override;

 private:
  std::vector<LaunchProfile> launches_;
  std::vector<InstructionCycles> counts_;  ///< of this launch, by pc
};

}  // namespace warpscope::metrics
