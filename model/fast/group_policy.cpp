#include "model/fast/group_policy.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "model/hw/tpc.hpp"
#include "model/sm/occupancy.hpp"
#include "model/trace/execution_count.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

/// Of a trace of up to this many instructions all SMs are simulated, however many waves its launches have.
constexpr double kShort = 25e6;
/// Where CTAs are unequal the end moves by the length of the longest ones, so fewer waves are many there: up
/// to so many instructions times waves. (H100, fa2_torch, 8 x 4 x 2105, d 256, causal, with an L2 of 20 MB,
/// is 15 % off where a sample stands for it.)
constexpr double kWholeTimesUnequalWaves = 350e6;
/// In so few waves, or turns at tiles, chance still counts.
constexpr double kFewWaves = 5;

/// SMs that are simulated in fast mode, unless all are: fewer meet in too few ways, more tell little. Four
/// instead of three were no nearer on 200 drawn points and executed a sixth more of the grid of 216; with few
/// waves, FlashAttention-1 needs five to stay within its ±.
constexpr int kGroupsOfFewWaves = 5;
constexpr int kGroups = 3;
/// Of several launches the errors average out. It does not depend on what the others are, so that traces
/// which share a launch simulate it alike.
constexpr int kGroupsOfOneOfMany = 2;

constexpr double kFewTimesThrough = 4;  ///< see waits_for_code()

/// CTAs whose instructions differ by less than this part count as alike.
constexpr double kAlike = 0.2;

/// Whether CTAs add to the same memory, or take turns at it by atomic operations: such launches are the main
/// ones of their traces, and what their SMs do to one another takes as many of them to see as in a launch
/// alone.
bool meets_in_memory(const trace::Launch& launch) {
  return std::ranges::any_of(launch.programs, [](const trace::WarpProgram& program) {
    return std::ranges::any_of(program.code, [](const trace::Instruction& instruction) {
      return trace::info(instruction.opcode).op_class == trace::OpClass::global_reduce ||
             instruction.opcode == trace::Opcode::ATOM_32;
    });
  });
}

/// What a launch costs, as far as the trace tells.
struct LaunchWork {
  int sms = 1;         ///< that get CTAs
  bool alike = true;   ///< CTAs differ little
  bool meets = false;  ///< its CTAs, in memory
  /// CTAs stay and take turns at tiles, each of which is what a CTA is elsewhere.
  bool takes_turns = false;
  double waves = 1;         ///< of CTAs, or their turns
  double instructions = 0;  ///< of the launch
};

LaunchWork work_of(const hw::HwConfig& config, const trace::Launch& launch) {
  LaunchWork work;
  const std::uint64_t ctas = trace::cta_count(launch);
  work.sms = static_cast<int>(std::min(static_cast<std::uint64_t>(config.gpu.sm_count), ctas));
  work.waves = static_cast<double>(ctas) / (sm::occupancy(config, launch).ctas_per_sm * config.gpu.sm_count);
  work.alike = has_like_ctas(launch);
  work.meets = meets_in_memory(launch);
  work.takes_turns = !launch.mbarriers.empty();
  work.waves *= work.takes_turns ? most_turns(launch) : 1;
  work.instructions = static_cast<double>(trace::total(trace::executed_instructions(launch)));
  return work;
}

/// Groups of a launch, be it the only one or one of `many`, of which one SM each is simulated. Where CTAs
/// take turns a group costs little, and whom it meets in the L2 tables say.
int sampled_groups(const LaunchWork& work, bool many) {
  if (many && !work.takes_turns) {
    return kGroupsOfOneOfMany;
  }
  return work.takes_turns || work.waves <= kFewWaves ? kGroupsOfFewWaves : kGroups;
}

/// Whether a launch is simulated whole.
bool is_small(const LaunchWork& work) {
  if (work.takes_turns) {
    return work.waves <= kFewWaves;
  }
  return work.instructions <= kWholeOfOneWave &&
         work.instructions * work.waves <= (work.alike ? kWholeOfOneWave : kWholeTimesUnequalWaves);
}

}  // namespace

