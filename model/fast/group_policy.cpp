#include "model/fast/group_policy.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "model/sm/occupancy.hpp"
#include "model/trace/execution_count.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::fast {
namespace {

/// Of a trace of up to this many instructions all SMs are simulated. (Of a launch of up to kWholeOfOneWave
/// they are too; of more waves so many times fewer.)
constexpr double kWhole = 30e6;
/// Where CTAs are unequal it moves by the length of the longest ones, so fewer waves are many there.
constexpr double kWholeTimesUnequalWaves = 350e6;
/// In so few waves that chance still counts.
constexpr double kFewWaves = 5;
/// Likewise each launch of few waves where a trace has several.
constexpr double kWholeOfMany = 25e6;

/// Instructions that fast mode may step otherwise, about.
constexpr double kBudget = 2.8e6;
constexpr double kBudgetUnequal = 2.2e6;
/// Likewise of each launch where a trace has several: their errors average out. It does not depend on what
/// the others are, so that traces which share a launch simulate it alike.
constexpr double kBudgetOfOneOfMany = 0.3e6;
/// Of a launch with many waves, about this many are executed (wave_skipper.hpp): more where CTAs are unequal,
/// as waves are then left out in several pieces.
constexpr double kExecutedWaves = 6;
constexpr double kExecutedUnequalWaves = 10;
/// Of an SM whose CTAs go through one loop, about this many instructions are stepped at most: its iterations
/// recur soon, and the others are left out (coaster.hpp).
constexpr double kExecutedLoops = 1.2e6;

/// An SM with like CTAs that executes more than this costs as much as several others, though most iterations
/// are left out: so few have to do. One alone asks in bursts, and is 5 % off.
constexpr double kLongest = 10e6;
constexpr double kFewestLongGroups = 3;

/// SMs that are simulated in fast mode, unless all are: fewer meet in too few ways, more tell little.
constexpr double kFewestGroups = 4;
constexpr double kFewestUnequalGroups = 3;
constexpr double kMostGroups = 7;
/// Where inner loops are passed so often in a long launch, the mean over time takes the place of more SMs.
constexpr std::uint64_t kManyPasses = 4;

/// CTAs whose instructions differ by less than this part count as alike.
constexpr double kAlike = 0.2;

/// How often a warp goes through inner loops, at most.
std::uint64_t most_passes(const trace::Launch& launch) {
  std::uint64_t most = 0;
  for (const trace::CtaClass& cta_class : launch.classes) {
    for (const std::uint16_t program : cta_class.program_of_warp) {
      most = std::max(most, trace::innermost_loop_entries(launch.programs[program], cta_class));
    }
  }
  return most;
}

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
  int sms = 1;          ///< that get CTAs
  bool alike = true;    ///< CTAs differ little
  bool passes = false;  ///< of like CTAs through inner loops, many of them
  bool meets = false;   ///< its CTAs, in memory
  /// CTAs stay and take turns at tiles, each of which is what a CTA is elsewhere.
  bool takes_turns = false;
  double waves = 1;         ///< of CTAs, or their turns
  double instructions = 0;  ///< of the launch
  double executed = 0;      ///< part of them in the waves that are executed
};

LaunchWork work_of(const hw::HwConfig& config, const trace::Launch& launch) {
  LaunchWork work;
  const std::uint64_t ctas = trace::cta_count(launch);
  work.sms = static_cast<int>(std::min(static_cast<std::uint64_t>(config.gpu.sm_count), ctas));
  work.alike = has_like_ctas(launch);
  work.waves = static_cast<double>(ctas) / (sm::occupancy(config, launch).ctas_per_sm * config.gpu.sm_count);
  work.passes = work.alike && most_passes(launch) >= kManyPasses;
  work.meets = meets_in_memory(launch);
  work.takes_turns = !launch.mbarriers.empty();
  work.waves *= work.takes_turns ? most_turns(launch) : 1;
  work.instructions = static_cast<double>(trace::total(trace::executed_instructions(launch)));
  work.executed =
      work.instructions * std::min(1.0, (work.alike ? kExecutedWaves : kExecutedUnequalWaves) / work.waves);
  return work;
}

/// Groups of a launch of which one SM each is simulated.
double sampled_groups(const LaunchWork& work) {
  const double of_sm = work.executed / work.sms;
  if (work.meets && of_sm > kLongest) {
    return kFewestLongGroups;
  }
  if (work.passes) {
    return std::clamp(kBudget / of_sm, kFewestGroups, kMostGroups);
  }
  const double stepped = work.alike ? std::min(of_sm, kExecutedLoops) : of_sm;
  const double fewest = work.waves <= kFewWaves          ? kMostGroups
                        : work.alike && of_sm > kLongest ? kFewestLongGroups
                        : work.alike                     ? kFewestGroups
                                                         : kFewestUnequalGroups;
  return std::clamp((work.alike ? kBudget : kBudgetUnequal) / stepped, fewest, kMostGroups);
}

/// Likewise of one launch of several. Where CTAs take turns a group costs little, and whom it meets in the L2
/// tables say.
double sampled_groups_of_many(const LaunchWork& work) {
  if (work.takes_turns) {
    return kMostGroups;
  }
  return std::clamp(kBudgetOfOneOfMany * work.sms / work.executed, 1.0, kMostGroups);
}

/// Whether a launch is simulated whole, be it the only one or one of `many`.
bool is_small(const LaunchWork& work, bool many) {
  if (work.takes_turns) {
    return work.waves <= kFewWaves;
  }
  if (many) {
    return work.waves <= kFewWaves && work.instructions <= kWholeOfMany;
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
    if (instructions <= kWhole || is_small(work, many)) {
      return work.sms;
    }
    return static_cast<int>(many ? sampled_groups_of_many(work) : sampled_groups(work));
  };
  std::vector<std::vector<gpu::SmGroup>> result;
  for (const LaunchWork& work : works) {
    const int groups = options.mode == gpu::Mode::detailed ? work.sms : groups_of(work);
    const bool whole = groups == work.sms;
    result.push_back(whole ? group_sms(config.gpu.sm_count, config.gpu.sm_count)
                           : group_sms(work.sms, groups));
  }
  return result;
}

}  // namespace warpscope::fast
