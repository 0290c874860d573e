#include "model/gpu/sm_group.hpp"

#include <algorithm>

#include "model/sm/occupancy.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::gpu {
namespace {

/// A trace of up to this many instructions is simulated whole.
constexpr double kWhole = 12e6;
/// Instructions that fast mode may step otherwise, about.
constexpr double kBudget = 2e6;
/// Of a launch with many waves, about this many are executed (wave_skipper.hpp).
constexpr double kExecutedWaves = 6;

/// In a launch of so many waves CTAs of unequal length meet on every SM in all the ways in which they can.
constexpr double kMixedWaves = 32;

/// CTAs whose instructions differ by less than this part count as alike.
constexpr double kAlike = 0.2;

double waves(const hw::HwConfig& config, const trace::Launch& launch) {
  const double slots = sm::occupancy(config, launch).ctas_per_sm;
  return static_cast<double>(trace::cta_count(launch)) / (slots * config.gpu.sm_count);
}

bool has_like_ctas(const trace::Launch& launch) {
  const std::vector<std::uint64_t> work = trace::instructions_per_cta(launch);
  const auto [least, most] = std::ranges::minmax(work);
  return static_cast<double>(most - least) <= kAlike * static_cast<double>(most);
}

/// Instructions that one SM executes.
double work_per_sm(const hw::HwConfig& config, const trace::Launch& launch) {
  const double total = static_cast<double>(trace::total(trace::executed_instructions(launch)));
  return total / config.gpu.sm_count * std::min(1.0, kExecutedWaves / waves(config, launch));
}

}  // namespace

std::vector<SmGroup> group_sms(int sm_count, int groups) {
  groups = std::clamp(groups, 1, sm_count);
  std::vector<SmGroup> result;
  for (int g = 0; g < groups; ++g) {
    const int first = g * sm_count / groups;
    result.push_back({first, (g + 1) * sm_count / groups - first});
  }
  return result;
}

int simulated_sms(const hw::HwConfig& config, const trace::Trace& trace, const SimulationOptions& options) {
  if (options.mode == Mode::detailed) {
    return config.gpu.sm_count;
  }
  if (options.sm_groups > 0) {
    return options.sm_groups;
  }
  double work = 1;
  bool alike = true;
  for (const trace::Launch& launch : trace.launches) {
    work += work_per_sm(config, launch);
    alike = alike && (has_like_ctas(launch) || waves(config, launch) > kMixedWaves);
  }
  if (work * config.gpu.sm_count <= kWhole) {
    return config.gpu.sm_count;
  }
  // CTAs of unequal length share an SM in many ways; one SM would show too few of them.
  const double least = alike ? 1 : 2;
  return static_cast<int>(std::clamp(kBudget / work, least, static_cast<double>(config.gpu.sm_count)));
}

}  // namespace warpscope::gpu
