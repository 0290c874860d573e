// SMs that do alike: one of them is simulated and stands for the others.
#pragma once

#include <vector>

#include "model/gpu/simulate.hpp"
#include "model/hw/hw_config.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// SMs [first_sm, first_sm + sms). The one that is simulated runs one CTA of each batch that the group is
/// given; the others are taken to keep step with it, each at the addresses of its own CTA.
struct SmGroup {
  int first_sm = 0;
  int sms = 1;
};

/// The first `sms` SMs in `groups` runs of nearly equal length, or in runs of one SM where that is fewer.
std::vector<SmGroup> group_sms(int sms, int groups);

/// For each launch the groups of the SMs that it gives work to. All SMs are simulated in detailed mode, where
/// the trace is short, and where those of a launch do so much alike that few histories cover them. Otherwise
/// as many as a budget of instructions allows, so that the error averages over about as much work whatever
/// the trace.
std::vector<std::vector<SmGroup>> groups_of_launches(const hw::HwConfig& config, const trace::Trace& trace,
                                                     const SimulationOptions& options);

}  // namespace warpscope::gpu
