#include "model/gpu/simulate.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "model/engine/engine.hpp"
#include "model/fast/fast_policy.hpp"
#include "model/fast/group_policy.hpp"
#include "model/gpu/chip.hpp"
#include "model/gpu/launch_clock.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/gpu/lone_launch.hpp"
#include "model/gpu/power.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/memory_system.hpp"
#include "model/sim/simulation_context.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::gpu {
namespace {

std::vector<memory::TensorExtent> tensor_extents(const hw::HwConfig& config, const trace::Trace& trace) {
  std::vector<memory::TensorExtent> extents;
  for (const trace::Tensor& tensor : trace.tensors) {
    const bool local = tensor.kind == trace::TensorKind::local;
    extents.push_back({local ? std::int64_t{config.gpu.sm_count} * sm::kMaxCtas : tensor.segments,
                       tensor.segment_bytes, local ? 1 : tensor.interleaved_segments, tensor.line_segments,
                       tensor.row_bytes});
  }
  return extents;
}

/// Whether the L2 has the code of a launch when it begins.
bool has_code(const SimulationOptions& options) {
  return options.warm_l2 || options.memory;
}

/// On a cold L2 each line of code that runs comes from HBM, once.
std::uint64_t code_bytes(const trace::Launch& launch, const SimulationOptions& options) {
  return has_code(options) ? 0 : trace::executed_code_bytes(launch);
}

/// Runs the launches of `trace` one after another, all SMs of each. Where the L2 stays warm they share it.
std::vector<LaunchOutcome> run_detailed(Chip& chip, const hw::HwConfig& config, const trace::Trace& trace,
                                        const SimulationOptions& options) {
  const std::vector<memory::TensorExtent> extents = tensor_extents(config, trace);
  const std::unique_ptr<memory::Memory> memory =
      options.memory ? options.memory(config, extents)
                     : std::make_unique<memory::MemorySystem>(config, extents);
  engine::ThreadTeam team(options.threads);
  std::vector<LaunchOutcome> outcomes;
  for (const trace::Launch& launch : trace.launches) {
    chip.begin_launch(launch_clock_mhz(config, launch));
    memory->begin_launch(launch_clock_mhz(config, launch), options.warm_l2);
    engine::Engine engine(config, trace, launch, *memory, team,
                          {.code_in_l2 = has_code(options),
                           .window_divisor = options.window_divisor,
                           .reverse_sms = options.reverse_sms,
                           .observer = options.observer});
    chip.run(engine);
    LaunchCounts counts = engine.counts();
    counts.code_bytes = code_bytes(launch, options);
    counts.cycles += config.launch.boundary_cycles;
    chip.end_launch(counts.cycles);
    if (options.observer != nullptr) {
      options.observer->launch_ends(counts.cycles);
    }
    outcomes.push_back(
        {launch_result(config, trace, launch, counts), counts.instructions, counts.stepped, 0});
  }
  return outcomes;
}

/// The same with some SMs of each launch, which stand for the others.
std::vector<LaunchOutcome> run_fast(Chip& chip, const hw::HwConfig& config, const trace::Trace& trace,
                                    const SimulationOptions& options,
                                    const std::vector<std::vector<SmGroup>>& groups) {
  memory::MemorySystem memory(config, tensor_extents(config, trace));
  engine::ThreadTeam team(1);
  std::vector<LaunchOutcome> outcomes;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const trace::Launch& launch = trace.launches[i];
    chip.begin_launch(launch_clock_mhz(config, launch));
    memory.begin_launch(launch_clock_mhz(config, launch), options.warm_l2);
    fast::FastPolicy policy(config, trace, launch, memory, groups[i]);
    engine::Engine engine(config, trace, launch, memory, team, {.code_in_l2 = has_code(options)}, &policy);
    policy.attach(engine);
    chip.run(engine);
    LaunchCounts counts = policy.finish();
    counts.code_bytes = code_bytes(launch, options);
    counts.cycles += config.launch.boundary_cycles;
    chip.end_launch(counts.cycles);
    counts.instructions = counts.counters.issued();
    outcomes.push_back({launch_result(config, trace, launch, counts), counts.instructions, counts.stepped,
                        counts.cycles_deviation});
  }
  return outcomes;
}