bool has_like_ctas(const trace::Launch& launch) {
  const std::vector<std::uint64_t> work = trace::instructions_per_cta(launch);
  const auto [least, most] = std::ranges::minmax(work);
  return static_cast<double>(most - least) <= kAlike * static_cast<double>(most);
}

bool has_like_paths(const trace::Launch& launch) {
  struct Span {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most = 0;
  };
  std::map<std::uint16_t, std::vector<Span>> spans_of_program;
  for (const trace::CtaClass& cta_class : launch.classes) {
    const std::uint16_t program = cta_class.program_of_warp.front();
    const std::vector<trace::ExecutedStretch> stretches =
        trace::executed_stretches(launch.programs[program], cta_class);
    std::vector<Span>& spans = spans_of_program[program];
    spans.resize(stretches.size());
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      done += stretches[i].count * (stretches[i].end - stretches[i].begin);
      spans[i] = {std::min(spans[i].least, done), std::max(spans[i].most, done)};
    }
  }
  return std::ranges::all_of(spans_of_program, [](const auto& of_program) {
    const std::vector<Span>& spans = of_program.second;
    return std::ranges::all_of(spans, [&](const Span& span) {
      return static_cast<double>(span.most - span.least) <= kAlike * static_cast<double>(spans.back().most);
    });
  });
}

std::uint32_t most_turns(const trace::Launch& launch) {
  std::uint32_t most = 1;
  for (const trace::CtaClass& cta_class : launch.classes) {
    for (const std::uint16_t program : cta_class.program_of_warp) {
      std::uint32_t end = 0;
      for (const trace::Loop& loop : launch.programs[program].loops) {
        if (loop.begin >= end) {
          most = std::max(most, cta_class.trip_counts[loop.trip_slot]);
          end = loop.end;
        }
      }
    }
  }
  return most;
}

std::vector<gpu::SmGroup> group_sms(int sms, int groups) {
  groups = std::clamp(groups, 1, sms);
  std::vector<gpu::SmGroup> result;
  for (int g = 0; g < groups; ++g) {
    const int first = g * sms / groups;
    result.push_back({first, (g + 1) * sms / groups - first});
  }
  return result;
}

bool waits_for_code(const trace::Launch& launch) {
  std::size_t text = 0;
  std::size_t warps = 0;
  for (const trace::WarpProgram& program : launch.programs) {
    text = std::max(text, program.code.size());
  }
  for (const trace::CtaClass& cta_class : launch.classes) {
    warps = std::max(warps, cta_class.program_of_warp.size());
  }
  const auto instructions = static_cast<double>(trace::total(trace::executed_instructions(launch)));
  const auto all_warps = static_cast<double>(trace::cta_count(launch) * warps);
  return instructions < kFewTimesThrough * static_cast<double>(text) * all_warps;
}

std::vector<gpu::SmGroup> simulated_in_tpcs(std::vector<gpu::SmGroup> groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    int& sm = groups[i].first_sm;
    sm = i % hw::kSmsPerTpc == 0 ? sm - sm % hw::kSmsPerTpc : groups[i - 1].first_sm + 1;
  }
  return groups;
}

std::vector<std::vector<gpu::SmGroup>> groups_of_launches(const hw::HwConfig& config,
                                                          const trace::Trace& trace,
                                                          const gpu::SimulationOptions& options) {
  std::vector<LaunchWork> works;
  double instructions = 0;
  for (const trace::Launch& launch : trace.launches) {
    works.push_back(work_of(config, launch));
    instructions += works.back().instructions;
  }
  const auto groups_of = [&](const LaunchWork& work) {
    const bool many = trace.launches.size() > 1 && !work.meets;
    if (options.sm_groups > 0) {
      return options.sm_groups;
    }
    if (instructions <= kShort || is_small(work)) {
      return work.sms;
    }
    return sampled_groups(work, many);
  };
  std::vector<std::vector<gpu::SmGroup>> result;
  for (const LaunchWork& work : works) {
    const int groups = options.mode == gpu::Mode::detailed ? work.sms : groups_of(work);
    const bool whole = groups >= work.sms;
    result.push_back(whole ? group_sms(config.gpu.sm_count, config.gpu.sm_count)
                           : group_sms(work.sms, groups));
  }
  return result;
}

}  // namespace warpscope::fast
