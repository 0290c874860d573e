// Which SMs stand for others.
#pragma once

#include <vector>

#include "model/gpu/simulate.hpp"
#include "model/gpu/sm_group.hpp"
#include "model/hw/hw_config.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::fast {

/// All SMs are simulated of a launch of one wave with up to so many instructions, or of more waves so many
/// times fewer, and no iteration of it is left out. Which SM is given the last CTAs hangs on single cycles,
/// so that no sample tells, and the fewer waves there are, the more it moves the end.
inline constexpr double kWholeOfOneWave = 150e6;

/// Whether all CTAs of the launch execute about as many instructions.
bool has_like_ctas(const trace::Launch& launch);
/// Whether they also have about as many of them behind them wherever they are in their text: only then an SM
/// that others stand for is where they are. Each CTA of xformers' backward pass begins at its own queries,
/// goes on to the last and then from the first on.
bool has_like_paths(const trace::Launch& launch);

/// How often a warp goes through a loop that no other one holds, at most.
std::uint32_t most_turns(const trace::Launch& launch);

/// The first `sms` SMs in so many groups of nearly equal size, or in groups of one SM where that is fewer.
std::vector<gpu::SmGroup> group_sms(int sms, int groups);

/// Whether CTAs go through their text so few times that warps wait for code: in short causal launches of
/// PyTorch's FlashAttention-2 two and more of them per issue where it is once in the mean, 0.2 where it is
/// four times (experiments/reference/measured-h200/counters_drawn.md).
bool waits_for_code(const trace::Launch& launch);

/// The groups, two by two, with the SMs of a TPC as those that are simulated: these share code, and what runs
/// on them are CTAs that come one behind the other. SMs 2k and 2k + 1 are a TPC.
std::vector<gpu::SmGroup> simulated_in_tpcs(std::vector<gpu::SmGroup> groups);

/// For each launch the groups of the SMs that it gives work to. All SMs are simulated in detailed mode, where
/// the trace is short, and where a launch of few waves ends by chance. Otherwise two to five are.
std::vector<std::vector<gpu::SmGroup>> groups_of_launches(const hw::HwConfig& config,
                                                          const trace::Trace& trace,
                                                          const gpu::SimulationOptions& options);

}  // namespace warpscope::fast