/// Runs the launches of `trace` on one GPU, whose L2 they share.
std::vector<LaunchOutcome> run_launches(Chip& chip, const hw::HwConfig& config, const trace::Trace& trace,
                                        const SimulationOptions& options,
                                        const std::vector<std::vector<SmGroup>>& groups) {
  return options.mode == Mode::detailed ? run_detailed(chip, config, trace, options)
                                        : run_fast(chip, config, trace, options, groups);
}

/// A sample that leaves this part of the cycles open, as a standard deviation, is too small: one of so many
/// times the SMs is taken instead. More of them do not help against what the method itself leaves open
/// (extrapolation.cpp), so the rest of it is 0.0143.
constexpr double kTooOpen = 0.02377;
constexpr int kMoreGroups = 4;

/// The one launch of `trace`, on these SMs or, where they turn out to say too little, on more.
LaunchOutcome run_launch(Chip& chip, const hw::HwConfig& config, const trace::Trace& trace,
                         const SimulationOptions& options, const std::vector<SmGroup>& groups) {
  LaunchOutcome outcome = run_launches(chip, config, trace, options, {groups}).front();
  const bool too_open = outcome.cycles_deviation > kTooOpen * static_cast<double>(outcome.result.cycles);
  if (options.sm_groups > 0 || !too_open) {
    return outcome;
  }
  const std::uint64_t stepped = outcome.stepped;
  const int sms = groups.back().first_sm + groups.back().sms;
  outcome = run_launches(chip, config, trace, options,
                         {fast::group_sms(sms, kMoreGroups * static_cast<int>(groups.size()))})
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
std::vector<LaunchOutcome> run_apart(Chip& chip, const hw::HwConfig& config, const trace::Trace& trace,
                                     const SimulationOptions& options,
                                     const std::vector<std::vector<SmGroup>>& groups, LaunchMemo& memo) {
  const std::string hash = hw::content_hash(config);
  std::vector<LaunchOutcome> outcomes;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const trace::Launch& launch = trace.launches[i];
    const LoneLaunch lone = alone(trace, launch);
    LaunchCase key{hash, options.mode, groups[i], options.sm_groups > 0, without_names(lone.trace)};
    LaunchOutcome outcome;
    if (const LaunchOutcome* known =
            options.observer == nullptr && options.vcd_file.empty() ? memo.find(key) : nullptr) {
      outcome = *known;
      outcome.stepped = 0;
      chip.begin_launch(outcome.result.sm_clock_mhz);
      chip.end_launch(static_cast<sim::Cycles>(outcome.result.cycles));
    } else {
      outcome = run_launch(chip, config, lone.trace, options, groups[i]);
      memo.keep(std::move(key), outcome);
    }
    outcomes.push_back(in_trace(std::move(outcome), trace, launch, lone.tensors));
  }
  return outcomes;
}

void require_detailed(const SimulationOptions& options) {
  if (options.mode != Mode::detailed && options.observer != nullptr) {
    throw std::invalid_argument("only what detailed mode executes can be watched");
  }
  if (options.mode != Mode::detailed && !options.vcd_file.empty()) {
    throw std::invalid_argument("only what detailed mode executes can be traced to a VCD file");
  }
  if (options.mode != Mode::detailed && options.memory) {
    throw std::invalid_argument("only detailed mode runs on a memory that is not ours");
  }
  if (!options.vcd_file.empty() && !options.vcd_file.ends_with(".vcd")) {
    throw std::invalid_argument("'" + options.vcd_file + "': the name of a VCD file ends in .vcd");
  }
}

}  // namespace

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options) {
  LaunchMemo memo;
  return simulate(config, trace, options, memo);
}

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options, LaunchMemo& memo) {
  require_detailed(options);
  const std::vector<std::vector<SmGroup>> groups = fast::groups_of_launches(config, trace, options);
  const sim::SimulationContext context;
  sim::use_femtoseconds();
  Chip chip("gpu", config, options.vcd_file);
  // Somebody else's memory sees the tensors of all launches in one space of addresses.
  const bool together = options.warm_l2 || options.memory;
  metrics::SimulationResult result;
  for (LaunchOutcome& launch : together ? run_launches(chip, config, trace, options, groups)
                                        : run_apart(chip, config, trace, options, groups, memo)) {
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
  settle_clock(config, result);
  return result;
}

}  // namespace warpscope::gpu
