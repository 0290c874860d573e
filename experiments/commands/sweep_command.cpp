// `warpscope sweep`: every point of a CSV file.
#include <fmt/format.h>

#include <memory>

#include "experiments/base/usage_error.hpp"
#include "experiments/commands/command.hpp"
#include "experiments/commands/crew.hpp"
#include "experiments/commands/file_flag.hpp"
#include "experiments/commands/sweep_flags.hpp"
#include "experiments/commands/worker_flags.hpp"
#include "experiments/sweep/sweep.hpp"

namespace warpscope::experiments {
namespace {

struct Flags {
  SweepFlags sweep;
  std::string store;
  std::string shard;
  WorkerFlags workers;
  bool resume = false;
};

SweepOptions read_options(const Flags& flags) {
  SweepOptions options;
  options.points = flags.sweep.points;
  options.outputs = flags.sweep.outputs;
  options.store = flags.store;
  options.resume = flags.resume;
  options.defaults = flags.sweep.model.read();
  if (!flags.shard.empty()) {
    options.shard = read_shard(flags.shard);
    if (!options.outputs.json.empty()) {
      throw UsageError("--json does not go with --shard; give it to merge");
    }
  }
  return options;
}

Status sweep_command(const Flags& flags) {
  const SweepOptions options = read_options(flags);
  PointSimulator simulator;
  // Each shard is a sweep of its own, also where one launcher starts them all.
  return with_crew(flags.workers, options.shard.has_value(), simulator, [&](Workers& workers) {
    const SweepSummary summary = run_sweep(options, simulator, workers);
    return report_failures(
        summary, options.shard ? std::string("column model_error of the merged output will say why")
                               : fmt::format("column model_error of {} says why", options.outputs.csv));
  });
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("sweep", "Run every point of a CSV file and add the model's columns");
  const auto flags = std::make_shared<Flags>();
  flags->sweep.add_to(*verb);
  flags->workers.add_to(*verb);
  verb->add_flag("--resume", flags->resume, "go on with an interrupted sweep to the same output");
  add_file_flag(*verb, "--store", flags->store,
                "keep results in FILE and use those in it (default: OUTPUT.store, while the sweep runs)");
  verb->add_option("--shard", flags->shard,
                   "simulate share i of n into OUTPUT.i-of-n.store, for `warpscope merge`")
      ->type_name("i/n");
  verb->callback([flags, &action] { action = [flags] { return sweep_command(*flags); }; });
}

}  // namespace warpscope::experiments
