#include "model/gpu/sm_group.hpp"

#include <algorithm>

#include "model/sm/occupancy.hpp"
#include "model/sm/sm_state.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::gpu {
namespace {

/// A trace of up to this many instructions is simulated whole. Some of them recur and are not stepped.
constexpr double kWhole = 12e6;
/// Likewise where all of them are expected to be stepped.
constexpr double kWholeStepped = 6e6;
/// Likewise for launches of up to kFewWaves of CTAs of unequal length: which SM is given the last long one
/// hangs on single cycles and moves the end by up to a sixth, so that no sample tells.
constexpr double kWholeUnequal = 100e6;
constexpr double kFewWaves = 2;
/// Instructions that fast mode may step otherwise, about.
constexpr double kBudget = 3.7e6;
/// Likewise of each launch where a trace has several: their errors average out. It does not depend on what
/// the others are, so that traces which share a launch simulate it alike.
constexpr double kBudgetOfOneOfMany = 0.4e6;
/// Of a launch with many waves, about this many are executed (wave_skipper.hpp): more where CTAs are unequal,
/// as waves are then left out in several pieces.
constexpr double kExecutedWaves = 6;
constexpr double kExecutedUnequalWaves = 10;
/// More SMs than this are not simulated in fast mode, unless all are: further ones tell little.
constexpr double kMostGroups = 12;

/// In a launch of so many waves CTAs of unequal length meet on every SM in all the ways in which they can.
constexpr double kMixedWaves = 32;

/// CTAs whose instructions differ by less than this part count as alike.
constexpr double kAlike = 0.2;

bool has_like_ctas(const trace::Launch& launch) {
  const std::vector<std::uint64_t> work = trace::instructions_per_cta(launch);
  const auto [least, most] = std::ranges::minmax(work);
  return static_cast<double>(most - least) <= kAlike * static_cast<double>(most);
}

/// What a launch costs, as far as the trace tells.
struct LaunchWork {
  int sms = 1;              ///< that get CTAs
  bool alike = true;        ///< CTAs differ little
  double waves = 1;         ///< of CTAs
  double instructions = 0;  ///< executed by all SMs
  double distinct = 1;      ///< part of them that has to be stepped if all SMs are simulated
};

LaunchWork work_of(const hw::HwConfig& config, const trace::Launch& launch) {
  LaunchWork work;
  const std::uint64_t ctas = trace::cta_count(launch);
  work.sms = static_cast<int>(std::min(static_cast<std::uint64_t>(config.gpu.sm_count), ctas));
  work.alike = has_like_ctas(launch);
  work.waves = static_cast<double>(ctas) / (sm::occupancy(config, launch).ctas_per_sm * config.gpu.sm_count);
  work.instructions = static_cast<double>(trace::total(trace::executed_instructions(launch))) *
                      std::min(1.0, (work.alike ? kExecutedWaves : kExecutedUnequalWaves) / work.waves);
  if (work.alike && work.waves <= 1) {
    // All start within a few cycles. What then differs is where that lies in the grid of arrivals.
    work.distinct = std::min(1.0, static_cast<double>(sm::kArrivalGrid) / work.sms);
  }
  return work;
}

/// Groups of which one SM each is simulated.
int sampled_groups(const LaunchWork& work, double budget) {
  // CTAs of unequal length share an SM in many ways; one SM would show too few of them.
  const double least = work.alike || work.waves > kMixedWaves ? 1 : 2;
  const int groups =
      static_cast<int>(std::clamp(budget * work.sms / (work.instructions + 1), least, kMostGroups));
  // Grids are full of powers of two: among an even number of interleaved groups, CTAs that share data would
  // fall into one.
  return work.alike ? groups - (groups + 1) % 2 : groups;
}

}  // namespace

std::vector<SmGroup> group_sms(int sms, int groups, bool interleaved) {
  groups = std::clamp(groups, 1, sms);
  std::vector<SmGroup> result;
  for (int g = 0; g < groups; ++g) {
    const int first = g * sms / groups;
    result.push_back(interleaved ? SmGroup{g, (sms - g + groups - 1) / groups, groups}
                                 : SmGroup{first, (g + 1) * sms / groups - first, 1});
  }
  return result;
}

std::vector<std::vector<SmGroup>> groups_of_launches(const hw::HwConfig& config, const trace::Trace& trace,
                                                     const SimulationOptions& options) {
  std::vector<LaunchWork> works;
  double total = 0;
  for (const trace::Launch& launch : trace.launches) {
    works.push_back(work_of(config, launch));
    total += works.back().instructions;
  }
  const auto is_whole = [&](const LaunchWork& work) {
    if (options.mode == Mode::detailed || options.sm_groups > 0) {
      return options.mode == Mode::detailed;
    }
    const bool unequal = !work.alike && work.waves <= kFewWaves;
    return total <= (unequal ? kWholeUnequal : kWhole) || total * work.distinct <= kWholeStepped;
  };
  const double budget = trace.launches.size() > 1 ? kBudgetOfOneOfMany : kBudget;
  std::vector<std::vector<SmGroup>> result;
  for (const LaunchWork& work : works) {
    const int sms = options.mode == Mode::detailed ? config.gpu.sm_count : work.sms;
    const int sampled = options.sm_groups > 0 ? options.sm_groups : sampled_groups(work, budget);
    result.push_back(group_sms(sms, is_whole(work) ? sms : sampled, work.alike));
  }
  return result;
}

}  // namespace warpscope::gpu
