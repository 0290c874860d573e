// Simulations of small traces: in both modes what was executed is what the text says. A first line like
//   # --gpu a100-sxm4-80gb --l2 warm --set sm.xu.lanes=32
// says on what; without, it is small.toml. So `warpscope run` with these flags and --trace repeats a finding.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "experiments/base/usage_error.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "model/gpu/deadlock.hpp"
#include "model/gpu/simulate.hpp"
#include "model/trace/execution_count.hpp"
#include "model/trace/statistics.hpp"
#include "model/trace/text_reader.hpp"
#include "tests/fuzz/stock_gpu.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/words.hpp"

namespace warpscope::fuzz {
namespace {

// What takes a small part of a second: many small simulations find more than a few large ones.
constexpr std::uint64_t kMostInstructions = 10'000;
constexpr std::uint64_t kMostCtas = 1'024;

experiments::ModelChoice read_model(std::string_view input) {
  CLI::App app;
  experiments::ModelFlags flags;
  flags.add_to(app);
  std::vector<std::string> words;
  if (input.starts_with("# --")) {
    words = pieces(input.substr(2, input.find('\n') - 2), ' ');
    std::ranges::reverse(words);  // as CLI11 wants them
  }
  app.parse(words);
  experiments::ModelChoice model = flags.read();
  model.gpu = model.gpu.empty() ? kSmallGpu : model.gpu;
  return model;
}

bool is_small(const trace::Trace& trace) {
  std::uint64_t ctas = 0;
  for (const trace::Launch& launch : trace.launches) {
    ctas = trace::checked_add(ctas, trace::cta_count(launch));
  }
  return ctas <= kMostCtas && trace::total(trace::executed_instructions(trace)) <= kMostInstructions;
}

void check(const trace::Trace& trace, const metrics::SimulationResult& result) {
  const auto same = [](std::uint64_t counted, std::uint64_t said, const std::string& what) {
    require(counted == said, what + ": " + std::to_string(counted) + ", not " + std::to_string(said));
  };
  same(result.warp_instructions_total, trace::total(trace::executed_instructions(trace)), "instructions");
  same(result.launches.size(), trace.launches.size(), "launches");
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const metrics::LaunchResult& launch = result.launches[i];
    require(launch.cycles > 0, "a launch without cycles");
    same(launch.stall_warp_cycles[static_cast<std::size_t>(metrics::Stall::selected)],
         trace::total(trace::executed_instructions(trace.launches[i])), "issues");
    for (const metrics::TensorTraffic& traffic : launch.traffic) {
      require(traffic.l2_read_hit_bytes <= traffic.l2_read_bytes, "more hits than reads");
    }
  }
}

/// Simulates, or returns false where the model refuses the launch or it cannot end.
bool run(const hw::HwConfig& config, const trace::Trace& trace, gpu::SimulationOptions options) {
  try {
    check(trace, gpu::simulate(config, trace, options));
    return true;
  } catch (const std::invalid_argument& error) {
    require_one_line(error.what());
  } catch (const gpu::DeadlockError& error) {
    require(*error.what() != '\0', "a deadlock without a word");
  }
  return false;
}

bool run_both(const experiments::ModelChoice& model, const trace::Trace& trace) {
  const hw::HwConfig config = stock_gpu(model.gpu, model.overrides);
  const bool warm = model.options.warm_l2;
  const bool detailed = run(config, trace, {gpu::Mode::detailed, warm});
  require(run(config, trace, {gpu::Mode::fast, warm}) == detailed, "one mode refuses what the other runs");
  return detailed;
}

}  // namespace

bool simulate(std::string_view input) {
  try {
    const experiments::ModelChoice model = read_model(input);
    std::istringstream stream{std::string(input)};
    const trace::Trace trace = trace::read_text(stream, "fuzz");
    return is_small(trace) && run_both(model, trace);
  } catch (const CLI::ParseError&) {
    return false;
  } catch (const experiments::UsageError&) {
    return false;
  } catch (const hw::ConfigError&) {
    return false;
  } catch (const std::invalid_argument& error) {  // a trace that is none, or that counts beyond 64 bits
    require_one_line(error.what());
    return false;
  }
}

}  // namespace warpscope::fuzz
