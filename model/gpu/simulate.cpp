#include "model/gpu/simulate.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/gpu/gpu.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/gpu/lone_launch.hpp"
#include "model/hw/config_loader.hpp"
#include "model/sim/simulation_context.hpp"

namespace warpscope::gpu {
namespace {

/// Runs the launches of `trace` on one GPU, whose L2 they share.
std::vector<LaunchOutcome> run_launches(const hw::HwConfig& config, const trace::Trace& trace,
                                        const SimulationOptions& options,
                                        const std::vector<std::vector<SmGroup>>& groups) {
  sim::SimulationContext context;
  Gpu gpu("gpu", config, trace, options, groups);
  std::vector<LaunchOutcome> outcomes;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const LaunchCounts counts = gpu.run(i);
    outcomes.push_back({launch_result(config, trace, trace.launches[i], counts), counts.instructions,
                        counts.stepped, counts.cycles_deviation});
  }
  return outcomes;
}

/// A sample that leaves this part of the cycles open, as a standard deviation, is too small: one of so many
/// times the SMs is taken instead.
constexpr double kTooOpen = 0.02;
constexpr int kMoreGroups = 4;

/// The one launch of `trace`, on these SMs or, where they turn out to say too little, on more.
LaunchOutcome run_launch(const hw::HwConfig& config, const trace::Trace& trace,
                         const SimulationOptions& options, const std::vector<SmGroup>& groups) {
  LaunchOutcome outcome = run_launches(config, trace, options, {groups}).front();
  const bool too_open = outcome.cycles_deviation > kTooOpen * static_cast<double>(outcome.result.cycles);
  if (options.sm_groups > 0 || !too_open) {
    return outcome;
  }
  const std::uint64_t stepped = outcome.stepped;
  const int sms = groups.back().first_sm + groups.back().sms;
  outcome =
      run_launches(config, trace, options, {group_sms(sms, kMoreGroups * static_cast<int>(groups.size()))})
          .front();
  outcome.stepped += stepped;
  return outcome;
}

/// What came of a launch alone, as the launch of the trace that it comes from: no byte of tensors that it
/// does not name moved.
LaunchOutcome in_trace(LaunchOutcome outcome, const trace::Trace& trace, const trace::Launch& launch,
                       const std::vector<std::size_t>& tensors) {
  outcome.result.name = launch.name;
  const std::vector<metrics::TensorTraffic> named =
      std::exchange(outcome.result.traffic, std::vector<metrics::TensorTraffic>(trace.tensors.size()));
  for (std::size_t t = 0; t < named.size(); ++t) {
    outcome.result.traffic[tensors[t]] = named[t];
  }
  for (std::size_t t = 0; t < trace.tensors.size(); ++t) {
    outcome.result.traffic[t].tensor = trace.tensors[t].name;
  }
  return outcome;
}

/// Runs the launches of `trace` apart from one another, those that `memo` knows not at all.
std::vector<LaunchOutcome> run_apart(const hw::HwConfig& config, const trace::Trace& trace,
                                     const SimulationOptions& options,
                                     const std::vector<std::vector<SmGroup>>& groups, LaunchMemo& memo) {
  const std::string hash = hw::content_hash(config);
  std::vector<LaunchOutcome> outcomes;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const trace::Launch& launch = trace.launches[i];
    const LoneLaunch lone = alone(trace, launch);
    LaunchCase key{hash, options.mode, groups[i], without_names(lone.trace)};
    LaunchOutcome outcome;
    if (const LaunchOutcome* known = options.observer == nullptr ? memo.find(key) : nullptr) {
      outcome = *known;
      outcome.stepped = 0;
    } else {
      outcome = run_launch(config, lone.trace, options, groups[i]);
      memo.keep(std::move(key), outcome);
    }
    outcomes.push_back(in_trace(std::move(outcome), trace, launch, lone.tensors));
  }
  return outcomes;
}

}  // namespace

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options) {
  LaunchMemo memo;
  return simulate(config, trace, options, memo);
}

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options, LaunchMemo& memo) {
  if (options.observer != nullptr && options.mode != Mode::detailed) {
    throw std::invalid_argument("only what detailed mode executes can be watched");
  }
  const std::vector<std::vector<SmGroup>> groups = groups_of_launches(config, trace, options);
  metrics::SimulationResult result;
  for (LaunchOutcome& launch : options.warm_l2 ? run_launches(config, trace, options, groups)
                                               : run_apart(config, trace, options, groups, memo)) {
    result.cycles += launch.result.cycles;
    result.time_us += launch.result.time_us;
    result.warp_instructions_total += launch.instructions;
    result.warp_instructions_executed += launch.stepped;
    // What the method itself does to one launch it does to others, so deviations do not cancel.
    result.cycles_deviation += launch.cycles_deviation;
    result.launches.push_back(std::move(launch.result));
  }
  if (!trace.launches.empty()) {
    result.time_us += launch_gap_us(config) * static_cast<double>(trace.launches.size() - 1);
  }
  return result;
}

}  // namespace warpscope::gpu
