// From the CTAs that fast mode simulated to the whole launch.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/fast/cta_schedule.hpp"
#include "model/fast/demand.hpp"
#include "model/fast/wave_skipper.hpp"
#include "model/gpu/launch_counts.hpp"
#include "model/gpu/sm_group.hpp"
#include "model/hw/hw_config.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::fast {

/// What was simulated of a launch.
struct Sample {
  Sample(std::vector<gpu::SmGroup> sm_groups, int slots, std::size_t classes)
      : groups(std::move(sm_groups)), pace(slots, groups.size()), ctas_of_class(classes, 0) {}

  std::vector<gpu::SmGroup> groups;
  CtaPace pace;
  CtaScatter scatter{};
  bool at_once = false;  ///< all CTAs run at a time, so the longest one ends the launch
  bool alike = false;    ///< CTAs
  std::size_t simulated_ctas = 0;
  std::vector<std::uint64_t> ctas_of_class;  ///< CTAs that those of a class stood for
  std::vector<Demand> demand{};              ///< by tensor
  std::optional<SkippedWaves> skipped{};
};

/// Turns what the simulated SMs counted into what the launch does. Instructions and bytes asked for follow
/// from the trace alone. What depends on time and on the cache continues through skipped waves at the rate of
/// the waves before them. A launch that was not simulated on all its SMs ends with the schedule of all its
/// CTAs at the pace that was observed.
void extrapolate(gpu::LaunchCounts& counts, const hw::HwConfig& config, const trace::Trace& trace,
                 const trace::Launch& launch, const Sample& sample);

}  // namespace warpscope::fast
